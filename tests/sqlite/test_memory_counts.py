"""The counts of memories are right after whatever is done to the tables by hand; where they are not, doctor says so."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_server.domain.caller import Caller
from memory_server.domain.forgetting import Kind
from memory_server.sqlite.database import Database
from memory_server.sqlite.transaction import Transaction
from tests.conftest import Clock, Servers, Sqlite, problems, rounds, undone

BY_HAND = [
    "INSERT INTO memories (content, type, project, importance) VALUES ('x', 'error', 'p', 3)",
    "INSERT INTO memories (content, type, replaced) VALUES ('x', 'decision', 1)",
    "INSERT INTO memories (id, content, type, project) VALUES (-1, 'x', 'error', 'q') ON CONFLICT DO NOTHING",
    "INSERT OR REPLACE INTO memories (id, content, type, project) VALUES ({id}, 'y', 'pattern', 'q')",
    "INSERT OR REPLACE INTO memories (id, content, type, project, importance) VALUES ({id}, 'y', 'error', 'p', 3)",
    "INSERT OR IGNORE INTO memories (id, content, type, project) VALUES ({id}, 'y', 'pattern', 'q')",
    "INSERT INTO memories (id, content, type) VALUES ({id}, 'y', 'error') ON CONFLICT DO UPDATE SET importance = 9",
    "DELETE FROM memories WHERE id = {id}",
    "DELETE FROM memories WHERE id % 2 = {other} % 2",
    "UPDATE memories SET project = 'q' WHERE id = {id}",
    "UPDATE memories SET project = NULL, type = 'learning', importance = 10",
    "UPDATE memories SET importance = 3, type = 'error' WHERE id = {id}",
    "UPDATE memories SET replaced = 1 - replaced WHERE id <> {id}",
    "UPDATE projects SET name = 'r' || id WHERE name = 'p'",
    "INSERT OR IGNORE INTO edges (source_id, target_id, relation) SELECT {id}, {other}, 'supersedes' {there}",
    "INSERT OR IGNORE INTO edges (source_id, target_id, relation) SELECT {id}, {other}, 'summarizes' {there}",
    "INSERT OR REPLACE INTO edges (source_id, target_id, relation) SELECT {id}, {other}, 'supersedes' {there}",
    "INSERT OR IGNORE INTO edges (source_id, target_id, relation) SELECT {id}, {other}, 'causes' {there}",
    "UPDATE edges SET valid_to = '2026-01-01' WHERE target_id = {other}",
    "UPDATE OR IGNORE edges SET valid_to = NULL WHERE target_id = {other}",
    "UPDATE OR IGNORE edges SET relation = 'supersedes' WHERE source_id = {id}",
    "UPDATE OR IGNORE edges SET relation = 'extends' WHERE source_id = {id}",
    "UPDATE OR IGNORE edges SET target_id = {id} {there} AND target_id = {other} AND source_id <> {id}",
    "DELETE FROM edges WHERE target_id = {other}",
    "trash",
    "restore",
]
THERE = "WHERE {id} <> {other} AND (SELECT count(*) FROM memories WHERE id IN ({id}, {other})) = 2"


def counted(tx: Transaction) -> tuple[list[str], int]:
    """What is wrong with the counts, and how many memories they say there are."""
    return tx.memory_counts.wrong(), tx.memory_counts.total()


def take(tx: Transaction, step: str, id: int, other: int) -> None:
    match step:
        case "trash":
            tx.trash.put(Kind.MEMORY, [id], Caller())
        case "restore":
            for trashed in tx.trash.select(Kind.MEMORY)[:1]:
                if tx.value("SELECT 1 FROM memories WHERE id = ?", (trashed.item_id,)) is None:
                    tx.trash.restore(trashed)
        case _:
            there = THERE.format(id=id, other=other)
            tx.connection.execute(step.format(id=id, other=other, there=there))


@pytest.mark.parametrize("recursive", [0, 1])
@settings(max_examples=rounds(60))
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(BY_HAND), st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=14
    )
)
def test_whatever_is_done_by_hand_is_counted(
    database: Database, recursive: int, steps: list[tuple[str, int, int]]
) -> None:
    with undone(database) as tx:
        tx.execute(f"PRAGMA recursive_triggers = {recursive}")
        first = tx.value("SELECT ifnull(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'memories'")
        for _ in range(4):
            take(tx, BY_HAND[0], 0, 0)
        for step, id, other in steps:
            take(tx, step, first + id, first + other)
            assert counted(tx) == ([], tx.value("SELECT count(*) FROM memories")), step
        assert tx.rows("SELECT * FROM memory_counts WHERE number = 0") == []
    with database.write() as tx:
        tx.execute("PRAGMA recursive_triggers = 0")


def test_the_names_of_projects_go_with_their_last_memory(database: Database) -> None:
    with undone(database) as tx:
        take(tx, BY_HAND[0], 0, 0)
        take(tx, "INSERT OR IGNORE INTO memories (id, content, type) VALUES (1, 'x', 'error')", 0, 0)
        tx.execute("DELETE FROM memories")
        assert (
            tx.rows("SELECT project FROM memory_counts UNION ALL SELECT project FROM memory_overwritten")
            == []
        )


def test_doctor_finds_wrong_counts_and_mends_them(
    server: Servers, sqlite: Sqlite, tmp_path: Path, clock: Clock
) -> None:
    path = tmp_path / "memory.db"
    database = Database(path, clock)
    with database.write() as tx:
        for _ in range(3):
            take(tx, BY_HAND[0], 0, 0)
        take(tx, "INSERT INTO edges (source_id, target_id, relation) VALUES (1, 2, 'supersedes')", 0, 0)
    database.close()
    trigger = sqlite(path, "SELECT sql FROM sqlite_schema WHERE name = 'memories_set_replaced'")
    sqlite(
        path,
        "DROP TRIGGER memories_set_replaced; UPDATE memories SET replaced = 1; UPDATE memory_counts SET number = 7",
    )
    sqlite(path, trigger)
    database = Database(path, clock)
    assert problems(database) == [
        "2 memories are marked wrongly as replaced by others or not",
        "the counts of memories are wrong",
    ]
    database.close()
    with server.process("doctor", "--fix", stdin=None) as process:
        said, _ = process.communicate(timeout=60)
    assert b"fixed       the memories were counted anew" in said
    database = Database(path, clock)
    assert problems(database) == []
    with database.read() as tx:
        assert tx.rows("SELECT * FROM memory_counts") == [("p", "error", 3, "", 3, 1)]
    database.close()
