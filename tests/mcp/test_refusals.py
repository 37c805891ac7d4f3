"""What a refusal says: nothing that a person cannot see, and plain sentences where the machine has run out."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp_types import CallToolResult, Resource, TextContent

from memory_server import app
from memory_server.cli.main import main
from memory_server.domain.caller import Caller
from memory_server.errors import Conflict, Invalid, NotFound, Unavailable
from memory_server.language.text import visible
from memory_server.mcp.offers import offers
from memory_server.mcp.resources import Resources
from memory_server.mcp.server import MemoryServer
from memory_server.mcp.tool import READS, Tool
from memory_server.mcp.work import Offers, Work
from memory_server.settings import Settings
from memory_server.sqlite import files
from tests.conftest import ROOT, Servers, Sqlite, call
from tests.mcp.conftest import refusal

pytestmark = pytest.mark.anyio

HIDDEN = "\x1b[31m\x07\x9b2J\u202e\u2066\u200b\u200e\ufeff\U000e0041\U000e0042\U000e007f"
"""Escapes, direction, no width, tags: what a person does not see and a terminal or a model may obey."""

EVIL = f"a{HIDDEN}b"


def is_plain(text: str) -> bool:
    """Whether nothing in it is hidden; a JSON escape of such a character does not count as hidden."""
    return visible(text) == text


def said(result: Any) -> str:
    assert isinstance(result, CallToolResult)
    assert result.is_error, result.content
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


REFUSED: tuple[tuple[str, dict[str, Any]], ...] = (
    # unknown tools and arguments
    (f"memory_{EVIL}", {}),
    (EVIL * 20, {}),
    ("memory_get", {"ids": [1], EVIL: 1}),
    ("memory_get", {EVIL: 1}),
    ("memory_store", {"content": "x", "type": "error", "metadata": {EVIL: 1}, EVIL: EVIL}),
    # wrong values
    ("memory_get", {"ids": [EVIL]}),
    ("memory_get", {"ids": EVIL}),
    ("memory_store", {"content": "\u202e\u200b", "type": "error"}),
    ("memory_store", {"content": "x", "type": EVIL}),
    ("memory_store", {"content": "x", "type": "error", "importance": EVIL}),
    ("memory_store", {"content": "x", "type": "error", "tags": [{EVIL: EVIL}]}),
    ("memory_store", {"content": "x", "type": "error", "metadata": EVIL}),
    ("memory_search", {"query": EVIL, "mode": EVIL}),
    ("memory_search", {"query": EVIL, "limit": EVIL}),
    ("memory_search", {"query": [EVIL, 5]}),
    ("memory_get", {"ids": f"[{EVIL}"}),
    ("memory_store", {"content": EVIL, "\u202etext": 1, "type": "error"}),
    ("graph_connect", {"sourceId": 1, "targetId": 2, "relation": EVIL}),
    ("write_memory", {"key": EVIL * 300, "value": 1}),
    ("write_memory", {"key": "k", "value": 1, "scope": EVIL}),
    ("write_memory", {"key": "k", "value": 1, "ttl": EVIL}),
    ("read_memory", {"key": "k", "at": EVIL}),
    ("delete_short_term_memories", {"pattern": f"/({EVIL}/", "conversation_id": "talk"}),
    ("add_short_term_memory", {"messages": [{"role": EVIL, EVIL: 1}], "conversation_id": "talk"}),
    ("add_short_term_memory", {"messages": [EVIL, EVIL], "conversation_id": "talk"}),
    ("test_trigger", {"trigger": f"{EVIL} ("}),
    ("test_trigger", {"trigger": f"(() => {{ throw new Error('{EVIL}'); }})("}),
    ("add_long_term_memory", {"name": "n", "prompt": "p", "trigger": f'{{"{EVIL}": 1}}'}),
    ("add_long_term_memory", {"name": "n", "prompt": "p", "trigger": f"{EVIL}(messages)"}),
    ("test_trigger", {"trigger": "true", "at": EVIL}),
    # not found
    ("delete_memory", {"key": f"no.{EVIL}", "undo": True}),
    ("read_memory", {"key": f"no.{EVIL}", "history": True}),
    ("get_memory_stats", {"conversation_id": EVIL}),
    ("get_memory_context", {"name": EVIL}),
    ("get_memory_context", {"name": "nobody", "conversation_id": "by hand"}),
    ("update_long_term_memory", {"name": EVIL, "prompt": "p", "conversation_id": EVIL}),
    ("delete_long_term_memory", {"name": EVIL, "undo": True}),
    ("delete_short_term_memories", {"pattern": "x", "conversation_id": EVIL, "undo": True}),
    # conflict
    ("write_memory", {"key": "by.hand", "value": 1, "scope": "global", "expectedVersion": 7}),
    ("delete_memory", {"key": "by.hand", "undo": True}),
    ("add_long_term_memory", {"name": "taken", "prompt": "p", "trigger": "true"}),
    # credentials
    ("memory_store", {"content": f"{EVIL} ghp_" + "a1B2" * 9, "type": "error"}),
)


async def by_hand(server: Servers, sqlite: Sqlite) -> None:
    """Rows that the stock program wrote hold what the server would have taken away."""
    async with server() as client:
        await call(client, "memory_stats")
    text = f"CAST(x'{EVIL.encode().hex()}' AS TEXT)"
    sqlite(
        server.db,
        "INSERT INTO conversations (name) VALUES ('by hand')",
        'INSERT INTO long_term_memories (conversation_id, name, prompt, "trigger") '
        f"SELECT id, {text}, 'p', 'true' FROM conversations",
        f"INSERT INTO facts (scope, key, value) VALUES ('global', 'by.hand', json_quote({text}))",
    )


async def test_no_refusal_repeats_what_a_person_cannot_see(server: Servers, sqlite: Sqlite) -> None:
    await by_hand(server, sqlite)
    async with server() as client:
        await call(client, "add_long_term_memory", name="taken", prompt="p", trigger="true")
        for tool, arguments in REFUSED:
            result = await client.call_tool(tool, arguments)
            assert isinstance(result, CallToolResult)
            assert result.is_error, (tool, arguments, result.content)
            text = said(result)
            assert is_plain(text), (tool, arguments, text)
            assert text
    assert is_plain(server.log.read_text(encoding="utf-8"))


async def test_no_note_repeats_what_a_person_cannot_see(server: Servers) -> None:
    async with server() as client:
        said = [{"role": "user", "content": "zebra", EVIL: 1}]
        found = await call(client, "memory_search", **{"\u202eq": EVIL * 200}, mode="\u202evector")
        added = await call(client, "add_short_term_memory", **{"\u200bchat id": "c"}, messages=said)
        for note in (found["note"], added["note"]):
            assert is_plain(note), note
        assert "`q` was read as `query`." in found["note"]
        assert "was left out" in added["note"]


async def test_no_json_rpc_error_repeats_what_a_person_cannot_see(server: Servers) -> None:
    """Unknown methods, and what is no message: raw lines, because a client would not send them."""
    client = {"name": EVIL, "version": EVIL}
    lines: list[bytes] = [
        message(0, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client),
        message(1, f"memories/{EVIL}"),
        message(2, "tools/call", name=[EVIL], arguments={}),
        message(3, "tools/call", name="memory_get", arguments=EVIL),
        message(4, "resources/read", uri=EVIL),
        message(5, "prompts/get", name=EVIL),
        json.dumps({"jsonrpc": EVIL, "id": 6, "method": EVIL}, ensure_ascii=False).encode() + b"\n",
        f'{{"id": 7, "x": "{EVIL}\n'.encode(),
        f"{EVIL}\n".encode(),
        json.dumps({"jsonrpc": "2.0", "id": 8, "method": "ping", "params": EVIL}).encode() + b"\n",
    ]
    process = server.process("--log-level", "DEBUG")
    out, log = process.communicate(b"".join(lines), timeout=60)
    answers = [json.loads(line) for line in out.splitlines()]
    assert len(answers) == len(lines)
    for answer in answers:
        if "error" in answer:
            assert is_plain(answer["error"]["message"]), answer
    assert sum("error" in answer for answer in answers) >= 7
    assert is_plain(log.decode())


def message(id: int, method: str, **params: Any) -> bytes:
    content = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
    return json.dumps(content, ensure_ascii=False).encode() + b"\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--db", f"/tmp/{EVIL}/memory.db", "doctor"],
        ["--db", f"/tmp/{EVIL}/memory.db", "backup", "copy.db"],
        ["--db", "missing.db", "backup", f"{EVIL}.db"],
        ["--embedder", EVIL, "doctor"],
        ["--log-level", EVIL, "doctor"],
        [f"--{EVIL}", "doctor"],
        [EVIL],
        ["doctor", EVIL],
        ["--toolsets", EVIL, "serve"],
    ],
)
def test_no_refusal_of_the_command_line_repeats_it_either(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = main(arguments)
    except SystemExit as left:
        code = int(str(left.code))
    printed = capsys.readouterr()
    assert code in (1, 2)
    assert printed.err
    assert is_plain(printed.err), printed.err
    assert is_plain(printed.out)


# What the machine has run out of


@dataclass(frozen=True)
class Nothing:
    """An answer."""


def failing(error: BaseException) -> MemoryServer:
    """A server with one tool, which fails."""

    def fails() -> Nothing:
        """Fail."""
        raise error

    services = app.build(Settings(db=Path("never-opened.db")))
    work = Work({"fails": Tool(fails, READS, "Fails")}, offers(services))
    return MemoryServer([], work, lambda name, _: Caller(name, "s1"), "ERROR")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (
            MemoryError(),
            "The server has no memory left to carry out `fails`. Nothing was half-written. Send less at once; if it "
            "happens again, the user must restart the server.",
        ),
        (
            OSError(24, "Too many open files"),
            "The server has too many files open to carry out `fails`. Nothing was half-written. Call again; if it "
            "happens again, the user must raise the limit (ulimit -n).",
        ),
        (
            OSError(23, "Too many open files in system"),
            "The server has too many files open to carry out `fails`. Nothing was half-written. Call again; if it "
            "happens again, the user must raise the limit (ulimit -n).",
        ),
        (Invalid(f"It is {EVIL}."), f"It is {visible(EVIL)}."),
        (NotFound(f"No {EVIL}."), f"No {visible(EVIL)}."),
        (Conflict(f"Taken {EVIL}."), f"Taken {visible(EVIL)}."),
        (Unavailable(f"Locked {EVIL}."), f"Locked {visible(EVIL)}."),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_a_failure_that_a_user_can_mend_is_no_bug_of_the_server(
    error: BaseException, told: str
) -> None:
    async with Client(failing(error)) as client:
        assert await refusal(client, "fails") == told


class Broken(Resources):
    """Resources that cannot be listed."""

    def listed(self, caller: Caller) -> list[Resource]:
        raise RuntimeError(f"of {EVIL}")


async def test_a_resource_that_fails_is_a_bug_of_the_server_too(caplog: pytest.LogCaptureFixture) -> None:
    services = app.build(Settings(db=Path("never-opened.db")))
    good = offers(services)
    broken = Broken(services.resume, services.recent, services.memories, services.facts, services.projects)
    work = Work({}, Offers(broken, good.prompts, good.completions))
    server = MemoryServer([], work, lambda name, _: Caller(name, "s1"), "ERROR")
    async with Client(server) as client:
        with pytest.raises(MCPError) as error:
            await client.list_resources()
    assert error.value.error.code == -32603
    assert error.value.error.message.startswith("`resources/list` failed inside the server")
    assert "RuntimeError" in caplog.text


async def test_any_other_failure_is_still_a_bug_of_the_server(caplog: pytest.LogCaptureFixture) -> None:
    async with Client(failing(ZeroDivisionError(EVIL))) as client:
        text = await refusal(client, "fails")
    assert "This is a bug" in text
    assert EVIL not in text


LIMITED = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]), int(sys.argv[1])))
os.execv(sys.executable, [sys.executable, "-m", "memory_server", *sys.argv[2:]])
"""


