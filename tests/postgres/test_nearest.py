"""The nearest vectors: all are compared if they are few, an index chooses if they are many."""

from collections.abc import Iterator

import numpy as np
import pytest

from memory_server.domain.embedding import Embedded, Space, Vector
from memory_server.domain.fact import FactFilter
from memory_server.domain.memory import Filter
from memory_server.postgres.database import Database
from memory_server.postgres.embedded import as_text
from memory_server.postgres.nearest import EXACT, NearestQuery
from memory_server.postgres.transaction import Transaction
from memory_server.storage.vectors import SEARCHING, TABLES, TextFilter
from memory_server.where import Postgres
from tests.conftest import Clock
from tests.postgres import plans
from tests.postgres_server import new_database

SPACE = Space("hashing", "m", "1", 16, "", "", "", True, True, "f")
MANY = EXACT + 2_000
FEW = 100
"""Texts of the project that is small."""

KINDS: dict[Embedded, tuple[str, TextFilter, TextFilter]] = {
    Embedded.TURNS: (
        f"""
        INSERT INTO turns (id, message, summary, project)
        SELECT n, 'm', 's', CASE WHEN n <= {FEW} THEN 'small' ELSE '' END FROM generate_series(1, {MANY}) AS n
        """,
        Filter(),
        Filter(project="small"),
    ),
    Embedded.FACTS: (
        f"""
        INSERT INTO facts (id, scope, owner, key, value)
        SELECT n, 'project', CASE WHEN n <= {FEW} THEN 'small' ELSE 'p' END, n, '1' FROM generate_series(1, {MANY}) AS n
        """,
        FactFilter(),
        FactFilter(since="2999-01-01T00:00:00.000Z"),
    ),
}
"""How many texts of a kind are made, what wants all, and what wants few."""


@pytest.fixture(scope="module")
def filled() -> Iterator[Database]:
    """Texts with vectors that lie anywhere. Do not change it."""
    place = Postgres(new_database())
    database = Database(place, Clock())
    with database.write() as tx:
        space = tx.spaces.open(SPACE).id
        for kind, (rows, _, _) in KINDS.items():
            tx.send(rows)
            for table in TABLES[kind].embedded.values():
                tx.send(
                    f"""
                    INSERT INTO {table} (space_id, {TABLES[kind].id}, vector)
                    SELECT %s, id, vector::vector FROM unnest(%s::bigint[], %s::text[]) AS given (id, vector)
                    """,
                    (space, list(range(1, MANY + 1)), [as_text(each) for each in vectors()]),
                )
    plans.analyze(place.url)
    yield database
    database.close()


def vectors() -> list[Vector]:
    """Of each text one, in the order of their ids."""
    return list(np.random.default_rng(1).standard_normal((MANY, SPACE.dimensions)).astype(np.float32))


def used(tx: Transaction, kind: Embedded, query: Vector, wanted: TextFilter) -> set[str]:
    """The indexes of vectors that are looked through."""
    with plans.asked() as statements:
        NearestQuery(tx, kind, 1, query, wanted, 10, SEARCHING).cosines()
    nodes = [node for plan in plans.plans(tx, statements) for node in plans.nodes(plan)]
    return {
        node["Index Name"]
        for node in nodes
        if "by_meaning" in node.get("Index Name", "") and node["Actual Loops"]
    }


@pytest.mark.parametrize("kind", KINDS)
def test_an_index_chooses_among_many_and_finds_nearly_all(filled: Database, kind: Embedded) -> None:
    given = np.array(vectors())
    unit = given / np.linalg.norm(given, axis=1, keepdims=True)
    found = 0
    with filled.read() as tx:
        for query in unit[::1000]:
            nearest = tx.embeddings.nearest(kind, 1, query, KINDS[kind][1], 10)
            best = np.argsort(-(unit @ query))[:10] + 1
            found += len(set(best.tolist()) & set(nearest))
        assert found >= 0.95 * 10 * len(unit[::1000])
        assert used(tx, kind, unit[0], KINDS[kind][1]) == {
            f"{table}_by_meaning_{SPACE.dimensions}" for table in TABLES[kind].embedded.values()
        }


@pytest.mark.parametrize("kind", KINDS)
def test_where_few_are_wanted_all_of_them_are_compared(filled: Database, kind: Embedded) -> None:
    with filled.read() as tx:
        assert used(tx, kind, vectors()[0], KINDS[kind][2]) == set()


def test_the_project_of_a_few_texts_is_found_whole(filled: Database) -> None:
    with filled.read() as tx:
        nearest = tx.embeddings.nearest(Embedded.TURNS, 1, vectors()[-1], Filter(project="small"), 2 * FEW)
    assert set(nearest) == set(range(1, FEW + 1))
