"""Sessions of opencode, Cursor and Gemini CLI: read whole, since these change what they wrote; nothing of theirs is
touched.
"""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from memory_server import app
from memory_server.app import Services
from memory_server.domain.caller import Caller
from memory_server.domain.exchange.records import Refusal, TurnRecord
from memory_server.domain.memory import MemoryDraft, MemoryType
from memory_server.errors import Unavailable
from memory_server.importing import session, sessions
from memory_server.services.recall import RecallWish
from memory_server.settings import Settings
from memory_server.transfer.taking.run import Outcome
from tests.exchange import sources
from tests.exchange.test_transcripts import TOKEN, texts, took
from tests.hook.model_stub import model_stub
from tests.hook.test_clients import carry_out, surroundings
from tests.outside import program

EXPORTER = "user: Fix the invoice exporter: it must round half up"
DONE = (
    "assistant: The exporter rounds half up now.\n"
    "$ printf 'def total(prices):\\n return sum(prices)\\n' > invoice.py && ls (exit 0)\n"
    "$ python3 -c 'import sys; print(\"2 failed\"); sys.exit(3)' (exit 3)\n"
)


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    services = app.build(Settings(db=tmp_path / "memory.db", embedder="hashing"))
    services.queue.warm_up()
    yield services
    services.close()


def of(path: Path) -> list[TurnRecord]:
    records = list(sessions.records(path))
    assert [record for record in records if isinstance(record, Refusal)] == []
    return [record for record in records if isinstance(record, TurnRecord)]


def refused(path: Path) -> list[str]:
    return [
        f"{record.where}: {record.why}" for record in sessions.records(path) if isinstance(record, Refusal)
    ]


def test_sessions_of_opencode(services: Services, tmp_path: Path) -> None:
    path = sources.opencode(tmp_path)
    took(services, path)
    assert texts(services) == [
        'user: "Fix the invoice exporter: it must round half up"',  # `opencode run` puts the quotes
        f"{DONE}changed: invoice.py, notes.txt",
        'user: "Which port does the billing service use?"',
        "assistant: The billing service listens on port 7443.",
    ]
    turn = services.turns.get(2)
    assert (turn.project, turn.session) == ("shop", "ses_de64b3f53ffet6AyB9a839Itre")
    assert (turn.created_by, turn.created_at) == ("opencode (transcript)", "2026-11-26T21:13:26.290Z")
    assert turn.file == str(path / "opencode.db/ses_de64b3f53ffet6AyB9a839Itre")


@pytest.mark.outside
def test_a_session_that_the_real_opencode_writes_now(services: Services, tmp_path: Path) -> None:
    program("opencode")
    project = tmp_path / "shop"
    project.mkdir()
    with model_stub() as stub:
        stub.calls = [("bash", {"command": "echo 2 failed; exit 3", "description": "Run the tests"})]
        carry_out(["opencode", "run", "Repair"], project, surroundings("opencode", tmp_path / "home", stub))
    took(services, tmp_path / "home/.local/share/opencode")
    assert texts(services) == ["user: Repair", "assistant: done\ndone\n$ echo 2 failed; exit 3 (exit 3)"]
    assert services.turns.get(2).project == "shop"


@pytest.mark.outside
def test_a_session_that_the_real_gemini_cli_writes_now(services: Services, tmp_path: Path) -> None:
    program("gemini")
    project = tmp_path / "shop"
    project.mkdir()
    with model_stub() as stub:
        stub.calls = [
            ("run_shell_command", {"command": "echo 2 failed; exit 3", "description": "Run the tests"})
        ]
        words = ["gemini", "--model", "gemini-2.5-flash", "--yolo", "--prompt", "Repair"]
        carry_out(words, project, surroundings("gemini", tmp_path / "home", stub))
    took(services, tmp_path / "home/.gemini/tmp")
    assert texts(services) == ["user: Repair", "assistant: done\n$ echo 2 failed; exit 3 (exit 3)"]
    assert services.turns.get(2).project == "shop"


def test_sessions_of_gemini_cli(services: Services, tmp_path: Path) -> None:
    """The session was resumed, which wrote its messages anew, with their calls in their content and later dates."""
    path = sources.gemini(tmp_path)
    took(services, path)
    assert texts(services) == [
        EXPORTER,
        f"{DONE}changed: notes.txt",
        "user: Which port does the billing service use?",
        "assistant: The billing service listens on port 7443.",
    ]
    turn = services.turns.get(2)
    assert (turn.project, turn.session) == ("shop", "d67df8fd-4546-4a6b-afdc-2d34eda1bd93")
    assert (turn.created_by, turn.created_at) == ("gemini-cli (transcript)", "2026-11-26T21:14:15.686Z")


