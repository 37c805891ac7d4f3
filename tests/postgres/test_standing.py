"""The memories that matter most, and the moments and ends of memories, are on PostgreSQL what they are elsewhere."""

import json
from datetime import datetime, timedelta
from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_server.domain.caller import Caller
from memory_server.domain.edge import Edge, Relation
from memory_server.domain.memory import Filter, MemoryDraft, MemoryType
from memory_server.domain.moment import timestamp
from memory_server.domain.scoring import DECAY_PER_DAY, decayed_score
from memory_server.postgres.database import Database
from memory_server.storage.memory_rows import LASTING
from tests.conftest import Clock

CALLER = Caller("tests", "s1")

GIVEN = st.tuples(
    st.sampled_from(MemoryType),
    st.integers(1, 10),
    st.sampled_from([0, 0, 1, 2, 3, 6, 30, 62, 1000]),
    st.sampled_from([-400, -2, -0.5, 0, 0, 1, 14, 90, 700, 40_000]),
    st.sampled_from([None, None, "2026-01-01", "2027-01-01", 7, "never"]),
    st.booleans(),
)
"""Type, importance, accesses, age in days, when it ends, and whether another one supersedes it."""


@settings(max_examples=40)
@given(given=st.lists(GIVEN, max_size=14), limit=st.integers(1, 6), least=st.sampled_from([1, 5]))
def test_those_with_the_highest_score_are_found(
    tenant: Database, clock: Clock, given: list[tuple[Any, ...]], limit: int, least: int
) -> None:
    lasting = {None, "2027-01-01", "never"}
    with tenant.write() as tx:
        tx.execute("DELETE FROM memories")
        for type, importance, accesses, age, end, superseded in given:
            draft = MemoryDraft(
                "x",
                type,
                "shop",
                importance=importance,
                metadata={} if end is None else {"expires_at": end},
                occurred_at=timestamp(clock() - timedelta(days=age)),
            )
            memory = tx.memories.insert(draft, CALLER)
            tx.send("UPDATE memories SET access_count = %s WHERE id = %s", (accesses, memory.id))
            if superseded:
                other = tx.memories.insert(MemoryDraft("y", type, "blog"), CALLER)
                tx.edges.connect(Edge(other.id, memory.id, Relation.SUPERSEDES), CALLER)
        found = tx.standing.most_important("shop", limit, least)
        all_of_them = tx.candidates.newest(Filter(project="shop"), 99, 0)
        expected = sorted(
            (
                memory
                for memory in all_of_them
                if memory.importance >= least
                and memory.superseded_by is None
                and memory.metadata.get("expires_at") in lasting
            ),
            key=lambda memory: (decayed_score(memory, tx.now), memory.id),
            reverse=True,
        )
    assert [memory.id for memory in found if decayed_score(memory, tx.now) > 1e-9] == [
        memory.id for memory in expected[:limit] if decayed_score(memory, tx.now) > 1e-9
    ]
    assert len(found) == min(limit, len(expected))


def test_the_rates_are_those_of_the_domain(tenant: Database) -> None:
    with tenant.read() as tx:
        for type, rate in DECAY_PER_DAY.items():
            assert tx.value("SELECT decay_of(%s)", (type.value,)) == rate


MOMENTS = (
    "2026-01-01", "2026-02-30", "2026-02-32", "2026-13-01", "2026-01-01T10:00", "2026-01-01 10:00:00.5+02:00", "10:00",
    "24:00", "25:00", "nonsense", "", "2461000.5", "2461000", "-1", "5", "5373484.4", "9e9", "99999999999",
    "2026-01-01T10:00:00.000Z", "2026-01-01T10:00:00Z", "2026-01-01 24:30Z", "2026-01-01T10:00:60Z",
    "2026-01-01T10:00:00+15:00", "2026-01-01T10:00:00 -08:30", "2026-1-1", "01.02.2026", "9999-12-31T23:59:59.999Z",
    "2026-06-15 10:00:00.123456", "1767225600",
)  # fmt: skip


@pytest.mark.parametrize("given", MOMENTS)
def test_a_moment_is_read_as_sqlite_reads_it(tenant: Database, given: str) -> None:
    file = apsw.Connection(":memory:")
    expected = file.execute("SELECT strftime('%Y-%m-%dT%H:%M:%fZ', ?)", (given,)).get
    with tenant.read() as tx:
        found = tx.value("SELECT as_moment(%s)", (given,))
    assert found == (expected if expected is None or expected >= "0000-01-01" else "")


ENDS: tuple[object, ...] = (
    *MOMENTS,
    None,
    True,
    False,
    5,
    2461000.5,
    2461114,
    1767225600,
    [],
    {},
    "2027-01-01",
)


@pytest.mark.parametrize("end", ENDS, ids=repr)
def test_a_memory_ends_when_it_ends_in_sqlite(tenant: Database, end: object) -> None:
    file = apsw.Connection(":memory:")
    metadata = json.dumps({"expires_at": end, "other": "\x00"})
    with tenant.read() as tx:
        expected = file.execute(
            f"SELECT {LASTING} FROM (SELECT :metadata AS metadata)", {"metadata": metadata, "now": tx.now}
        ).get
        assert tx.value("SELECT lasts(%s, %s)", (metadata, tx.now)) == bool(expected)


def test_days_are_julian_days(tenant: Database) -> None:
    moment = "2026-03-14T09:26:53.589Z"
    seconds = (
        datetime.fromisoformat(moment) - datetime.fromisoformat("2023-02-25T00:00:00Z")
    ).total_seconds()
    with tenant.read() as tx:
        assert tx.value("SELECT days_of(%s)", (moment,)) == pytest.approx(seconds / 86_400, abs=1e-9)
