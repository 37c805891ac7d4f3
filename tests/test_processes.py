"""Several servers on one file, killed, interrupted and left alone: every acknowledged write is kept."""

import asyncio
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult

from memory_server.cli.main import main
from tests.conftest import Servers, Sqlite, call, damage, until

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(os.name == "nt", reason="signals of POSIX"),
]

EXIT = 10.0
"""Seconds in which a process must have ended: GRACE is 1.4, and this machine may be busy."""


KILL_ROUNDS = int(os.environ.get("KILL_ROUNDS", "3"))


@pytest.fixture
def server(server: Servers) -> Servers:
    """Processes as users start them: they are killed, and the system is asked about them."""
    server.cold = True
    return server


# Many writers


@pytest.mark.parametrize("processes", [2, 4])
async def test_every_pipelined_write_of_several_servers_is_kept(
    server: Servers, sqlite: Sqlite, processes: int
) -> None:
    """They also start at once, on a file that is not there yet."""
    server.db.unlink()
    each = 60 // processes
    async with AsyncExitStack() as stack:
        clients = []
        for number in range(processes):
            mode = ("legacy", "2026-07-28")[number % 2]
            clients.append(await stack.enter_async_context(server(mode=mode, name=f"client {number}")))
        stored = await asyncio.gather(
            *(
                call(client, "memory_store", content=unlike(f"{number}-{i}"), type="learning")
                for number, client in enumerate(clients)
                for i in range(each)
            )
        )
        ids = {answer["id"] for answer in stored if not answer["consolidated"]}
        assert len(ids) == processes * each
        assert sqlite(server.db, "SELECT count(*) FROM memories") == str(processes * each)
        counts = await asyncio.gather(*(call(client, "memory_stats") for client in clients))
        assert [count["total"] for count in counts] == [processes * each] * processes
    assert sqlite(server.db, "SELECT created_by, count(*) FROM memories GROUP BY 1").splitlines() == [
        f"client {number}|{each}" for number in range(processes)
    ]
    assert damage(server.db) == []
    assert not server.db.with_name("memory.db-journal").exists()


def unlike(mark: str) -> str:
    """A text that shares next to no word with another one."""
    chance = random.Random(mark)
    return " ".join(f"{mark}-{chance.randrange(10**9)}" for _ in range(8))


async def test_no_acknowledged_write_is_missing_from_the_main_file_after_a_kill(
    server: Servers, sqlite: Sqlite, tmp_path: Path
) -> None:
    """Each round two servers write, one or both die at a random moment, and the main file alone is copied."""
    chance = random.Random(5)
    acknowledged: set[str] = set()

    async def write(round: int, number: int, kill_after: int | None) -> None:
        pid = tmp_path / f"{round}-{number}.pid"
        done = 0
        with suppress(MCPError, anyio.ClosedResourceError, anyio.BrokenResourceError, BrokenPipeError):
            async with server(pid=pid, name=f"{round}-{number}") as client:

                async def store(i: int) -> None:
                    nonlocal done
                    text = unlike(f"{round}-{number}-{i}")
                    with suppress(MCPError, anyio.ClosedResourceError, anyio.BrokenResourceError):
                        answer = await client.call_tool("memory_store", {"content": text, "type": "error"})
                        if isinstance(answer, CallToolResult) and not answer.is_error:
                            acknowledged.add(text)
                            done += 1
                            if done == kill_after:
                                await asyncio.sleep(chance.uniform(0, 0.012))
                                os.kill(int(pid.read_text()), signal.SIGKILL)

                await asyncio.gather(*(store(i) for i in range(40)))

    for round in range(KILL_ROUNDS):
        victims = [chance.randrange(1, 25), chance.choice([None, chance.randrange(1, 25)])]
        await asyncio.gather(*(write(round, number, after) for number, after in enumerate(victims)))
        copy = tmp_path / f"copy-{round}.db"
        shutil.copyfile(server.db, copy)
        kept = set(sqlite(copy, "SELECT content FROM memories").splitlines())
        assert acknowledged - kept == set()
        assert sqlite(copy, "PRAGMA integrity_check") == "ok"
    assert len(acknowledged) > KILL_ROUNDS * 20
    async with server() as client:
        assert (await call(client, "memory_stats"))["total"] >= len(acknowledged)
    assert damage(server.db) == []


