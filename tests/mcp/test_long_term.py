"""The toolset `long_term` as an assistant calls it: a real process, the official client, both wire eras."""

import json
from typing import Any

import anyio
import pytest
from mcp import Client

from memory_server.cli.main import main
from tests.conftest import Servers, Sqlite, as_rows, call, damage
from tests.mcp.conftest import erased, in_30_days, refusal, traces

pytestmark = pytest.mark.anyio

SAID = [
    {"role": "user", "content": "下周是我妈妈的生日"},
    {"role": "assistant", "content": "How old will she be?"},
]
BIRTHDAY = "match_keys(context.messages, ['birthday', '生日'], 'any')"
SCRIPT = "messages.reduce((n, m) => n + (m.role === 'assistant'), 0) === 1"


@pytest.fixture
def here(project: str) -> dict[str, str]:
    """A conversation of the test's own."""
    return {"conversation_id": project}


async def add(client: Client, here: dict[str, str], name: str, trigger: Any, **more: Any) -> dict[str, Any]:
    return await call(
        client, "add_long_term_memory", name=name, prompt=f"About {name}.", trigger=trigger, **here, **more
    )


async def test_a_memory_wakes_when_its_trigger_holds_and_says_why(
    client: Client, here: dict[str, str]
) -> None:
    assert await add(client, here, "生日", BIRTHDAY) == {"name": "生日", "dry_run": True, "warnings": []}
    await add(client, here, "script", SCRIPT)
    await add(client, here, "asleep", "match_keys(messages, ['submarine'])")
    found = await call(client, "search_long_term_memories", messages=SAID, **here)
    activated = {memory["name"]: memory for memory in found["activated"]}
    assert set(activated) == {"生日", "script"}
    assert activated["生日"]["prompt"] == "About 生日."
    assert "'生日' in user message: 下周是我妈妈的生日" in activated["生日"]["why"]
    assert found["random"] == [{"name": "asleep", "prompt": "About asleep."}]
    assert (found["errors"], found["skipped"]) == ([], [])


async def test_the_default_conversation_needs_no_id(client: Client) -> None:
    name = f"of nobody {client.protocol_version}"
    await call(client, "add_long_term_memory", name=name, prompt="p", trigger="true || messages.length")
    found = await call(client, "search_long_term_memories", messages=[])
    assert name in [memory["name"] for memory in found["activated"]]
    assert (await call(client, "get_memory_context", name=name))["prompt"] == "p"
    assert (await call(client, "delete_long_term_memory", name=name))["deleted"] is True


async def test_a_condition_in_json_is_refused_with_its_javascript(
    client: Client, here: dict[str, str]
) -> None:
    for trigger in ({"match_keys": ["生日"]}, '{"match_keys": ["生日"]}'):
        told = await refusal(client, "add_long_term_memory", name="x", prompt="p", trigger=trigger, **here)
        assert "not JSON: match_keys(messages, [" in told


async def test_the_dry_run_is_on_the_messages_that_are_given(client: Client, here: dict[str, str]) -> None:
    assert (await add(client, here, "a", BIRTHDAY, recentMessages=SAID))["dry_run"] is True
    other = [{"role": "user", "content": "zzz"}]
    assert (await add(client, here, "b", BIRTHDAY, recentMessages=other))["dry_run"] is False
    updated = await call(
        client, "update_long_term_memory", name="b", trigger=SCRIPT, recentMessages=SAID, **here
    )
    assert updated["dry_run"] is True


async def test_an_empty_conversation_tells_where_memories_are(client: Client, here: dict[str, str]) -> None:
    await add(client, here, "a", "true")
    found = await call(client, "search_long_term_memories", messages=SAID, conversation_id="nowhere")
    assert (found["activated"], found["random"]) == ([], [])
    assert f"`{here['conversation_id']}` (1)" in found["note"] or "`test" in found["note"]
    assert "note" not in await call(client, "search_long_term_memories", messages=SAID, **here)


