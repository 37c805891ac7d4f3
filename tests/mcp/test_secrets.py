"""Every text that a tool writes is looked through: a call with a secret is refused whole, unless the user allows it."""

from collections.abc import Callable
from itertools import zip_longest
from typing import Any

import pytest
from mcp import Client

from memory_server.settings import Settings
from tests.conftest import Servers, Sqlite, call, until
from tests.domain.secret_lists import GITHUB, PASS, PW
from tests.mcp.conftest import refusal

Arguments = dict[str, Any]

WHOLE: dict[str, Arguments] = {
    "memory_store": {
        "content": "The build takes four minutes",
        "type": "learning",
        "tags": [],
        "metadata": {},
    },
    "memory_update": {"id": 1},
    "graph_connect": {"sourceId": 1, "targetId": 2, "relation": "causes"},
    "write_memory": {"key": "current.task", "value": "write tests"},
    "register_memory": {"message": "How long?", "summary": "The build takes four minutes"},
    "add_short_term_memory": {
        "messages": [{"role": "user", "content": "The zebra is striped"}],
        "conversation_id": "c",
    },
    "add_long_term_memory": {"name": "n", "prompt": "p", "trigger": "true"},
    "update_long_term_memory": {"name": "there"},
    "remind": {"text": "Water the plants", "when": "tomorrow at 9"},
}
"""Arguments with which each writing tool succeeds."""

PLACES: dict[tuple[str, str], Callable[[str], Any]] = {
    ("memory_store", "content"): lambda secret: f"it is {secret}",
    ("memory_store", "project"): str,
    ("memory_store", "tags"): lambda secret: ["a", secret],
    ("memory_store", "metadata"): lambda secret: {"deep": [{"k": secret}]},
    ("memory_store", "session"): str,
    ("memory_update", "content"): lambda secret: f"it is {secret}",
    ("memory_update", "project"): str,
    ("memory_update", "tags"): lambda secret: [secret],
    ("memory_update", "metadata"): lambda secret: {secret: 1},
    ("write_memory", "key"): lambda secret: f"current.{secret}",
    ("write_memory", "value"): lambda secret: {"a": [secret]},
    ("write_memory", "tags"): lambda secret: [secret],
    ("register_memory", "message"): lambda secret: f"it is {secret}",
    ("register_memory", "summary"): lambda secret: f"it is {secret}",
    ("register_memory", "facts"): lambda secret: {"a": 1, "b": {"c": secret}},
    ("register_memory", "session"): str,
    ("add_short_term_memory", "messages"): lambda secret: [{"role": "user", "content": f"it is {secret}"}],
    ("add_short_term_memory", "conversation_id"): str,
    ("add_long_term_memory", "name"): str,
    ("add_long_term_memory", "prompt"): lambda secret: f"use {secret}",
    ("add_long_term_memory", "trigger"): lambda secret: f"match_keys(messages, ['{secret}'])",
    ("add_long_term_memory", "conversation_id"): str,
    ("add_long_term_memory", "createdContext"): lambda secret: f"the user said {secret}",
    ("add_long_term_memory", "recentMessages"): lambda secret: [{"role": "user", "content": secret}],
    ("remind", "text"): lambda secret: f"call {secret}",
    ("remind", "when"): lambda secret: f"when we talk about {secret}",
    ("update_long_term_memory", "prompt"): lambda secret: f"use {secret}",
    ("update_long_term_memory", "trigger"): lambda secret: f"match_keys(messages, ['{secret}'])",
    ("update_long_term_memory", "updatedContext"): lambda secret: f"the user said {secret}",
    ("update_long_term_memory", "recentMessages"): lambda secret: [{"role": "user", "content": secret}],
}
"""Every parameter whose text is kept, with a secret in it."""

NOT_KEPT = {
    ("memory_store", "type"), ("memory_update", "type"), ("graph_connect", "relation"), ("write_memory", "scope"),
    ("memory_store", "occurred_at"), ("register_memory", "occurred_at"),
    ("add_short_term_memory", "roleWeights"), ("update_long_term_memory", "name"),
    ("update_long_term_memory", "conversation_id"), ("delete_memory", "key"), ("delete_memory", "scope"),
    ("delete_short_term_memories", "pattern"), ("delete_short_term_memories", "conversation_id"),
    ("forget", "refs"), ("forget", "what"), ("memory_store", "summarizes"), ("memory_store", "supersedes"),
    ("cleanup_memories", "conversation_id"), ("delete_long_term_memory", "name"),
    ("delete_long_term_memory", "conversation_id"),
}  # fmt: skip
"""One of a closed list, a moment, or what is looked for and not written."""

OTHERS: dict[str, tuple[str, Arguments]] = {
    "a token in an example of a rule": (
        "add_long_term_memory",
        {
            "trigger": "runs(act, 'git push main')",
            "rule": {"effect": "deny", "holds": [f"git push main {GITHUB}"], "passes": ["ls"]},
        },
    ),
    "a token cut over two messages": (
        "add_short_term_memory",
        {"messages": [{"role": "user", "content": GITHUB[:20]}, {"role": "user", "content": GITHUB[20:]}]},
    ),
    "a password in the answer to a question": (
        "add_short_term_memory",
        {
            "messages": [
                {"role": "user", "content": f"What is the {PASS} of the router?"},
                {"role": "assistant", "content": f"It is {PW}"},
            ]
        },
    ),
    "the name of a speaker": (
        "add_short_term_memory",
        {"messages": [{"role": "user", "name": GITHUB, "content": "The zebra is striped"}]},
    ),
    "a token cut over the context": (
        "add_long_term_memory",
        {
            "recentMessages": [
                {"role": "user", "content": GITHUB[:9]},
                {"role": "user", "content": GITHUB[9:]},
            ]
        },
    ),
    "a key that names its value": ("write_memory", {"key": f"db.{PASS}", "value": PW}),
    "a fact that names its value": ("register_memory", {"facts": {f"db.{PASS}": PW}}),
    "metadata that names its value": ("memory_store", {"metadata": {PASS: PW}}),
    "a token cut over tags": ("memory_store", {"tags": [GITHUB[:20], GITHUB[20:]]}),
    "a message and its summary": ("register_memory", {"message": f"The {PASS} is", "summary": PW}),
}


