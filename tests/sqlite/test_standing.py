"""What a briefing considers is what a sort of all memories would find, without a look at all of them."""

from collections.abc import Callable
from datetime import timedelta
from math import log, log2

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_server.domain.briefing.context import Part
from memory_server.domain.caller import Caller
from memory_server.domain.memory import MemoryType
from memory_server.domain.moment import timestamp
from memory_server.domain.scoring import decayed_score
from memory_server.nlp import Segmenter
from memory_server.project import Project
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.memories import MemoryService
from memory_server.services.resume import ResumeService, Wording
from memory_server.sqlite import standing
from memory_server.sqlite.database import Database
from memory_server.sqlite.transaction import Transaction
from memory_server.sqlite.tx import Tx, Value
from memory_server.storage.memory_rows import LASTING
from tests.conftest import Clock, rounds, undone

REFERENCE = f"""
    SELECT id
    FROM memories
    WHERE ifnull(project, '') = :project AND importance >= :least AND {LASTING}
        AND id NOT IN (
            SELECT target_id FROM edges WHERE relation IN ('supersedes', 'summarizes') AND valid_to IS NULL
        )
    ORDER BY {standing.SCORE} DESC, id DESC
    LIMIT :limit
"""
"""Every memory is scored, and all are sorted."""

Row = tuple[MemoryType, int, int, timedelta, str | None, bool]

ROWS = st.tuples(
    st.sampled_from(MemoryType),
    st.integers(1, 10),
    st.integers(0, 4) | st.integers(30, 130) | st.integers(0, 2**60),
    st.integers(-3, 60).map(lambda days: timedelta(days=days))
    | st.timedeltas(timedelta(-90), timedelta(40_000)),
    st.sampled_from([None, "p", "q"]),
    st.booleans(),
)
"""Type, importance, accesses, age, project, and whether it has expired. Many memories are equal in all of these."""


def sorted_all(tx: Tx, project: str, limit: int, least: int) -> list[int]:
    asked: dict[str, Value] = {"project": project, "limit": limit, "least": least, "now": tx.now}
    return [id for (id,) in tx.rows(REFERENCE, asked)]


def insert(tx: Transaction, number: int, row: Row) -> None:
    type, importance, accesses, age, project, expired = row
    occurred = timestamp(Clock().now - age)
    tx.execute(
        """
        INSERT INTO memories (content, type, importance, access_count, created_at, occurred_at, project, metadata)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        """,
        (
            f"text {number}", type.value, importance, accesses, tx.now if number % 2 else occurred,
            occurred if number % 2 else None, project, '{"expires_at": "2026-01-01"}' if expired else "{}",
        ),
    )  # fmt: skip


@settings(max_examples=rounds(50))
@given(
    kinds=st.lists(ROWS, min_size=1, max_size=12),
    picks=st.lists(st.integers(0, 11), max_size=60),
    replaced=st.sets(st.integers(1, 60)),
    limit=st.integers(1, 20),
    least=st.sampled_from([1, 7]),
)
def test_the_most_important_memories_are_those_that_a_sort_of_all_would_find(
    database: Database, kinds: list[Row], picks: list[int], replaced: set[int], limit: int, least: int
) -> None:
    with undone(database) as tx:
        for number, pick in enumerate(picks):
            insert(tx, number, kinds[pick % len(kinds)])
        tx.execute(
            "INSERT INTO memories (id, content, type, project) VALUES (9999, 'newer', 'error', 'other')"
        )
        for id in replaced:
            tx.execute(
                """
                INSERT INTO edges (source_id, target_id, relation)
                SELECT 9999, id, iif(id % 2, 'supersedes', 'summarizes')
                FROM memories
                WHERE id = (SELECT min(id) FROM memories) + ?
                """,
                (id,),
            )
        for project in ("p", "q", ""):
            found = tx.standing.most_important(project, limit, least)
            assert [memory.id for memory in found] == sorted_all(tx, project, limit, least)
            scores = [decayed_score(memory, tx.now) for memory in found]
            assert scores == pytest.approx(sorted(scores, reverse=True), rel=1e-6, abs=1e-12)


def test_the_order_of_accesses_is_exact_where_there_are_few_and_never_too_low(database: Database) -> None:
    counts = [*range(200), 253, 254, 255, 1022, 1023, 4094, 4095, 65534, 65535, 2**40, 2**63 - 1]
    with undone(database) as tx:
        for count in counts:
            insert(tx, 0, (MemoryType.ERROR, 5, count, timedelta(), "p", False))
        day = tx.value("SELECT julianday(?) - 2460000.5", (timestamp(Clock().now),))
        found = dict(tx.rows("SELECT access_count, standing FROM memories"))
    over = {count: found[count] - 0.01 * day - log(log2(count + 2)) for count in counts}
    assert max(abs(over[count]) for count in counts if count <= standing.EXACT) < 1e-13
    assert min(over.values()) > -1e-13


def steps(database: Database, asked: Callable[[], object]) -> int:
    """Instructions that SQLite executes for a question."""
    taken = 0

    def add(event: dict[str, object]) -> None:
        nonlocal taken
        status = event["stmt_status"]
        assert isinstance(status, dict)
        taken += int(status["SQLITE_STMTSTATUS_VM_STEP"])

    with database.read() as tx:
        connection = tx.connection
    connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, add)
    try:
        asked()
    finally:
        connection.trace_v2(0)
    return taken


@pytest.mark.parametrize(
    "age", ["'2026-03-01T00:00:00.000Z'", "datetime('2026-03-01', (-value * 7 % 900) || ' days')"]
)
def test_neither_a_briefing_nor_the_statistics_take_more_in_a_larger_file(
    database: Database, queue: EmbeddingQueue, segmenter: Segmenter, age: str
) -> None:
    """Memories of one moment, as an import leaves them, and of many; every tenth is superseded by the one after it."""
    here = Caller("Claude", "s1", Project("p", "p"))
    resume, memories = ResumeService(database), MemoryService(database, queue, segmenter)
    wording = Wording("", lambda _: 0)

    def fill(first: int, last: int) -> None:
        with database.write() as tx:
            tx.execute(
                f"""
                WITH RECURSIVE numbers (value) AS (SELECT ? UNION ALL SELECT value + 1 FROM numbers WHERE value < ?)
                INSERT INTO memories (id, content, type, importance, access_count, project, created_at)
                SELECT
                    value, 'text ' || value,
                    json_extract('["observation", "decision", "learning", "error", "pattern", "preference"]',
                        '$[' || (value % 6) || ']'),
                    1 + value * 7 % 10, value * 5 % 4, iif(value % 3, 'p', NULL), {age}
                FROM numbers
                """,
                (first, last),
            )
            tx.execute(
                """
                INSERT INTO edges (source_id, target_id, relation)
                SELECT id + 1, id, 'supersedes' FROM memories WHERE id % 10 = 5 AND id BETWEEN ? AND ?
                """,
                (first, last - 1),
            )
            tx.execute("DELETE FROM embedding_queue")

    taken = []
    for first, last in ((1, 600), (601, 6000)):
        fill(first, last)
        taken.append(
            (
                steps(database, lambda: resume.resume(500, frozenset[Part](), wording, here)),
                steps(database, lambda: memories.statistics(None, here)),
            )
        )
    (briefing, counts), (larger_briefing, larger_counts) = taken
    assert larger_counts <= 1.1 * counts
    assert larger_briefing <= 1.5 * briefing
    with database.read() as tx:
        assert [each.id for each in tx.standing.most_important("p", 30)] == sorted_all(tx, "p", 30, 1)