async def test_contexts_are_kept_from_words_and_from_messages(client: Client, here: dict[str, str]) -> None:
    await add(client, here, "Mum", "true", createdContext="We planned a party.")
    await add(client, here, "Dad", "true", recentMessages=SAID)
    context = await call(client, "get_memory_context", name="Mum", **here)
    assert context["created_context"] == "We planned a party."
    assert "updated_context" not in context
    context = await call(client, "get_memory_context", name="Dad", **here)
    assert context["created_context"] == "user: 下周是我妈妈的生日\nassistant: How old will she be?"
    updated = await call(client, "update_long_term_memory", name="Dad", updatedContext="He called.", **here)
    assert updated == {"name": "Dad", "warnings": []}
    context = await call(client, "get_memory_context", name="Dad", **here)
    assert context["updated_context"] == "He called."
    assert context["created_context"].startswith("user: ")


async def test_a_name_is_taken_until_it_is_deleted(client: Client, here: dict[str, str]) -> None:
    await add(client, here, "Mum", "true")
    message = await refusal(client, "add_long_term_memory", name="Mum", prompt="p", trigger="true", **here)
    assert "`Mum`" in message
    assert "update_long_term_memory" in message
    updated = await call(client, "update_long_term_memory", name="Mum", trigger=SCRIPT, prompt="new", **here)
    assert updated["name"] == "Mum"
    assert isinstance(updated["dry_run"], bool)
    deleted = await call(client, "delete_long_term_memory", name="Mum", **here)
    assert deleted == {"deleted": True, "undo_until": in_30_days(deleted)}
    assert "`Mum`" in await refusal(client, "delete_long_term_memory", name="Mum", **here)
    await add(client, here, "Mum", "true")


@pytest.mark.parametrize(
    ("trigger", "told"),
    [
        ("match_keys(messages, ['a'", "line 1, column"),
        ("\n\nconst x = ;", "line 3, column"),
        ("nobody()", "nobody"),
        ("Promise.resolve(true)", "promise"),
        ("async () => true", "promise"),
        ("Symbol('x')", "symbol"),
        ("while (true) {}", "too long"),
        ("const all = messages.filter(m => similar(m, 'y')); all.length", "must be a list of messages"),
        ('{"and": [', "JSON"),
        ("   ", "visible"),
        ("x" * 16_385, "16384"),
    ],
)
async def test_a_trigger_that_is_wrong_is_refused_with_the_reason(
    client: Client, here: dict[str, str], trigger: str, told: str
) -> None:
    assert told in await refusal(
        client, "add_long_term_memory", name="wrong", prompt="p", trigger=trigger, **here
    )
    assert told in await refusal(client, "test_trigger", trigger=trigger)
    assert (await call(client, "list_long_term_memories", **here))["memories"] == []


@pytest.mark.parametrize(
    ("trigger", "warned"),
    [
        ("true", "always"),
        ("match_keys(messages, ['a']) >= 0", "always"),
        ("match_keys(messages, ['a']) > 4", "never"),
    ],
)
async def test_what_always_or_never_holds_is_kept_with_a_warning(
    client: Client, here: dict[str, str], trigger: str, warned: str
) -> None:
    warnings = (await add(client, here, "odd", trigger))["warnings"]
    assert warnings[0].startswith(f"It is {warned} true")


async def test_test_trigger_tells_value_reason_and_time(client: Client) -> None:
    simple = await call(client, "test_trigger", trigger=BIRTHDAY, messages=SAID)
    assert (simple["value"], simple["warnings"]) == (True, [])
    assert "生日" in simple["why"]
    assert simple["milliseconds"] >= 0
    script = await call(client, "test_trigger", trigger=SCRIPT, messages=SAID)
    assert script["value"] is True
    absent = await call(client, "test_trigger", trigger="match_keys(messages, ['tea'])", messages=SAID)
    assert (absent["value"], absent["why"]) == (False, "not found: 'tea'")
    dated = await call(client, "test_trigger", trigger="new Date().getMonth() === 6", at="2026-07-17")
    assert (dated["value"], dated["why"]) == (True, "the month is July (no messages given)")
    for at in ("someday", "0001-01-01", "9999-12-31T23:59:59-12:00"):
        assert "at: is not a date or time: write 2026-03-14, 2026-03-14T09:26:53Z" in await refusal(
            client, "test_trigger", trigger="true", at=at
        )


async def test_meaning_wakes_a_memory(client: Client, here: dict[str, str]) -> None:
    trigger = "similar(messages, 'I am lost and do not know what to do')"
    await add(client, here, "lost", trigger)
    lost = [{"role": "user", "content": "I am lost, I do not know what I shall do"}]
    found = await call(client, "search_long_term_memories", messages=lost, **here)
    assert [memory["name"] for memory in found["activated"]] == ["lost"]
    calm = [{"role": "user", "content": "The release goes out on Tuesday."}]
    found = await call(client, "search_long_term_memories", messages=calm, **here)
    assert found["activated"] == []


