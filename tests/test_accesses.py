"""Accesses are counted once a second: no search waits for a lock, and what is counted adds up in the file."""

import os
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.conftest import Terminal
from tests.conftest import Holder, Servers, Sqlite, call, damage, until
from tests.test_processes import Raw, tool_call

pytestmark = pytest.mark.anyio

HARBOUR = "The harbour opens at noon"
LOCK = "UPDATE memories SET importance = importance"


async def stored(server: Servers) -> None:
    async with server() as client:
        await call(client, "memory_store", content=HARBOUR, type="learning")
        await call(client, "write_memory", key="harbour.hours", value="from noon", scope="global")


def accesses(server: Servers, sqlite: Sqlite) -> int:
    return int(sqlite(server.db, "SELECT access_count FROM memories"))


async def test_two_servers_on_one_file_add_up(server: Servers, sqlite: Sqlite) -> None:
    await stored(server)
    async with server(name="one") as one, server(name="two") as two:
        for _ in range(5):
            await call(one, "memory_search", query="harbour opens noon")
            await call(two, "recall", query="when does the harbour open")
            await call(two, "read_memory", key="harbour.hours")
    assert accesses(server, sqlite) == 10
    assert sqlite(server.db, "SELECT access_count FROM facts") == "5"
    assert damage(server.db) == []


async def test_a_session_sees_its_own_accesses_at_once(server: Servers, sqlite: Sqlite) -> None:
    await stored(server)
    async with server() as client:
        for number in range(1, 4):
            await call(client, "memory_search", query="harbour opens noon")
            (memory,) = (await call(client, "memory_get", ids=[1]))["memories"]
            assert memory["access_count"] == number
            assert memory["accessed_at"] > memory["created_at"]
    assert accesses(server, sqlite) == 3


async def test_what_is_built_on_a_hit_at_once_counts_as_its_use(server: Servers, sqlite: Sqlite) -> None:
    await stored(server)
    async with server() as client:
        await call(client, "memory_search", query="harbour opens noon")
        await call(client, "memory_update", id=1, importance=8)
    assert sqlite(server.db, "SELECT how FROM memory_uses WHERE memory_id = 1") == "called"


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("way", ["end of input", "SIGTERM"])
async def test_a_server_that_leaves_writes_what_it_has_counted(
    server: Servers, sqlite: Sqlite, way: str
) -> None:
    await stored(server)
    raw = Raw(server)
    for number in range(1, 4):
        raw.send(tool_call(number, "memory_search", query="harbour opens noon"))
        assert not raw.receive()["result"]["isError"]
    if way == "end of input":
        raw.stdin.close()
        raw.process.stdin = None
    else:
        raw.process.send_signal(getattr(signal, way))
    assert raw.leave()[0] == 0
    assert accesses(server, sqlite) == 3


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
async def test_a_killed_server_loses_counts_of_the_last_second_and_no_memory(
    server: Servers, sqlite: Sqlite
) -> None:
    await stored(server)
    raw = Raw(server)
    raw.send(tool_call(1, "memory_search", query="harbour opens noon"))
    assert not raw.receive()["result"]["isError"]
    until(lambda: accesses(server, sqlite) == 1, "what was counted is in the file")
    raw.send(
        tool_call(2, "memory_store", content="The quay is long and its stones are grey", type="learning")
    )
    assert not raw.receive()["result"]["isError"]
    for number in range(3, 6):
        raw.send(tool_call(number, "memory_search", query="harbour opens noon"))
        assert not raw.receive()["result"]["isError"]
    raw.process.kill()
    raw.process.communicate()
    assert sqlite(server.db, "SELECT count(*) FROM memories") == "2"
    assert 1 <= int(sqlite(server.db, "SELECT access_count FROM memories WHERE id = 1")) <= 4
    assert damage(server.db) == []


async def test_no_search_waits_for_a_program_that_writes(server: Servers, sqlite: Sqlite) -> None:
    await stored(server)
    async with server() as client:
        await call(client, "memory_search", query="is the embedder there?", mode="semantic")
        with Holder(server.db, LOCK):
            for tool in ("memory_search", "recall"):
                assert "degraded" not in await call(client, tool, query="harbour opens noon")
            assert accesses(server, sqlite) == 0

        until(lambda: accesses(server, sqlite) >= 2, "the searches are counted")


async def test_a_read_only_server_counts_nothing(server: Servers, sqlite: Sqlite) -> None:
    await stored(server)
    async with server("--read-only") as client:
        await call(client, "memory_search", query="harbour opens noon")
        await call(client, "recall", query="when does the harbour open")
        await call(client, "retrieve_memories", query="Which port does the ferry gateway use?")
        (memory,) = (await call(client, "memory_get", ids=[1]))["memories"]
        assert memory["access_count"] == 0
    assert accesses(server, sqlite) == 0
    assert sqlite(server.db, "SELECT count(*) FROM open_questions") == "0"


@pytest.mark.parametrize(
    "question",
    [["search", "harbour", "opens", "noon"], ["recall", "when does the harbour open"]],
    ids=["search", "recall"],
)
async def test_a_command_writes_what_it_has_counted_at_its_end(
    server: Servers, sqlite: Sqlite, tmp_path: Path, question: Sequence[str]
) -> None:
    await stored(server)
    for number in (1, 2):
        assert HARBOUR in Terminal(server, tmp_path)(*question).out
        assert accesses(server, sqlite) == number
