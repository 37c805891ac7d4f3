"""The table `edges`: what it accepts, what keeps it whole, how it reads in the stock program, and by which index."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from memory_server.domain.caller import Caller
from memory_server.domain.edge import Direction, Edge, EdgeStep, Relation, Walk
from memory_server.domain.memory import MemoryDraft, MemoryId, MemoryType
from memory_server.errors import Conflict
from memory_server.sqlite.database import Database
from memory_server.sqlite.transaction import Transaction
from tests.conftest import ROOT, Clock, Sqlite, as_rows, damage

CALLER = Caller("tests")
SUPERSEDES = Relation.SUPERSEDES


def remember(tx: Transaction, number: int) -> None:
    for each in range(1, number + 1):
        tx.memories.insert(MemoryDraft(f"memory {each}", MemoryType.DECISION), CALLER)


def edge(source: int, target: int, relation: Relation = Relation.RELATED_TO, strength: float = 1.0) -> Edge:
    return Edge(MemoryId(source), MemoryId(target), relation, strength)


def ids(*numbers: int) -> list[MemoryId]:
    return [MemoryId(number) for number in numbers]


# What it accepts


def test_the_file_knows_the_relations_of_the_domain_and_no_other(database: Database) -> None:
    with database.write() as tx:
        remember(tx, 2)
        for relation in Relation:
            tx.edges.connect(edge(1, 2, relation), CALLER)
        assert tx.value("SELECT count(*) FROM edges") == len(Relation)
    with pytest.raises(Conflict), database.write() as tx:
        tx.execute("INSERT INTO edges (source_id, target_id, relation) VALUES (1, 2, 'likes')")


def test_an_edge_that_holds_is_unique_and_connecting_again_renews_its_strength(
    database: Database, clock: Clock
) -> None:
    with database.write() as tx:
        remember(tx, 2)
        first = tx.edges.connect(edge(1, 2, strength=0.3), CALLER)
    clock.advance(days=1)
    with database.write() as tx:
        again = tx.edges.connect(edge(1, 2, strength=0.7), Caller("another"))
        assert (first.strength, again.strength) == (0.3, 0.7)
        assert again.valid_from == first.valid_from
        assert tx.rows("SELECT created_by, count(*) FROM edges") == [("tests", 1)]
    with pytest.raises(Conflict), database.write() as tx:
        tx.execute("INSERT INTO edges (source_id, target_id, relation) VALUES (1, 2, 'related_to')")


def test_an_edge_that_ended_stays_and_the_same_can_hold_again(database: Database, clock: Clock) -> None:
    with database.write() as tx:
        remember(tx, 2)
        tx.edges.connect(edge(1, 2), CALLER)
    for _ in range(2):
        clock.advance(days=1)
        with database.write() as tx:
            ended = tx.edges.end(edge(1, 2))
            assert ended is not None
            assert ended.valid_to == tx.now
            assert tx.edges.end(edge(1, 2)) is None
            tx.edges.connect(edge(1, 2), CALLER)
    with database.read() as tx:
        assert tx.rows("SELECT substr(valid_from, 9, 2), substr(valid_to, 9, 2) FROM edges ORDER BY id") == [
            ("14", "15"),
            ("15", "16"),
            ("16", None),
        ]


@pytest.mark.parametrize("strength", [-0.01, 1.01])
def test_a_strength_out_of_range_is_refused_by_the_file_itself(database: Database, strength: float) -> None:
    with database.write() as tx:
        remember(tx, 2)
    with pytest.raises(Conflict), database.write() as tx:
        tx.edges.connect(edge(1, 2, strength=strength), CALLER)


# By hand, in the stock program


@pytest.fixture
def path(file_database: Database) -> Path:
    """A file with three memories in a row and an edge that ended."""
    with file_database.write() as tx:
        remember(tx, 3)
        tx.edges.connect(edge(1, 2, Relation.SOLVES, 0.9), CALLER)
        tx.edges.connect(edge(2, 3, Relation.DEPENDS_ON), CALLER)
        tx.edges.connect(edge(1, 3, Relation.EXAMPLE_OF), CALLER)
        tx.edges.end(edge(1, 3, Relation.EXAMPLE_OF))
    assert file_database.path is not None
    return file_database.path


def test_the_view_reads_as_sentences(path: Path, sqlite: Sqlite) -> None:
    columns = "subject, relation, object, strength, since, until"
    assert sqlite(path, f"SELECT {columns} FROM readable_edges ORDER BY id").splitlines() == [
        "memory 1|solves|memory 2|0.9|2026-03-14 09:26|-",
        "memory 2|depends on|memory 3|1.0|2026-03-14 09:26|-",
        "memory 1|example of|memory 3|1.0|2026-03-14 09:26|2026-03-14 09:26",
    ]


@pytest.mark.parametrize(
    "delete",
    ["DELETE FROM memories WHERE id = 2", "DELETE FROM memories WHERE content LIKE '%2'"],
)
def test_a_memory_deleted_by_hand_takes_its_edges_along(path: Path, sqlite: Sqlite, delete: str) -> None:
    sqlite(path, delete)
    assert sqlite(path, "SELECT source_id, target_id FROM edges") == "1|3"
    assert sqlite(path, "PRAGMA foreign_key_check") == ""


def test_all_memories_deleted_by_hand_leave_no_edge(path: Path, sqlite: Sqlite) -> None:
    sqlite(path, "DELETE FROM memories")
    assert sqlite(path, "SELECT count(*) FROM edges") == "0"


@pytest.mark.parametrize(
    "write",
    [
        "INSERT INTO edges (source_id, target_id, relation) VALUES (1, 99, 'causes')",
        "INSERT INTO edges (source_id, target_id, relation) VALUES (99, 1, 'causes')",
        "UPDATE edges SET target_id = 99 WHERE source_id = 1",
        "UPDATE edges SET source_id = 99 WHERE source_id = 1",
    ],
)
def test_an_edge_to_nowhere_cannot_be_written_by_hand(path: Path, sqlite: Sqlite, write: str) -> None:
    assert "must be ids of memories" in sqlite(path, write, fails=True)
    assert sqlite(path, "PRAGMA foreign_key_check") == ""


def test_an_edge_to_the_memory_itself_cannot_be_written_by_hand(path: Path, sqlite: Sqlite) -> None:
    sqlite(path, "INSERT INTO edges (source_id, target_id, relation) VALUES (1, 1, 'causes')", fails=True)


def test_an_edge_written_by_hand_holds_from_now_on_with_full_strength(path: Path, sqlite: Sqlite) -> None:
    sqlite(path, "INSERT INTO edges (source_id, target_id, relation) VALUES (3, 1, 'causes')")
    (row,) = as_rows(
        sqlite(
            path,
            ".mode json",
            "SELECT strength, valid_from LIKE '20__-__-__T__:__:__.___Z' AS iso, valid_to FROM edges"
            " WHERE source_id = 3",
        )
    )
    assert row == {"strength": 1.0, "iso": 1, "valid_to": None}


def test_a_row_replaced_by_hand_keeps_its_edges(path: Path, sqlite: Sqlite) -> None:
    sqlite(path, "INSERT OR REPLACE INTO memories (id, content, type) VALUES (2, 'another', 'error')")
    assert sqlite(path, "SELECT subject, object FROM readable_edges WHERE until = '-'").splitlines() == [
        "memory 1|another",
        "another|memory 3",
    ]


def test_a_file_of_the_version_before_loses_edges_to_nowhere_and_keeps_the_others(
    tmp_path: Path, clock: Clock
) -> None:
    folder = tmp_path / "migrations"
    folder.mkdir()
    for before in sorted((ROOT / "migrations").glob("*.sql"))[:2]:
        shutil.copy(before, folder)
    path = tmp_path / "memory.db"
    old = Database(path, clock, folder)
    with old.write() as tx:
        for number in (1, 2, 3):
            tx.execute("INSERT INTO memories (content, type) VALUES (?, 'error')", (f"memory {number}",))
    old.close()
    stock = apsw.Connection(str(path))
    stock.execute(
        "INSERT INTO edges (source_id, target_id, relation) VALUES (1, 2, 'causes'), (1, 9, 'causes'), (9, 2, 'causes')"
    )
    stock.close()
    database = Database(path, clock)
    with database.read() as tx:
        assert tx.rows("SELECT source_id, target_id FROM edges") == [(1, 2)]
    database.close()
    assert damage(path) == []


# What is asked of it


def test_steps_lead_over_the_strongest_edge_and_come_strongest_first(database: Database) -> None:
    with database.write() as tx:
        remember(tx, 6)
        for each in (
            edge(1, 3, strength=0.2), edge(2, 3, strength=0.8),  # the stronger one counts
            edge(2, 4, strength=0.9), edge(4, 1, Relation.CAUSES, 0.9),  # as strong: the older memory's
            edge(1, 5, strength=0.1), edge(5, 1, strength=1.0),  # there and back
            edge(3, 6), edge(1, 2),  # not next to 1 and 2; between them
        ):  # fmt: skip
            tx.edges.connect(each, CALLER)
        steps, found = tx.edges.steps(ids(1, 2), ids(1, 2), Walk(), 10)
        assert [(step.here, step.there) for step in steps] == [(1, 5), (1, 4), (2, 3)]
        assert found == 3
        assert tx.edges.steps(ids(1, 2), ids(1, 2), Walk(direction=Direction.IN), 10)[0] == [
            EdgeStep(MemoryId(1), MemoryId(5)), EdgeStep(MemoryId(1), MemoryId(4))
        ]  # fmt: skip
        assert tx.edges.steps(ids(1, 2), ids(1, 2), Walk(Relation.CAUSES, Direction.OUT), 10) == ([], 0)


@pytest.mark.parametrize(("limit", "shown"), [(0, 0), (1, 1), (2, 2), (3, 3), (4, 3)])
def test_steps_beyond_the_limit_are_counted(database: Database, limit: int, shown: int) -> None:
    with database.write() as tx:
        remember(tx, 4)
        for target in (2, 3, 4):
            tx.edges.connect(edge(1, target), CALLER)
        steps, found = tx.edges.steps(ids(1), ids(1), Walk(), limit)
        assert (len(steps), found) == (shown, 3)


def test_the_strongest_edges_go_either_way_hold_and_supersede_nothing(database: Database) -> None:
    with database.write() as tx:
        remember(tx, 6)
        weak, strong, back = (
            edge(1, 2, strength=0.2),
            edge(1, 3, strength=0.9),
            edge(4, 1, Relation.SOLVES, 0.5),
        )
        for each in (
            weak,
            strong,
            back,
            edge(5, 1, SUPERSEDES),
            edge(1, 5, SUPERSEDES),
            edge(1, 6),
            edge(2, 3),
        ):
            tx.edges.connect(each, CALLER)
        tx.edges.end(edge(1, 6))
        found = tx.edges.strongest(MemoryId(1), 10)
        assert [str(each) for each in found] == ["1 related_to 3", "4 solves 1", "1 related_to 2"]
        assert [each.other_end(MemoryId(1)) for each in found] == [3, 4, 2]
        assert tx.edges.strongest(MemoryId(1), 2) == found[:2]


def test_a_moment_is_told_from_another_however_a_person_wrote_it(database: Database) -> None:
    """As text a zone, a space or a bare date would put these edges in another order."""
    spans = {
        "2026-03-14 12:00:00": None,
        "2026-03-14T13:00:00+02:00": None,  # eleven
        "2026-03-14": "2026-03-14 11:30:00",
    }
    with database.write() as tx:
        remember(tx, 4)
        for target, (since, until) in enumerate(spans.items(), start=2):
            tx.execute(
                "INSERT INTO edges (source_id, target_id, relation, valid_from, valid_to)"
                " VALUES (1, ?, 'causes', ?, ?)",
                (target, since, until),
            )

        def at(moment: str) -> list[int]:
            return sorted(
                each.target for each in tx.edges.between(ids(1, 2, 3, 4), Walk(at=f"2026-03-14T{moment}Z"))
            )

        assert at("10:59:59.999") == [4]
        assert at("11:00:00.000") == [3, 4]
        assert at("11:30:00.000") == [3]
        assert at("12:00:00.000") == [2, 3]
        assert at("00:00:00.000") == [4]


def test_the_successor_is_the_one_that_superseded_last_and_lines_are_followed(
    database: Database, clock: Clock
) -> None:
    with database.write() as tx:
        remember(tx, 5)
    moments = []
    for new, old in [(3, 1), (2, 1), (4, 2), (5, 4)]:
        clock.advance(days=1)
        with database.write() as tx:
            tx.edges.connect(edge(new, old, Relation.SUPERSEDES), CALLER)
            tx.edges.connect(edge(new, old, Relation.EXTENDS), CALLER)
            moments.append(tx.now)
    with database.read() as tx:
        assert tx.edges.successors(ids(1)) == {1: 2, 2: 4, 4: 5}
        assert tx.edges.successors(ids(4, 5)) == {4: 5}
        assert tx.edges.successors(ids(3, 5)) == {}
        assert tx.edges.successors(ids(1), moments[0]) == {1: 3}
        assert tx.edges.successors(ids(1), moments[2]) == {1: 2, 2: 4}
        assert [each.superseded_by for each in tx.memories.select(ids(1, 2, 3, 4, 5))] == [
            2,
            4,
            None,
            5,
            None,
        ]
        assert tx.edges.supersedes(MemoryId(5), MemoryId(1))
        assert tx.edges.supersedes(MemoryId(3), MemoryId(1))
        assert not tx.edges.supersedes(MemoryId(1), MemoryId(5))


def test_a_circle_made_by_hand_ends_every_question(database: Database) -> None:
    with database.write() as tx:
        remember(tx, 4)
        for new, old in [(2, 1), (1, 2), (3, 2)]:
            tx.edges.connect(edge(new, old, Relation.SUPERSEDES), CALLER)
        assert tx.edges.successors(ids(1)) == {1: 2, 2: 3}
        assert tx.edges.supersedes(MemoryId(1), MemoryId(1))
        assert not tx.edges.supersedes(MemoryId(1), MemoryId(4))


# By which index


WALKS = {
    "now": Walk(),
    "out": Walk(direction=Direction.OUT),
    "in": Walk(Relation.CAUSES, Direction.IN),
    "as of": Walk(Relation.CAUSES, Direction.BOTH, "2026-03-14"),
}
ASKED: dict[str, Callable[[Transaction, Walk], Any]] = {
    "steps": lambda tx, walk: tx.edges.steps(ids(1, 2), ids(1, 2), walk, 10),
    "between": lambda tx, walk: tx.edges.between(ids(1, 2), walk),
    "successors": lambda tx, walk: tx.edges.successors(ids(1, 2), walk.at),
    "strongest": lambda tx, walk: tx.edges.strongest(MemoryId(1), 3),
    "supersedes": lambda tx, walk: tx.edges.supersedes(MemoryId(1), MemoryId(2)),
    "what a memory is superseded by": lambda tx, walk: tx.memories.select(ids(1, 2)),
}


@pytest.mark.parametrize("walk", WALKS.values(), ids=WALKS)
@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_no_question_reads_the_whole_table(
    database: Database, asked: Callable[[Transaction, Walk], Any], walk: Walk
) -> None:
    with database.read() as tx:
        seen: list[tuple[str, Any]] = []

        def trace(_: object, sql: str, values: Any) -> bool:
            seen.append((sql, values or ()))
            return True

        tx.connection.exec_trace = trace
        try:
            asked(tx, walk)
        finally:
            tx.connection.exec_trace = None
        plans = [row[3] for sql, values in seen for row in tx.rows(f"EXPLAIN QUERY PLAN {sql}", values)]
    assert [plan for plan in plans if plan.startswith("SCAN edges") or plan == "SCAN memories"] == []
    assert any(plan.startswith("SEARCH edges USING") for plan in plans)


def test_deleting_a_memory_finds_its_edges_by_index(database: Database) -> None:
    with database.read() as tx:
        plans = tx.rows("EXPLAIN QUERY PLAN DELETE FROM edges WHERE source_id = 1 OR target_id = 1")
    assert not [plan[3] for plan in plans if plan[3].startswith("SCAN")]