async def test_one_trigger_that_fails_leaves_the_others_alone(client: Client, here: dict[str, str]) -> None:
    await add(client, here, "good", BIRTHDAY)
    await add(client, here, "script", SCRIPT)
    await add(client, here, "fails", "messages[3].content.length > 0")
    found = await call(client, "search_long_term_memories", messages=SAID, **here)
    assert {memory["name"] for memory in found["activated"]} == {"good", "script"}
    ((name, reason),) = [(error["name"], error["reason"]) for error in found["errors"]]
    assert name == "fails"
    assert "TypeError" in reason
    first = (await call(client, "list_long_term_memories", **here))["memories"][0]
    assert first["name"] == "fails"
    assert first["state"].startswith("failing: ")


async def test_participants_and_conversation_are_in_sight(client: Client, here: dict[str, str]) -> None:
    await add(client, here, "Ann", "context.participants.user === 'Ann'")
    name = here["conversation_id"]
    await add(client, here, "here", f"conversation_id === {json.dumps(name)}")
    found = await call(client, "search_long_term_memories", messages=[], participants={"user": "Ann"}, **here)
    assert {memory["name"] for memory in found["activated"]} == {"Ann", "here"}
    found = await call(client, "search_long_term_memories", messages=[], **here)
    assert [memory["name"] for memory in found["activated"]] == ["here"]


async def test_participants_may_not_be_so_many_that_triggers_run_out_of_memory(client: Client) -> None:
    most = {"user": "x" * 49_988}
    await call(client, "search_long_term_memories", messages=[], participants=most)
    refused = await refusal(
        client, "search_long_term_memories", messages=[], participants={"user": "x" * 49_989}
    )
    assert "50,000 characters" in refused


async def test_bad_arguments_are_named(client: Client, here: dict[str, str]) -> None:
    message = await refusal(client, "add_long_term_memory", name="n", prompt="p", triger="true", **here)
    assert "Did you mean `trigger`?" in message
    long = {"name": "n" * 201, "prompt": "p" * 5001, "trigger": "true"}
    message = await refusal(client, "add_long_term_memory", **long, **here)
    assert "name:" in message
    assert "prompt:" in message
    message = await refusal(client, "search_long_term_memories", messages=[{"role": "user", "name": "x"}])
    assert "messages.0.content: missing" in message
    message = await refusal(client, "update_long_term_memory", name="n", **here)
    assert "Nothing to change" in message


async def test_a_purged_memory_leaves_no_trace_in_the_file(server: Servers) -> None:
    async with server() as client:
        await add(
            client, {}, "secret", "match_keys(messages, ['quokkatrigger'])", createdContext="quokkacontext"
        )
        await call(client, "update_long_term_memory", name="secret", prompt="quokkaprompt")
        await call(client, "delete_long_term_memory", name="secret")
        assert traces(server, "quokka")
        await call(client, "delete_long_term_memory", name="secret", purge=True)
        await erased(server, "quokka")


async def test_a_person_edits_long_term_memories_in_the_live_file(server: Servers, sqlite: Sqlite) -> None:
    async with server() as client:
        await add(client, {}, "kept", "match_keys(messages, ['submarine'])")
        sqlite(
            server.db,
            "UPDATE long_term_memories SET failures = 3, error = 'slow', "
            "quarantined_until = '2999-01-01T00:00:00.000Z'",
        )
        (row,) = as_rows(sqlite(server.db, ".mode json", "SELECT * FROM readable_long_term_memories"))
        assert row["state"] == "quarantined until 2999-01-01 00:00"
        found = await call(client, "search_long_term_memories", messages=SAID)
        assert found["skipped"][0]["name"] == "kept"
        sqlite(server.db, "UPDATE long_term_memories SET \"trigger\" = 'match_keys(messages, [''生日''])'")
        (row,) = as_rows(sqlite(server.db, ".mode json", "SELECT * FROM readable_long_term_memories"))
        assert row["state"] == "ready"
        sqlite(
            server.db,
            'INSERT INTO long_term_memories (conversation_id, name, prompt, "trigger") '
            "VALUES (1, 'by hand', 'p', 'syntax error here')",
        )
        found = await call(client, "search_long_term_memories", messages=SAID)
        assert [memory["name"] for memory in found["activated"]] == ["kept"]
        assert [error["name"] for error in found["errors"]] == ["by hand"]
        sqlite(server.db, "INSERT OR REPLACE INTO conversations (name) VALUES ('default')")
        found = await call(client, "search_long_term_memories", messages=SAID)
        assert [memory["name"] for memory in found["activated"]] == ["kept"]
        refused = sqlite(
            server.db,
            'INSERT INTO long_term_memories (conversation_id, name, prompt, "trigger") '
            "VALUES (99, 'n', 'p', 'true')",
            fails=True,
        )
        assert "conversation_id must be the id of a conversation" in refused
        sqlite(server.db, "DELETE FROM conversations")
        assert sqlite(server.db, "SELECT count(*) FROM long_term_memories").strip() == "0"


