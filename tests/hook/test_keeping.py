"""Stop, PreCompact and SessionEnd: the last turn and what is left open are kept, marked, and can be erased at once."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory_server import stores
from memory_server.language.told import told
from tests.conftest import Servers, call, eventually
from tests.hook.conftest import Hooks

pytestmark = [pytest.mark.anyio, pytest.mark.both_stores]

PROMPT = "Move the ledger to port 6000"
REPLY = "The ledger listens on port 6000 now. Next: tell the ops team."
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
async def empty(server: Servers, hooks: Hooks) -> Hooks:
    """The hooks of a file that a server has made."""
    async with server(cwd=hooks.project) as client:
        await call(client, "memory_stats")
    return hooks


def kept(hooks: Hooks) -> list[dict[str, Any]]:
    """What was kept unasked, and is still there."""
    database = stores.at(hooks.place, lambda: datetime.now(UTC))
    with database.read() as tx:
        found = tx.hook_captures.select(None, None)
    database.close()
    return [
        {"session": each.session, "event": each.event, "kind": each.kind, "text": each.text}
        for each in reversed(found)
    ]


def transcript(path: Path, *entries: dict[str, Any]) -> str:
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    return str(path)


def of_claude(role: str, content: object, **more: object) -> dict[str, Any]:
    return {"type": role, "message": {"role": role, "content": content}, **more}


def of_codex(role: str, text: str) -> dict[str, Any]:
    kind = "input_text" if role == "user" else "output_text"
    message = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
    return {"type": "response_item", "payload": message}


async def test_the_last_turn_is_kept_once_with_its_author(empty: Hooks, server: Servers) -> None:
    for event in ("Stop", "PreCompact", "SessionEnd"):
        assert empty(event, "--client", "claude", prompt=PROMPT, last_assistant_message=REPLY).out == ""
    text = f"user: {PROMPT}\nassistant: {REPLY}"
    assert kept(empty) == [
        {"session": "s1", "event": "Stop", "kind": "short_term", "text": text},
        {
            "session": "s1",
            "event": "SessionEnd",
            "kind": "fact",
            "text": 'current.left_open: "tell the ops team."',
        },
    ]
    signed = empty.rows("SELECT created_by, session FROM short_term_memories")
    assert signed == [("claude (captured)", "s1")]
    async with server(cwd=empty.project):

        async def has_keywords() -> bool:
            return empty.rows("SELECT count(*) FROM short_term_keywords") != [(0,)]

        await eventually(has_keywords, "the server finds the keywords")
    assert "tell the ops team" in empty("SessionStart", session_id="s2").context


@pytest.mark.parametrize("client", ["claude", "codex"])
async def test_the_turn_is_read_from_the_transcript(empty: Hooks, tmp_path: Path, client: str) -> None:
    entries = {
        "claude": [
            of_claude("user", "an older prompt about the harbour"),
            of_claude("user", PROMPT),
            of_claude("user", "<system-reminder>be nice</system-reminder>"),
            of_claude("user", "hidden words", isMeta=True),
            of_claude("user", "This session is being continued from one before.", isCompactSummary=True),
            of_claude("user", "[Request interrupted by user]"),
            of_claude("assistant", [{"type": "text", "text": "I look at the ledger."}]),
            of_claude("user", [{"type": "tool_result", "content": "port = 5432"}]),
            of_claude("assistant", "words of a helper", isSidechain=True),
            of_claude("assistant", [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": REPLY}]),
            {"type": "summary", "summary": "x"},
        ],
        "codex": [
            of_codex("user", "an older prompt about the harbour"),
            of_codex("user", PROMPT),
            of_codex("user", "<environment_context>x</environment_context>"),
            of_codex("assistant", REPLY),
            {"type": "event_msg", "payload": {"type": "token_count"}},
        ],
    }
    path = transcript(tmp_path / "transcript.jsonl", *entries[client])
    empty("Stop", transcript_path=path)
    (row,) = kept(empty)
    assert row["text"] == f"user: {PROMPT}\nassistant: {REPLY}"


@pytest.mark.parametrize(
    "fields",
    [
        {"prompt": PROMPT, "last_assistant_message": REPLY, "stop_hook_active": True},
        {"prompt": PROMPT, "last_assistant_message": f"The token is {SECRET}"},
        {"prompt": f"Use {SECRET}", "last_assistant_message": REPLY},
        {"prompt": "yes, go on", "last_assistant_message": "Done."},
        {"prompt": "", "last_assistant_message": ""},
        {"transcript_path": "/none/at/all.jsonl"},
    ],
)
async def test_what_must_not_be_kept_or_says_nothing_is_not(empty: Hooks, fields: dict[str, Any]) -> None:
    for event in ("Stop", "SessionEnd"):
        empty(event, **fields)
    assert kept(empty) == []
    assert "failed" not in " ".join(empty.log)
    assert not isinstance(empty.place, Path) or SECRET.encode() not in empty.place.read_bytes()


async def test_a_fact_that_somebody_wrote_is_not_replaced_and_one_that_was_kept_is(
    empty: Hooks, server: Servers
) -> None:
    empty("SessionEnd", prompt=PROMPT, last_assistant_message="Moved. Next: sweep the quay.")
    empty("SessionEnd", prompt=PROMPT, last_assistant_message="Moved. Next: paint the quay.", session_id="s2")
    async with server(cwd=empty.project) as client:
        found = await call(client, "read_memory", key="current.left_open")
        assert found["memory"]["value"] == "paint the quay."
        await call(client, "delete_memory", key="current.left_open")
        await call(client, "write_memory", key="current.left_open", value="my own words")
    empty("SessionEnd", prompt=PROMPT, last_assistant_message="Moved. Next: sell the quay.", session_id="s3")
    facts = empty.rows("SELECT value FROM facts WHERE key = 'current.left_open'")
    assert facts == [('"my own words"',)]


async def test_a_long_answer_is_kept_with_its_beginning_and_its_end(empty: Hooks) -> None:
    empty("Stop", prompt=PROMPT, last_assistant_message=f"It begins. {'The harbour opens. ' * 2000}It ends.")
    (row,) = kept(empty)
    assert "It begins." in row["text"]
    assert row["text"].endswith("It ends.")
    assert len(row["text"]) < 5000


async def test_all_of_it_is_listed_and_erased_by_one_command(empty: Hooks) -> None:
    for session in ("one", "two"):
        empty("SessionEnd", prompt=PROMPT, last_assistant_message=REPLY, session_id=session)
    listed = empty.run("hook", "captured", "--db", empty.given).stdout
    assert listed.count("Move the ledger") == 2
    assert "tell the ops team" in listed
    assert (
        empty.run("hook", "forget", "one", "--db", empty.given).stdout == "Erased: 1.\n"
    )  # the fact is of two now
    assert empty.run("hook", "forget", "all", "--db", empty.given).stdout == "Erased: 2.\n"
    assert kept(empty) == []
    if isinstance(empty.place, Path):
        content = empty.place.read_bytes()
        assert [word for word in (b"edger", b"listens") if word in content] == []
    for table in ("short_term_memories", "trash", "fact_history"):
        assert empty.rows(f"SELECT count(*) FROM {table}") == [(0,)]
    done = empty.run("hook", "forget", "--db", empty.given)
    assert done.returncode == 1
    assert "all" in done.stderr


async def test_what_was_stated_and_not_stored_is_told_once(empty: Hooks, server: Servers) -> None:
    stated = "The ledger team has two on-call phones."
    empty("Stop", prompt=f"{stated} Can you note the port?", last_assistant_message="Port 6000 it is.")
    said = empty("UserPromptSubmit", prompt="yes, go on").context
    assert said == f'Not stored yet: "{stated}". Call memory_store if it should last.'
    assert empty("UserPromptSubmit", prompt="yes, go on").out == ""
    async with server(cwd=empty.project) as client:
        await call(client, "memory_store", content="The ledger team has two on-call phones", type="learning")
    again: dict[str, Any] = {"prompt": f"As said: {stated}", "last_assistant_message": "Right, two phones."}
    empty("Stop", session_id="s2", **again)
    assert "Not stored" not in empty("UserPromptSubmit", session_id="s2", prompt="yes, go on").out


@pytest.mark.parametrize(
    ("text", "states"),
    [
        ("I prefer tabs over spaces in Go files.", True),
        ("No, the port of the staging database is 5433.", True),
        ("We decided to drop MySQL.", True),
        ("以后提交信息都用英文。", True),
        ("Do we always use tabs?", False),
        ("Show me the log of the last deploy.", False),
        ("帮我看看这段代码。", False),
    ],
)
def test_a_decision_a_preference_or_a_correction_is_recognised(text: str, states: bool) -> None:
    assert bool(told(text)) is states


async def test_a_session_is_read_on_once_the_folder_of_its_client_was_imported(
    empty: Hooks, tmp_path: Path
) -> None:
    folder = tmp_path / "home/.claude/projects/-home-ada-shop"
    folder.mkdir(parents=True)
    own, older = folder / "s1.jsonl", folder / "s0.jsonl"
    transcript(older, of_claude("user", "Sweep the pier", sessionId="s0"))
    transcript(own, of_claude("user", PROMPT, sessionId="s1"))

    def texts() -> list[Any]:
        return [text for (text,) in empty.rows("SELECT message FROM turns ORDER BY id")]

    empty("Stop", transcript_path=str(own))
    assert texts() == []
    done = empty.run("import", str(folder.parent), "--db", empty.given)
    assert (done.returncode, done.stderr) == (0, "")
    transcript(own, of_claude("user", PROMPT, sessionId="s1"), of_claude("assistant", REPLY))
    older.unlink()
    empty("Stop", transcript_path=str(own))
    # Several machines share PostgreSQL: a file that is not here may be on another one.
    elsewhere = [] if isinstance(empty.place, Path) else ["Sweep the pier"]
    assert sorted(texts()) == sorted([*elsewhere, PROMPT, REPLY])
    assert empty.log[-1].endswith(" works")
