"""One record of many that breaks a rule: only it is undone, however early PostgreSQL's refusal arrives."""

import select

import pytest
from psycopg import generators

from memory_server.domain.caller import Caller
from memory_server.domain.memory import Filter, MemoryDraft, MemoryType
from memory_server.postgres.database import Database
from memory_server.postgres.tx import Tx

ANSWER = 20  # seconds


def refused_with_statements_behind(tx: Tx, number: int) -> None:
    """Send a statement that fails, wait until its answer is at hand but not read, and send `number` more behind it."""
    connection = tx.connection
    tx.send("SELECT 1 / 0")
    connection.pgconn.send_flush_request()
    connection.wait(generators.send(connection.pgconn))
    assert select.select([connection.fileno()], [], [], ANSWER)[0]
    for _ in range(number):
        tx.send("SELECT 1")


@pytest.mark.parametrize("number", [0, 1, 5])
def test_only_the_record_that_is_refused_is_undone(tenant: Database, number: int) -> None:
    with tenant.write() as tx:
        assert isinstance(tx, Tx)
        tx.memories.insert(MemoryDraft("Before it.", MemoryType.DECISION), Caller())
        refusal = tx.whole_rows.attempt(lambda: refused_with_statements_behind(tx, number))
        assert refusal == "division by zero"
        tx.memories.insert(MemoryDraft("Behind it.", MemoryType.DECISION), Caller())
    with tenant.read() as reading:
        contents = {memory.content for memory in reading.candidates.newest(Filter(), 100, 0)}
    assert contents == {"Before it.", "Behind it."}