def test_a_session_of_gemini_cli_before_it_was_resumed(tmp_path: Path) -> None:
    file = next(sources.gemini(tmp_path).rglob("session-*.jsonl"))
    lines = file.read_text("utf-8").splitlines(True)
    second = next(number for number, line in enumerate(lines[1:], 1) if line.startswith('{"sessionId"'))
    file.write_text("".join(lines[:second]), "utf-8")
    prompt, reply = of(file)
    assert [f"user: {prompt.message}", f"assistant: {reply.message}"] == [
        EXPORTER,
        f"{DONE}changed: notes.txt",
    ]


def test_a_session_of_an_earlier_gemini_cli_is_one_object(tmp_path: Path) -> None:
    """By parseLegacyRecordFallback in its own chatRecordingService.ts, and docs/registry/gemini.md of deja-vu."""
    messages = [
        {"id": "m0", "type": "user", "content": "/help", "timestamp": "2025-11-02T10:00:00.000Z"},
        {"id": "m1", "type": "user", "content": "灯塔是什么颜色？", "timestamp": "2025-11-02T10:00:01.000Z"},
        {"id": "m2", "type": "gemini", "content": "灯塔是红色的。", "timestamp": "2025-11-02T10:00:02.000Z"},
        {"id": "m3", "type": "info", "content": "Update available"},
    ]
    chats = tmp_path / ".gemini/tmp/9f86d081884c7d65/chats"
    chats.mkdir(parents=True)
    session = {"sessionId": "s1", "projectHash": "9f86d081884c7d65", "messages": messages}
    (chats / "session-2025-11-02T10-00-s1.json").write_text(json.dumps(session), "utf-8")
    (chats / "session-2025-11-02T10-00-s1.json~").write_text("{", "utf-8")
    (tmp_path / ".gemini/projects.json").write_text(
        json.dumps({"projects": {"/srv/lighthouse": "9f86d081884c7d65"}}), "utf-8"
    )
    for path in (tmp_path / ".gemini", tmp_path / ".gemini/tmp", chats.parent, chats):
        assert [(turn.message, turn.project, turn.created_at) for turn in of(path)] == [
            ("灯塔是什么颜色？", "/srv/lighthouse", "2025-11-02T10:00:01.000Z"),
            ("灯塔是红色的。", "/srv/lighthouse", "2025-11-02T10:00:01.000Z"),
        ]


def test_sessions_of_cursor(services: Services, tmp_path: Path) -> None:
    """What the person refused to run was not run; a subagent, a draft and an empty value are no sessions."""
    path = sources.cursor(tmp_path)
    took(services, path)
    assert texts(services) == [
        EXPORTER,
        "assistant: The exporter rounds half up now.\n$ pytest -q (exit 3)\nchanged: invoice.py",
        "user: Which port does the billing service use?",
        "assistant: It listens on port 7443.",
        "user: 灯塔是什么颜色？",
        "assistant: 灯塔是红色的。",
    ]
    first, last = services.turns.get(1), services.turns.get(6)
    assert (first.project, first.created_at, first.created_by) == (
        "shop", "2026-11-29T09:33:20.000Z", "user of cursor (transcript)",
    )  # fmt: skip
    assert (last.project, last.created_at) == ("light house", "2025-05-26T22:53:20.000Z")


def test_sessions_of_cursor_agent(services: Services, tmp_path: Path) -> None:
    took(services, sources.cursor_agent(tmp_path))
    assert texts(services) == [
        "user: Fix the invoice exporter",
        "assistant: I look.\n$ pytest -q\nchanged: invoice.py",
        "user: 灯塔是什么颜色？",
        "assistant: 灯塔是红色的。",
    ]
    assert services.turns.get(2).project == "shop"


def test_what_the_editor_and_cursor_agent_both_have_is_read_once(tmp_path: Path) -> None:
    (tmp_path / ".config/Cursor").mkdir(parents=True)
    sources.cursor(tmp_path / ".config/Cursor")
    transcripts = sources.cursor_agent(tmp_path / ".cursor")
    (agent,) = transcripts.rglob("a1.jsonl")
    for id, number in (("0001", 1), ("0005", 2)):  # the editor has no message of the last one
        name = f"6f1c0d52-{id}-4a77-9f6d-2b9d3a6a7e0{id[3]}.jsonl"
        shutil.copy(agent, agent.with_name(name))
        assert {turn.session for turn in of(transcripts)} >= {"a1"}
        assert len({turn.session for turn in of(transcripts)}) == number


