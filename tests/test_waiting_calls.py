"""While another program holds the write lock: reads, lists and a new server answer; the writes that wait succeed."""

import asyncio
import os
import threading
from typing import Any

import pytest
from mcp import Client

from memory_server.call import deadline
from memory_server.domain.caller import Caller
from memory_server.domain.fact import FactDraft, Scope
from memory_server.errors import Hint, Mend, Unavailable
from memory_server.services.facts import FactService
from memory_server.sqlite.database import Database
from tests.conftest import PATIENCE, Clock, Holder, Servers, Sqlite, call, until

pytestmark = pytest.mark.anyio

LOCK = "INSERT INTO memories (content, type) VALUES ('not committed', 'error')"
"""In a transaction that is open, this holds the write lock."""

WRITES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("memory_store", {"content": "A second one", "type": "error"}),
    ("write_memory", {"key": "a.key", "value": 2, "scope": "global"}),
    ("register_memory", {"message": "We spoke", "summary": "On harbours"}),
)
READS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("memory_get", {"ids": [1]}),
    ("memory_search", {"query": "harbour"}),
    ("read_memory", {"key": "a.key"}),
    ("list_memories", {}),
    ("smart_resume", {}),
    ("retrieve_memories", {"query": "harbour"}),
    ("memory_stats", {}),
)


async def prepare(client: Client) -> None:
    await call(client, "memory_store", content="The harbour opens at noon", type="learning")
    await call(client, "write_memory", key="a.key", value=1, scope="global")


async def arrived(client: Client) -> None:
    """What was asked before has reached the server: a later request has been answered."""
    for _ in range(2):
        await client.list_tools()


async def test_reads_answer_while_three_writes_wait_and_the_writes_succeed_afterwards(
    server: Servers, sqlite: Sqlite
) -> None:
    async with server() as client:
        await prepare(client)
        with Holder(server.db, LOCK):
            writes = [asyncio.create_task(call(client, tool, **arguments)) for tool, arguments in WRITES]
            await arrived(client)
            for tool, arguments in READS:
                answer = await call(client, tool, **arguments)
                assert answer
                assert not any(write.done() for write in writes), tool
            found = await call(client, "memory_get", ids=[1])
            assert found["memories"][0]["content"] == "The harbour opens at noon"
            assert (await call(client, "read_memory", key="a.key"))["memory"]["value"] == 1
            assert len((await client.list_tools()).tools) > 20
            assert not any(write.done() for write in writes)
        for write in writes:
            await write
        assert (await call(client, "read_memory", key="a.key"))["memory"]["value"] == 2
    assert sqlite(server.db, "SELECT content FROM memories ORDER BY id").splitlines() == [
        "The harbour opens at noon",
        "A second one",
    ]
    assert sqlite(server.db, "SELECT count(*) FROM turns") == "1"


async def test_a_search_while_the_file_is_locked_is_whole_and_is_counted_afterwards(
    server: Servers, sqlite: Sqlite
) -> None:
    async with server() as client:
        await prepare(client)
        with Holder(server.db, LOCK):
            found = await call(client, "memory_search", query="harbour opens noon", mode="keyword")
            assert [memory["id"] for memory in found["results"]] == [1]
            assert "degraded" not in found
            (memory,) = (await call(client, "memory_get", ids=[1]))["memories"]
            assert memory["access_count"] == 0
        until(lambda: sqlite(server.db, "SELECT access_count FROM memories") == "1", "the search is counted")


async def test_a_server_that_starts_while_writes_wait_answers_and_reads(server: Servers, era: str) -> None:
    async with server(name="first") as client:
        await prepare(client)
        with Holder(server.db, LOCK):
            write = asyncio.create_task(call(client, *WRITES[0][:1], **WRITES[0][1]))
            await arrived(client)
            async with server(name="second", mode=era) as second:
                assert len((await second.list_tools()).tools) > 20
                found = await call(second, "memory_get", ids=[1])
                assert found["memories"][0]["content"] == "The harbour opens at noon"
                found = await call(second, "memory_search", query="harbour", mode="keyword")
                assert [memory["id"] for memory in found["results"]] == [1]
                assert not write.done()
        await write


@pytest.mark.skipif(os.name == "nt", reason="SQLite's locks are others there")
async def test_a_server_answers_initialize_while_even_its_reads_are_locked_out(server: Servers) -> None:
    """An exclusive lock, as a program takes it that is about to write."""
    async with server() as client:
        await prepare(client)
    with Holder(server.db, "PRAGMA locking_mode = EXCLUSIVE; COMMIT; BEGIN EXCLUSIVE; SELECT 1"):
        async with server() as client:
            assert len((await client.list_tools()).tools) > 20
            read = asyncio.create_task(call(client, "memory_get", ids=[1]))
            await arrived(client)
            assert not read.done()
            read.cancel()


def test_a_call_behind_others_ends_with_what_keeps_it(file_database: Database) -> None:
    """The wait for this process's own calls counts too, and nothing is written when the time is over."""
    facts, caller = FactService(file_database), Caller("tests", "s1")
    inside, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with file_database.write():
            inside.set()
            leave.wait(PATIENCE)

    holder = threading.Thread(target=hold)
    holder.start()
    inside.wait(PATIENCE)
    with deadline.within(1), pytest.raises(Unavailable) as error:
        facts.write(FactDraft("a.key", 1), Scope.GLOBAL, caller)
    assert str(error.value) == (
        f"Other calls have kept {file_database.path} busy for 1 s. "
        "Often another program holds the file locked, such as an open sqlite3 transaction. Nothing was written."
    )
    assert error.value.problem.hints == (Hint(Mend.TRY_AGAIN),)
    assert facts.read("a.key", Scope.GLOBAL, (), caller) is None
    leave.set()
    holder.join()


def test_a_call_behind_another_program_ends_with_what_keeps_it(file_database: Database) -> None:
    assert file_database.path is not None
    facts, caller = FactService(file_database), Caller("tests", "s1")
    with (
        Holder(file_database.path, LOCK),
        deadline.within(0.5),
        pytest.raises(Unavailable, match=r"Another process has kept .* locked for longer") as error,
    ):
        facts.write(FactDraft("a.key", 1), Scope.GLOBAL, caller)
    assert error.value.problem.hints == (Hint(Mend.TRY_AGAIN),)
    assert facts.read("a.key", Scope.GLOBAL, (), caller) is None


def test_a_call_whose_time_is_over_writes_nothing_and_hinders_nobody(
    file_database: Database, clock: Clock
) -> None:
    assert file_database.path is not None
    facts, caller = FactService(file_database), Caller("tests", "s1")
    failed: list[Unavailable] = []

    def late() -> None:
        try:
            with deadline.within(0.2):
                facts.write(FactDraft("late.key", 1), Scope.GLOBAL, caller)
        except Unavailable as error:
            failed.append(error)

    with Holder(file_database.path, LOCK):
        threads = [threading.Thread(target=late) for _ in range(4)]
        for thread in threads:
            thread.start()
        until(lambda: len(failed) == 4, "all four give up")
        for thread in threads:
            thread.join()
    facts.write(FactDraft("a.key", 1), Scope.GLOBAL, caller)
    assert facts.read("late.key", Scope.GLOBAL, (), caller) is None


def test_the_time_of_a_call_ends_with_the_call(clock: Clock) -> None:
    with deadline.within(1):
        assert deadline.is_set()
    assert not deadline.is_set()