def limited(server: Servers, files: int, *arguments: str, input: bytes = b"") -> tuple[int, bytes, str]:
    """The program with a limit of open files: exit code, output, standard error."""
    command = [sys.executable, "-c", LIMITED, str(files), *server.command(*arguments)[3:]]
    done = subprocess.run(
        command, input=input, capture_output=True, env={**os.environ, **server.env}, cwd=ROOT, timeout=60
    )
    return done.returncode, done.stdout, done.stderr.decode()


@pytest.mark.skipif(os.name == "nt", reason="limits of POSIX")
@pytest.mark.parametrize(
    ("command", "files"),
    [("serve", 6), ("serve", 7), ("serve", 10), ("serve", 20), ("doctor", 6), ("doctor", 8), ("doctor", 14)],
)
async def test_too_few_open_files_are_told_in_a_sentence(server: Servers, files: int, command: str) -> None:
    """At each limit it either works or says what is missing; never a traceback."""
    async with server() as client:
        await call(client, "memory_store", content="kept", type="error")
    info = {"name": "a", "version": "1"}
    asked = message(0, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=info)
    asked += message(1, "tools/call", name="memory_get", arguments={"ids": [1]})
    code, out, errors = limited(server, files, command, input=asked if command == "serve" else b"")
    assert "Traceback" not in errors, errors
    if code and command == "doctor" and out:  # it reports, and its report says what cannot start
        assert (code, errors) == (1, "")
        assert "cannot start: Too many open files" in out.decode()
    elif code:
        assert code == 1
        assert errors.startswith("memory-server: ")
        assert len(errors.splitlines()) == 1
    elif command == "serve":
        answers = {line["id"]: line for line in map(json.loads, out.splitlines())}
        assert set(answers) == {0, 1}