async def test_a_server_killed_while_it_starts_does_not_hinder_the_next(
    server: Servers, sqlite: Sqlite
) -> None:
    """Some clients start two processes at once and kill one."""
    chance = random.Random(3)
    for round in range(3):
        server.db = server.folder / f"{round}.db"
        victim = server.process()
        if round == 0:  # the moment the file appears, which is when it is migrated
            until(lambda: server.db.exists(), "the victim makes its file")
        else:
            with suppress(subprocess.TimeoutExpired):
                victim.wait(chance.uniform(0.3, 1.6))
        async with server() as client:
            victim.kill()
            victim.communicate()
            await call(client, "memory_store", content="survived", type="learning")
        assert sqlite(server.db, "SELECT content FROM memories", "PRAGMA integrity_check").split() == [
            "survived",
            "ok",
        ]


# Leaving

HOLD = """
import apsw, sys
connection = apsw.Connection(sys.argv[1])
connection.set_busy_timeout(20000)  # the server may be writing an embedding just now
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
input()
"""


def request(id: int, method: str, **params: Any) -> bytes:
    return (json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}) + "\n").encode()


def tool_call(id: int, tool: str, **arguments: Any) -> bytes:
    return request(id, "tools/call", name=tool, arguments=arguments)


def handshake() -> bytes:
    client = {"name": "raw", "version": "1"}
    begin = request(0, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
    return begin + b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'


class Raw:
    """The server on bare pipes, past its handshake."""

    def __init__(self, server: Servers, *arguments: str, **options: Any) -> None:
        self.process = server.process(*arguments, **options)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin, self.stdout = self.process.stdin, self.process.stdout
        self.lines: list[dict[str, Any]] = []
        self.send(handshake())
        self.receive()

    def send(self, data: bytes) -> None:
        self.stdin.write(data)
        self.stdin.flush()

    def receive(self) -> dict[str, Any]:
        line = self.stdout.readline()
        assert line, "the server has gone"
        self.lines.append(json.loads(line))
        return self.lines[-1]

    def leave(self) -> tuple[int, str]:
        """The exit code and standard error, once it has gone; all of standard output must be the protocol."""
        began = time.monotonic()
        try:
            rest, errors = self.process.communicate(timeout=EXIT)
        finally:
            self.process.kill()
        assert time.monotonic() - began < EXIT
        self.lines += [json.loads(line) for line in rest.splitlines()]
        assert all(line["jsonrpc"] == "2.0" for line in self.lines)
        return self.process.returncode, errors.decode()


@pytest.mark.parametrize("way", ["end of input", "SIGTERM", "SIGINT"])
def test_the_server_leaves_when_asked_with_its_database_closed(server: Servers, way: str) -> None:
    raw = Raw(server)
    raw.send(tool_call(1, "memory_store", content="kept", type="learning"))
    assert not raw.receive()["result"]["isError"]
    if way == "end of input":
        raw.stdin.close()
        raw.process.stdin = None
    else:
        raw.process.send_signal(getattr(signal, way))
    assert raw.leave() == (0, "")
    assert not server.db.with_name("memory.db-journal").exists()
    assert damage(server.db) == []


def test_what_was_asked_before_the_input_ended_is_answered(server: Servers, sqlite: Sqlite) -> None:
    raw = Raw(server)
    raw.send(
        tool_call(6, "memory_stats")
    )  # the file is open then; to make it takes longer than the calls may
    raw.receive()
    raw.send(
        b"".join(tool_call(i, "memory_store", content=unlike(str(i)), type="error") for i in range(1, 6))
    )
    raw.stdin.close()
    raw.process.stdin = None
    assert raw.leave() == (0, "")
    answered = {line["id"] for line in raw.lines if not line.get("result", {}).get("isError")}
    assert answered == set(range(7))
    assert sqlite(server.db, "SELECT count(*) FROM memories") == "5"


@pytest.mark.parametrize("way", ["SIGTERM", "SIGINT"])
def test_the_server_leaves_though_its_client_does_not_read(server: Servers, sqlite: Sqlite, way: str) -> None:
    """Megabytes of answers fill the pipe, and the server blocks in the middle of one."""
    raw = Raw(server)
    raw.send(tool_call(1, "memory_store", content="x" * 5000, type="error"))
    raw.receive()
    for id in range(2, 60):
        raw.send(tool_call(id, "memory_get", ids=[1]))
    waiting = Path(f"/proc/{raw.process.pid}/task")
    if waiting.exists():
        until(
            lambda: "pipe_write" in waits(waiting) or not raw.process.stdout,
            "the server blocks on its full pipe",
            10,
        )
    raw.process.send_signal(getattr(signal, way))
    assert raw.process.wait(EXIT) == 0
    for pipe in (raw.stdin, raw.stdout, raw.process.stderr):
        assert pipe is not None
        with suppress(BrokenPipeError):
            pipe.close()
    assert sqlite(server.db, "PRAGMA integrity_check") == "ok"


def waits(tasks: Path) -> str:
    found = []
    for task in tasks.iterdir():
        with suppress(OSError):
            found.append((task / "wchan").read_text())
    return " ".join(found) or "pipe_write"


@pytest.mark.parametrize("way", ["SIGTERM", "SIGINT", "end of input"])
def test_the_server_leaves_while_it_waits_for_a_lock(server: Servers, sqlite: Sqlite, way: str) -> None:
    raw = Raw(server)
    raw.send(tool_call(1, "memory_store", content="kept", type="learning"))
    raw.receive()
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(server.db)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    raw.send(tool_call(2, "memory_store", content="waits for ever", type="error") + request(3, "ping"))
    assert raw.receive()["id"] == 3  # the server answers others while that call waits
    if way == "end of input":
        raw.stdin.close()
        raw.process.stdin = None
    else:
        raw.process.send_signal(getattr(signal, way))
    code, _ = raw.leave()
    holder.communicate(b"\n", timeout=20)
    assert code == 0
    assert sqlite(server.db, "SELECT content FROM memories", "PRAGMA integrity_check").split() == [
        "kept",
        "ok",
    ]


# What cannot be served


@pytest.mark.parametrize("kind", ["no database", "folder", "missing folder", "newer"])
async def test_a_file_that_cannot_be_served_is_told_in_each_answer(
    server: Servers, sqlite: Sqlite, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    reasons = {
        "no database": "is not a SQLite database",
        "folder": "is a folder",
        "missing folder": "does not exist|There is no database",
        "newer": "schema version 99",
    }
    if kind == "no database":
        server.db.write_text("Dear Ada, " * 1000)
    elif kind == "folder":
        server.db.unlink()
        server.db.mkdir()
    elif kind == "missing folder":
        server.db = server.folder / "a" / "b" / "memory.db"
    else:
        sqlite(server.db, "PRAGMA user_version = 99")
    async with server() as client:
        assert len((await client.list_tools()).tools) == 33
        for tool, arguments in (("memory_stats", {}), ("memory_store", {"content": "x", "type": "error"})):
            answer = await client.call_tool(tool, arguments)
            assert isinstance(answer, CallToolResult)
            assert answer.is_error
            assert re.search(reasons[kind], str(answer.content))
    for command in (["doctor"], ["backup", str(server.folder / "copy.db")]):
        assert main(["--db", str(server.db), *command]) == 1
        printed = capsys.readouterr()
        assert re.search(reasons[kind], printed.out + printed.err)


async def test_a_database_that_is_mended_is_served_without_a_restart(server: Servers) -> None:
    server.db = server.folder / "a" / "b" / "memory.db"
    async with server() as client:
        answer = await client.call_tool("memory_stats", {})
        assert isinstance(answer, CallToolResult)
        assert answer.is_error
        server.db.parent.mkdir(parents=True)
        assert (await call(client, "memory_store", content="now", type="error"))["id"] == 1
        assert (await call(client, "memory_search", query="now", mode="keyword"))["results"] != []