def test_what_the_person_has_taken_back_and_what_opencode_adds_is_left_out(tmp_path: Path) -> None:
    database = sources.opencode(tmp_path) / "opencode.db"
    connection = sqlite3.connect(database)
    connection.executescript(
        """
        UPDATE session SET revert = json_object('messageID', 'msg_219b5184c001sHUNuq0L7fyfnM');
        UPDATE part SET data = json_set(data, '$.synthetic', json('true')) WHERE data LIKE '%rounds half up%';
        UPDATE message SET data = json_set(data, '$.summary', json('true')) WHERE id LIKE 'msg_219b4d4c%';
        INSERT INTO session SELECT 'ses_sub', project_id, workspace_id, id, slug, directory, path, title, version,
            share_url, summary_additions, summary_deletions, summary_files, summary_diffs, metadata, cost, tokens_input,
            tokens_output, tokens_reasoning, tokens_cache_read, tokens_cache_write, NULL, permission, agent, model,
            time_created, time_updated, time_compacting, time_archived FROM session;
        INSERT INTO message SELECT 'msg_sub', 'ses_sub', time_created, time_updated, data FROM message LIMIT 1;
        INSERT INTO part SELECT 'prt_sub', 'msg_sub', 'ses_sub', time_created, time_updated, data FROM part LIMIT 1;
        """
    )
    connection.close()
    prompt, reply = of(tmp_path)
    assert "Fix the invoice exporter" in prompt.message
    assert "rounds half up" not in reply.message
    assert "(exit 3)" in reply.message


def test_sessions_that_opencode_wrote_into_files(tmp_path: Path) -> None:
    """Its json-migration.ts says where versions before 1.2 kept what the database has now; it is written from that."""
    connection = sqlite3.connect(sources.opencode(tmp_path) / "opencode.db")
    expected = [(turn.message, turn.project, turn.created_at) for turn in of(tmp_path)]
    storage = tmp_path / "old/storage"

    def put(path: str, data: str, **more: Any) -> None:
        (storage / path).parent.mkdir(parents=True, exist_ok=True)
        (storage / path).write_text(json.dumps({**json.loads(data), **more}), "utf-8")

    for id, folder in connection.execute("SELECT id, directory FROM session"):
        put(f"session/global/{id}.json", "{}", id=id, directory=folder)
        put("session/global/ses_sub.json", "{}", id="ses_sub", directory=folder, parentID=id)
    for id, session_id, data in connection.execute("SELECT id, session_id, data FROM message"):
        put(f"message/{session_id}/{id}.json", data, id=id, sessionID=session_id)
    for id, message, data in connection.execute("SELECT id, message_id, data FROM part"):
        put(f"part/{message}/{id}.json", data, id=id, messageID=message)
    connection.close()
    assert [(turn.message, turn.project, turn.created_at) for turn in of(tmp_path / "old")] == expected


@pytest.mark.parametrize("client", ["gemini-cli", "cursor-agent"])
def test_a_hook_takes_in_what_a_session_has_more(client: str, services: Services, tmp_path: Path) -> None:
    folder = sources.SESSIONS[client](tmp_path)
    (file,) = (file for file in folder.rglob("*.jsonl") if "subagents" not in file.parts)
    whole = file.read_bytes()
    end = whole.index("灯塔".encode()) if client == "cursor-agent" else whole.index(b"Which port")
    file.write_bytes(whole[: whole.rindex(b"\n", 0, end) + 1])
    assert took(services, folder) == {Outcome.ADDED: 2}
    file.write_bytes(whole)
    services.transcripts.follow(file, folder, Caller())
    assert len(texts(services)) == 4
    assert took(services, folder) == {Outcome.PRESENT: 4}
    file.write_bytes(whole[: whole.rindex(b"\n", 0, end) + 1])
    assert took(services, folder) == {Outcome.PRESENT: 2, Outcome.ENDED: 2}


def test_a_hook_takes_in_what_one_session_of_a_database_has_more(services: Services, tmp_path: Path) -> None:
    database = sources.opencode(tmp_path) / "opencode.db"
    last = "SELECT max(id) FROM message"
    _by_statements(
        database,
        f"CREATE TABLE later AS SELECT * FROM message WHERE id = ({last})",
        f"DELETE FROM message WHERE id = ({last})",
    )
    session_path = database / "ses_de64b3f53ffet6AyB9a839Itre"
    assert took(services, tmp_path) == {Outcome.ADDED: 3}
    _by_statements(database, "INSERT INTO message SELECT * FROM later")
    services.transcripts.follow(database / "ses_none", database, Caller())
    assert len(texts(services)) == 3
    services.transcripts.follow(session_path, database, Caller())
    assert texts(services)[3] == "assistant: The billing service listens on port 7443."
    assert took(services, tmp_path) == {Outcome.PRESENT: 4}
    services.transcripts.follow(tmp_path / "none.db/ses_none", tmp_path / "none.db", Caller())
    assert len(texts(services)) == 4