async def prepare(client: Client) -> None:
    """Two memories to change and to connect, and a long-term memory to change."""
    for content in ("Zebras are striped", "Giraffes have long necks"):
        await call(client, "memory_store", content=content, type="learning")
    await call(client, "add_long_term_memory", name="there", prompt="p", trigger="true")


def tries() -> list[tuple[str, Arguments]]:
    """One call for each place of a secret."""
    places = [(tool, {**WHOLE[tool], name: put(GITHUB)}) for (tool, name), put in PLACES.items()]
    return places + [(tool, {**WHOLE[tool], **arguments}) for tool, arguments in OTHERS.values()]


def stored(sqlite: Sqlite, server: Servers) -> str:
    """Everything in the file, as the stock program prints it, but how often each tool was called."""
    lines = sqlite(server.db, ".dump").splitlines()
    return "\n".join(line for line in lines if not (line.startswith("INSERT") and "call_counts" in line))


@pytest.mark.anyio
async def test_every_text_parameter_of_a_writing_tool_is_listed_here(server: Servers) -> None:
    kept, written = set(), set()
    async with server() as client:
        for tool in (await client.list_tools()).tools:
            if tool.annotations is not None and tool.annotations.read_only_hint:
                continue
            written.add(tool.name)
            for name, schema in tool.input_schema.get("properties", {}).items():
                if str(schema.get("type")) not in ("integer", "number", "boolean"):
                    kept.add((tool.name, name))
    assert kept == {*PLACES, *NOT_KEPT, ("add_long_term_memory", "rule")}  # see OTHERS
    assert set(WHOLE) <= written


WAITING = " UNION ALL ".join(
    f"SELECT 1 FROM {kind}embedding_queue" for kind in ("", "turn_", "fact_", "short_term_")
)
ALL_EMBEDDED = f"SELECT (SELECT count(*) FROM spaces) = 1 AND NOT EXISTS ({WAITING})"


@pytest.mark.anyio
async def test_a_secret_in_any_text_is_refused_and_nothing_of_the_call_is_stored(
    server: Servers, sqlite: Sqlite
) -> None:
    async with server() as client:
        await prepare(client)
        until(lambda: sqlite(server.db, ALL_EMBEDDED) == "1", "what is prepared is embedded")
    before = stored(sqlite, server)
    async with server() as client:
        for tool, arguments in tries():
            text = await refusal(client, tool, **arguments)
            assert "--allow-secrets" in text, (tool, arguments)
            assert "Nothing was stored." in text
            assert GITHUB[6:] not in text
            assert PW not in text
    assert stored(sqlite, server) == before
    for part in (GITHUB[:20], GITHUB[20:], PW):
        assert part.encode() not in b"".join(each.read_bytes() for each in server.folder.glob("memory.db*"))


@pytest.mark.anyio
async def test_a_secret_in_any_text_is_stored_where_the_user_allows_it(
    server: Servers, sqlite: Sqlite
) -> None:
    """Each file gets one call of each tool, and each call must bring one more secret into it."""
    ways: dict[str, list[Arguments]] = {}
    for tool, arguments in tries():
        ways.setdefault(tool, []).append(arguments)
    for number, together in enumerate(zip_longest(*ways.values())):
        server.db = server.folder / f"{number}.db"
        async with server("--allow-secrets") as client:
            await prepare(client)
            before = 0
            for tool, arguments in zip(ways, together, strict=True):
                if arguments is None:
                    continue
                await call(client, tool, **arguments)
                dump = stored(sqlite, server)
                found = dump.count(PW) + min(dump.count(GITHUB[:9]), dump.count(GITHUB[20:]))
                assert found > before, (tool, arguments)
                before = found


@pytest.mark.anyio
async def test_the_same_calls_without_a_secret_succeed(server: Servers) -> None:
    async with server() as client:
        await prepare(client)
        for tool, arguments in WHOLE.items():
            if tool not in ("memory_update", "update_long_term_memory"):
                await call(client, tool, **arguments)
        for number, ((tool, name), put) in enumerate(PLACES.items()):
            another = {"name": f"n{number}"} if tool == "add_long_term_memory" else {}
            await call(client, tool, **{**WHOLE[tool], **another, name: put("zebra")})


@pytest.mark.anyio
async def test_what_a_trigger_throws_is_not_kept_with_a_secret_in_it(server: Servers, sqlite: Sqlite) -> None:
    trigger = (
        "messages.forEach(each => { if (/^gh/.test(each.content)) throw new Error(each.content) }), false"
    )
    async with server() as client:
        await call(client, "add_long_term_memory", name="n", prompt="p", trigger=trigger)
        said = [{"role": "user", "content": "hello"}, {"role": "user", "content": GITHUB}]
        found = await call(client, "search_long_term_memories", messages=said)
        assert found["errors"] == [{"name": "n", "reason": "its message seems to hold a GitHub token"}]
    assert GITHUB[6:] not in stored(sqlite, server)


def test_secrets_are_refused_unless_the_user_says_otherwise() -> None:
    assert Settings().allow_secrets is False