@pytest.mark.parametrize(
    ("edit", "failing"),
    [
        ("failures = 9223372036854775807, fired_count = 9223372036854775807", "while (true);"),
        ("quarantined_until = 'soon', error = NULL", "while (true);"),
        ("quarantined_until = '', error = '', fired_at = 'yesterday', updated_at = ''", "nobody();"),
        ("error = printf('%.*c', 100000, 'x'), prompt = char(10, 27)", "nobody();"),
        ("name = char(39, 34, 10, 8238)", "nobody();"),
        ("created_at = '', created_by = '', session = ''", "nobody();"),
    ],
)
async def test_what_a_person_writes_into_any_column_breaks_no_search(
    server: Servers, sqlite: Sqlite, edit: str, failing: str
) -> None:
    async with server() as client:
        await add(client, {}, "fires", "true")
        sqlite(
            server.db,
            'INSERT INTO long_term_memories (conversation_id, name, prompt, "trigger") '
            f"VALUES (1, 'late', 'p', '{failing}')",
            f"UPDATE long_term_memories SET {edit} WHERE name = 'fires'",
            f"UPDATE long_term_memories SET {edit} WHERE name = 'late'" if "name" not in edit else "SELECT 1",
        )
        for _ in range(2):
            await call(client, "search_long_term_memories", messages=SAID)
        await call(client, "list_long_term_memories")
    assert damage(server.db) == []


async def test_a_file_of_undecodable_text_is_told_by_the_doctor(
    server: Servers, sqlite: Sqlite, capsys: pytest.CaptureFixture[str]
) -> None:
    async with server() as client:
        await add(client, {}, "fires", "true")
        sqlite(server.db, "UPDATE long_term_memories SET prompt = CAST(x'ff' AS TEXT)")
        assert await refusal(client, "get_memory_context", name="fires") == (
            "row 1 of long_term_memories cannot be read: it holds text that is not UTF-8. "
            "The user can run `memory-server doctor`: it reports what is wrong."
        )
    assert main(["--db", str(server.db), "--embedder", "hashing", "doctor"]) == 1
    printed = capsys.readouterr().out.splitlines()
    assert printed[-2:] == ["problems    1", "  row 1 of long_term_memories: prompt is not UTF-8"]


async def test_triggers_that_loop_do_not_hold_up_other_tools(server: Servers) -> None:
    finished: list[object] = []

    async def loop(client: Client) -> None:
        finished.append(await client.call_tool("test_trigger", {"trigger": "while (true);"}))

    async with server() as client, anyio.create_task_group() as tasks:
        for _ in range(32):
            tasks.start_soon(loop, client)
        await anyio.wait_all_tasks_blocked()
        await call(client, "memory_store", content="at once", type="learning")
        assert len(finished) < 16
        tasks.cancel_scope.cancel()


async def test_no_word_of_a_trigger_can_break_the_protocol(client: Client) -> None:
    for half in ("throw '\\ud800'", "throw 'x'.repeat(399) + '\\u{1f600}'"):
        assert "The trigger returns no value" in await refusal(client, "test_trigger", trigger=half)
    said = [{"role": "user", "content": "hidden"}]
    for trigger in (
        "match_keys(messages, ['\\u202ehidden'])",
        "[match_keys(messages, [/\\u202e?hidden/])][0]",
    ):
        why = (await call(client, "test_trigger", trigger=trigger, messages=said))["why"]
        assert why.isprintable()