def test_recall_has_sessions_below_what_was_stored(services: Services, tmp_path: Path) -> None:
    took(services, sources.opencode(tmp_path))
    services.queue.work()
    question = "On which port does the billing service listen?"

    def answer() -> list[str]:
        return services.recall.recall(question, (), 800, RecallWish(), Caller()).answer.text.split("\n")

    (line,) = (line for line in answer() if "listens on port 7443" in line)
    assert line.startswith("2026-11-26, session ses_de64: assistant: ")
    memory = MemoryDraft("The billing service moved to port 8080 last week", MemoryType.DECISION)
    services.memories.store(memory, None, Caller())
    first, *others = answer()
    assert "[m1]" in first
    assert line in others


WRITER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("PRAGMA journal_mode = WAL")
connection.execute("UPDATE part SET data = replace(data, 'port 7443', 'port 7444')")
connection.commit()
print(flush=True)
sys.stdin.read()
"""


@contextmanager
def left(database: Path, state: str) -> Iterator[None]:
    """Leave a database as its program does that runs, has ended, or was killed."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, database], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        if state == "closed":
            writer.communicate()
        elif state != "open":
            writer.kill()
            writer.wait()
        if state == "without index":
            database.with_name("opencode.db-shm").unlink()
        yield


@pytest.mark.parametrize("state", ["closed", "open", "killed", "without index"])
def test_a_database_is_read_with_its_log_and_nothing_of_it_is_touched(state: str, tmp_path: Path) -> None:
    folder = sources.opencode(tmp_path)
    with left(folder / "opencode.db", state):
        before = {file.name: file.read_bytes() for file in folder.iterdir()}
        assert ("opencode.db-wal" in before) == (state != "closed")
        assert of(folder)[-1].message == "The billing service listens on port 7444."
        assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def test_a_database_that_is_written_while_it_is_read_is_told(tmp_path: Path) -> None:
    database = sources.opencode(tmp_path) / "opencode.db"
    with left(database, "closed"):
        pass
    records = sessions.records(tmp_path)
    next(records)
    os.utime(database, (1, 1))
    with pytest.raises(Unavailable, match="was written while it was read"):
        list(records)


def test_what_is_damaged_is_told_by_session_and_ends_nothing(
    tmp_path: Path, taken: Callable[..., dict[str, Any]]
) -> None:
    """Half a file, a value that is no JSON, 200,000 brackets, bytes that are no text."""
    for client, source in sources.SESSIONS.items():
        (tmp_path / client).mkdir()
        path, db = source(tmp_path / client), tmp_path / f"{client}.db"
        added = taken(db, path)["added"]
        _spoil(path)
        (told,) = taken(db, path)["sources"]
        assert [line["why"] for line in told["refused_items"]] == ["cannot be read"] * len(
            told["refused_items"]
        )
        assert told["refused_items"], client
        assert told["counts"]["turn"].get("ended", 0) == 0
        assert 0 < sum(told["counts"]["turn"].values()) <= added