# A file truncated to nothing


@pytest.mark.parametrize("ask", [["doctor"], ["backup", "copy.db"]])
def test_a_command_on_a_file_truncated_to_nothing_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], ask: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "memory.db").touch()
    monkeypatch.setattr(files, "FILLED", 0)
    assert main(["--db", "memory.db", *ask]) == 1
    printed = capsys.readouterr()
    report = printed.out if ask == ["doctor"] else printed.err
    assert "The database memory.db has 0 bytes. Copy the file away, then" in report
    assert [file.name for file in tmp_path.iterdir()] == ["memory.db"]


async def test_a_server_that_starts_on_an_empty_file_makes_a_database_of_it(
    server: Servers, sqlite: Sqlite
) -> None:
    """As programs do that make a file before they name it: no server has had it open yet."""
    server.db.write_bytes(b"")
    async with server() as client:
        await call(client, "memory_store", content="first", type="error")
    assert sqlite(server.db, "SELECT content FROM memories") == "first"


async def test_an_older_program_beside_an_upgraded_file_refuses_to_read_what_it_would_not_find(
    server: Servers, sqlite: Sqlite
) -> None:
    """Another window upgrades the file while this one runs: an answer of "null" would be a lie."""
    async with server() as client:
        await call(client, "write_memory", key="k", value=1)
        version = int(sqlite(server.db, "PRAGMA user_version"))
        sqlite(server.db, f"ALTER TABLE facts RENAME TO values_; PRAGMA user_version = {version + 1}")
        for tool, arguments in (
            ("read_memory", {"key": "k"}),
            ("memory_search", {"query": "k"}),
            ("list_memories", {}),
            ("memory_stats", {}),
        ):
            answer = said(await client.call_tool(tool, arguments))
            assert f"schema version {version + 1}, and this program knows versions up to {version}" in answer