@pytest.mark.skipif(os.name == "nt", reason="Windows asks for a right to make links")
@pytest.mark.parametrize("client", ["gemini-cli", "cursor-agent", "claude-code"])
def test_a_link_to_a_session_elsewhere_is_not_read(client: str, services: Services, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    folder = (sources.SESSIONS | {"claude-code": sources.transcript})[client](tmp_path / "home")
    (file,) = (file for file in folder.rglob("*.jsonl") if "subagents" not in file.parts)
    elsewhere = Path(shutil.move(file, tmp_path / file.name))
    file.symlink_to(elsewhere)
    took(services, folder)
    assert texts(services) == []


def test_values_that_no_client_writes_break_nothing(tmp_path: Path, services: Services) -> None:
    database = tmp_path / "opencode.db"
    _by_statements(
        database,
        "CREATE TABLE session (id, directory, revert, parent_id, time_updated)",
        "CREATE TABLE message (id, session_id, time_created, data)",
        "CREATE TABLE part (id, message_id, data)",
        "INSERT INTO session VALUES (7, 5, '{\"messageID\": \"m\"}', NULL, 'a'), (NULL, NULL, NULL, NULL, NULL)",
        "INSERT INTO session VALUES ('../../etc', '/srv/shop', '[1]', NULL, 1)",
        'INSERT INTO message VALUES (1, 7, 1, \'{"role": 7, "time": {"created": "x"}}\')',
        'INSERT INTO message VALUES (\'m\', \'../../etc\', 1, \'{"role": "user", "time": {"created": 1e400}}\')',
        'INSERT INTO part VALUES (\'p\', \'m\', \'{"type": "text", "text": "hi\\u0000 there \\ud800"}\')',
        'INSERT INTO part VALUES (\'q\', 1, \'{"type": 7, "text": [1], "state": {"input": 7}}\')',
    )
    store = tmp_path / "state.vscdb"
    _by_statements(
        store,
        "CREATE TABLE cursorDiskKV (key TEXT UNIQUE, value BLOB)",
        "INSERT INTO cursorDiskKV VALUES ('composerData:x', '{\"fullConversationHeadersOnly\":"
        ' [{"bubbleId": "a"}, {"bubbleId": "b"}, {"bubbleId": 7}, 7]}\')',
        f"INSERT INTO cursorDiskKV VALUES ('bubbleId:x:a', zeroblob({session.LONGEST + 1}))",
        "INSERT INTO cursorDiskKV VALUES ('bubbleId:x:b',"
        ' \'{"type": 1, "text": "the lamp", "createdAt": {"a": 1}, "toolFormerData": [1]}\')',
        "INSERT INTO cursorDiskKV VALUES ('composerData:y', '[1]'), ('composerData:z', 7)",
    )
    assert took(services, database) == {Outcome.ADDED: 1}
    assert took(services, store) == {Outcome.ADDED: 1}
    assert texts(services) == ["user: hi there ?", "user: the lamp"]


def _spoil(path: Path) -> None:
    deep = "[" * 200_000
    for file in filter(Path.is_file, path.rglob("*")):
        if file.name == "opencode.db":
            _by_statements(
                file,
                f"UPDATE part SET data = '{deep}' WHERE data LIKE '%port 7443%'",
                "UPDATE message SET data = '{\"role\": \"us' WHERE id LIKE 'msg_219b4f41%'",
                "UPDATE part SET data = CAST(x'ff00ff' AS TEXT) WHERE data LIKE '%exit%3%'",
            )
        elif file.name == "state.vscdb" and file.parent.name == "globalStorage":
            _by_statements(
                file,
                f"UPDATE cursorDiskKV SET value = '{deep}' WHERE key LIKE '%:b8'",
                "UPDATE cursorDiskKV SET value = x'ff00ff' WHERE key LIKE '%:b6'",
                "UPDATE cursorDiskKV SET value = '{\"a' WHERE key LIKE 'composerData:%0002%'",
            )
        elif file.name == "a1.jsonl":
            first, *lines = file.read_bytes().splitlines(True)
            file.write_bytes(
                first + b"\xff\x00\n" + deep.encode() + b"\n" + b"".join(lines[:-1]) + lines[-1][:20]
            )
        elif file.suffix == ".jsonl":
            shutil.copy(file, file.with_name("session-whole.jsonl"))
            file.write_bytes(b'{"sessionId": 7}\n[1]\n\xff\n' + deep.encode() + b"\n")


def _by_statements(database: Path, *statements: str) -> None:
    connection = sqlite3.connect(database)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.mark.parametrize("client", sources.SESSIONS)
def test_credentials_are_cut_out(client: str, tmp_path: Path, services: Services) -> None:
    (tmp_path / "source").mkdir()
    path = sources.SESSIONS[client](tmp_path / "source")
    _replace(path, "Fix the invoice exporter", f"Push with {TOKEN}, then fix the exporter")
    took(services, path)
    assert TOKEN not in str(texts(services))
    assert "Push with [a GitHub token was here], then fix the exporter" in str(texts(services))


def _replace(path: Path, old: str, new: str) -> None:
    """Replace a text in whatever keeps sessions below a folder."""
    for file in filter(Path.is_file, path.rglob("*")):
        if file.suffix in (".db", ".vscdb"):
            connection = sqlite3.connect(file)
            for table, column in (("part", "data"), ("cursorDiskKV", "value")):
                if connection.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (table,)).fetchone():
                    connection.execute(f"UPDATE {table} SET {column} = replace({column}, ?, ?)", (old, new))
            connection.commit()
            connection.close()
        else:
            file.write_text(file.read_text("utf-8").replace(old, new), "utf-8")
