"""Spaces, vectors, bits and the queue: nearest in meaning, and never a stale or missing vector unnoticed."""

import zlib
from collections.abc import Iterator
from dataclasses import replace

import apsw
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_server.domain.embedding import Embedded, Space, Vector
from memory_server.domain.memory import Filter, MemoryId, MemoryType
from memory_server.sqlite import plain_vectors, vectors
from memory_server.sqlite.database import Database
from memory_server.sqlite.transaction import Transaction
from memory_server.storage.vectors import SEARCHING, Waiting
from tests.conftest import Clock, InMemory, Sqlite, undone

DIMENSIONS = 64
FIRST = Space("hashing", "first", "1", DIMENSIONS, "", "", "", True, True, "fingerprint-1")
SECOND = replace(FIRST, model="second", fingerprint="fingerprint-2")
MANY = settings(max_examples=100)


def unit(vector: "np.typing.ArrayLike") -> Vector:
    array = np.asarray(vector, dtype=np.float64)
    made: Vector = (array / np.linalg.norm(array)).astype(np.float32)
    return made


def vector_of(text: str) -> Vector:
    return unit(np.random.default_rng(zlib.crc32(f"vector of {text}".encode())).normal(size=DIMENSIONS))


def put(
    tx: Transaction, text: str, project: str | None = None, type: str = "error", importance: int = 5
) -> MemoryId:
    tx.execute(
        "INSERT INTO memories (content, type, project, importance, tags) VALUES (?, ?, ?, ?, json_array(?))",
        (text, type, project, importance, f"tag {text[-1]}"),
    )
    return MemoryId(tx.value("SELECT max(id) FROM memories"))


def embed_all(tx: Transaction, space_id: int) -> None:
    for waiting in tx.spaces.waiting(space_id, Embedded.MEMORIES, 100_000):
        tx.embeddings.insert(space_id, waiting, list(map(vector_of, waiting.texts)))


def filled(database: Database, number: int) -> int:
    """A space with so many memories and their vectors."""
    with database.write() as tx:
        space = tx.spaces.open(FIRST)
        for i in range(number):
            put(tx, f"text {i}", (None, "p", "q")[i % 3], ("error", "decision")[i % 2], 1 + i % 10)
        embed_all(tx, space.id)
    return space.id


def ids(
    tx: Transaction,
    space_id: int,
    query: Vector,
    wanted: Filter = Filter(),  # noqa: B008
    limit: int = 10,
    exact: int = SEARCHING.exact,
) -> list[int]:
    effort = replace(SEARCHING, exact=exact)
    return list(tx.embeddings.nearest(Embedded.MEMORIES, space_id, query, wanted, limit, effort))


# The two engines


@pytest.fixture
def engines() -> Iterator[tuple[apsw.Connection, apsw.Connection]]:
    """A connection with sqlite-vec, and one with the same functions in Python."""
    native, python = apsw.Connection(":memory:"), apsw.Connection(":memory:")
    vectors.install(native)
    plain_vectors.install(python)
    if not vectors.engine(native).startswith("sqlite-vec"):
        pytest.skip("sqlite-vec cannot load here")
    yield native, python
    native.close()
    python.close()


FLOATS = st.lists(st.floats(-1, 1, width=32), min_size=16, max_size=16).filter(
    lambda v: any(abs(x) > 1e-3 for x in v)
)


@MANY
@given(FLOATS, FLOATS)
def test_both_vector_engines_compute_the_same(
    engines: tuple[apsw.Connection, apsw.Connection], left: list[float], right: list[float]
) -> None:
    a, b = unit(left).astype("<f4").tobytes(), unit(right).astype("<f4").tobytes()
    native, python = (
        each.execute(
            """
            SELECT
                vec_quantize_binary(:a),
                vec_distance_hamming(vec_bit(vec_quantize_binary(:a)), vec_bit(vec_quantize_binary(:b))),
                round(1 - vec_distance_cosine(:a, :b), 5)
            """,
            {"a": a, "b": b},
        ).get
        for each in engines
    )
    assert native[:2] == python[:2]
    assert native[2] == pytest.approx(python[2], abs=1.1e-5)


@pytest.mark.parametrize("exact", [5_000, 100])
@pytest.mark.parametrize(
    "wanted",
    [
        Filter(),
        Filter(project="p"),
        Filter(project=""),
        Filter(type=MemoryType.DECISION, min_importance=4),
        Filter(tags=("TAG 3", "tag 4")),
    ],
    ids=["all", "project", "no project", "type and importance", "tags"],
)
def test_both_vector_engines_find_the_same_memories(
    monkeypatch: pytest.MonkeyPatch, exact: int, wanted: Filter, clock: Clock
) -> None:
    answers = []
    for install in (vectors.install, plain_vectors.install):
        monkeypatch.setattr(vectors, "install", install)
        database = InMemory(clock)
        space_id = filled(database, 1500)
        with database.read() as tx:
            answers.append([ids(tx, space_id, vector_of(f"query {i}"), wanted, 20, exact) for i in range(10)])
        database.close()
    assert answers[0] == answers[1]
    assert all(len(answer) == 20 for answer in answers[0])


def test_the_nearest_are_those_of_the_exact_cosine(database: Database) -> None:
    space_id = filled(database, 300)
    query = vector_of("query")
    cosine = {i + 1: float(np.dot(vector_of(f"text {i}"), query)) for i in range(300)}
    best = sorted(cosine, key=lambda id: -cosine[id])[:10]
    with database.read() as tx:
        assert ids(tx, space_id, query) == best
        found = tx.embeddings.cosines(space_id, query, [MemoryId(best[0]), MemoryId(999)])
    assert found == {best[0]: pytest.approx(cosine[best[0]], abs=1e-4)}


def test_above_the_limit_the_bits_choose_and_an_exact_match_is_first(database: Database) -> None:
    space_id = filled(database, 2_000)
    with database.read() as tx:
        approximate = {i: ids(tx, space_id, vector_of(f"query {i}"), exact=1_999) for i in range(20)}
        assert ids(tx, space_id, vector_of("text 7"), exact=1_999)[0] == 8
        exact = {i: ids(tx, space_id, vector_of(f"query {i}"), exact=2_000) for i in range(20)}
    shared = sum(len(set(exact[i]) & set(approximate[i])) for i in exact)
    assert shared >= 0.85 * sum(map(len, exact.values()))  # random vectors of 64 bits; 0.97-1.0 on real ones


# The queue

OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(
            ["insert", "put", "reword", "same", "refile", "retag", "delete", "embed", "late", "space"]
        ),
        st.integers(1, 5),
        st.sampled_from(["a", "b", "c"]),
    ),
    max_size=25,
)


@MANY
@given(OPERATIONS)
def test_the_queue_is_always_the_memories_without_a_current_vector(
    database: Database, operations: list[tuple[str, int, str]]
) -> None:
    sql = {
        "insert": "INSERT OR IGNORE INTO memories (id, content, type) VALUES (:id, :text, 'error')",
        "put": "INSERT OR REPLACE INTO memories (id, content, type) VALUES (:id, :text, 'pattern')",
        "reword": "UPDATE memories SET content = :text WHERE id = :id",
        "same": "UPDATE memories SET content = content, importance = 7",
        "refile": "UPDATE memories SET project = :text, importance = :id WHERE id = :id",
        "retag": "UPDATE memories SET tags = json_array(:text)",
        "delete": "DELETE FROM memories WHERE id = :id",
    }
    with undone(database) as tx:
        first = tx.spaces.open(FIRST).id
        late: list[Waiting] = []
        for kind, id, text in operations:
            if kind in sql:
                tx.connection.execute(sql[kind], {"id": id, "text": text})
            elif kind == "space":
                tx.spaces.open(SECOND)
            elif kind == "embed":
                late = tx.spaces.waiting(first, Embedded.MEMORIES, 2)
                for waiting in late:
                    tx.embeddings.insert(first, waiting, list(map(vector_of, waiting.texts)))
            else:  # vectors of texts that may have changed meanwhile
                for waiting in late:
                    tx.embeddings.insert(first, waiting, list(map(vector_of, waiting.texts)))
        for space in tx.spaces.select():
            queued = {
                id
                for (id,) in tx.rows("SELECT memory_id FROM embedding_queue WHERE space_id = ?", (space.id,))
            }
            current = dict(
                tx.rows(
                    """
                    SELECT m.id, m.content
                    FROM memories AS m
                    JOIN embeddings AS e ON e.memory_id = m.id
                    WHERE e.space_id = ?
                    """,
                    (space.id,),
                )
            )
            everything = {id for (id,) in tx.rows("SELECT id FROM memories")}
            assert queued == everything - set(current)
            for id, content in current.items():
                blob = tx.value(
                    "SELECT vector FROM embeddings WHERE space_id = ? AND memory_id = ?", (space.id, id)
                )
                assert blob == vector_of(content).astype("<f4").tobytes()
        assert tx.rows(
            "SELECT space_id, memory_id, vec_quantize_binary(vector) FROM embeddings ORDER BY 1, 2"
        ) == tx.rows("SELECT space_id, memory_id, bits FROM embedding_bits ORDER BY 1, 2")
        assert (
            tx.rows(
                "SELECT b.memory_id FROM embedding_bits AS b JOIN memories AS m ON m.id = b.memory_id"
                " WHERE (b.project, b.type, b.importance) <> (ifnull(m.project, ''), m.type, m.importance)"
            )
            == []
        )


def test_the_stock_program_keeps_the_queue(file_database: Database, sqlite: Sqlite) -> None:
    space_id = filled(file_database, 4)
    path = file_database.path
    assert path is not None
    sqlite(
        path,
        "UPDATE memories SET content = 'other' WHERE id = 1",
        "DELETE FROM memories WHERE id = 2",
        "INSERT INTO memories (content, type) VALUES ('new', 'error')",
        "INSERT OR REPLACE INTO memories (id, content, type) VALUES (3, 'replaced', 'error')",
        "UPDATE memories SET project = 'moved' WHERE id = 4",
    )
    with file_database.write() as tx:
        assert [w.texts for w in tx.spaces.waiting(space_id, Embedded.MEMORIES, 9)] == [
            ["other"],
            ["replaced"],
            ["new"],
        ]
        assert tx.spaces.count_embedded(space_id) == 1
        assert tx.spaces.count_embedded(space_id, "moved") == 1
        embed_all(tx, space_id)
        assert ids(tx, space_id, vector_of("new"), limit=1) == [5]


def test_deleting_a_memory_in_the_stock_program_takes_all_that_hangs_on_it(
    file_database: Database, sqlite: Sqlite
) -> None:
    """The stock program does not enforce foreign keys."""
    filled(file_database, 2)
    path = file_database.path
    assert path is not None
    sqlite(
        path,
        "UPDATE memories SET content = 'reworded' WHERE id = 1",
        "INSERT INTO edges (source_id, target_id, relation) VALUES (1, 2, 'causes'), (2, 1, 'solves')",
        "DELETE FROM memories WHERE id = 1",
    )
    tables = ("memory_history", "edges", "embeddings", "embedding_bits", "embedding_queue")
    counts = [sqlite(path, f"SELECT count(*) FROM {table}") for table in tables]
    assert counts == ["0", "0", "1", "1", "0"]


# Spaces


def test_the_first_space_is_active_at_once_and_the_next_is_built_beside_it(database: Database) -> None:
    first_id = filled(database, 3)
    with database.write() as tx:
        second = tx.spaces.open(SECOND)
        assert [(each.space, each.state) for each in tx.spaces.select()] == [
            (FIRST, "active"),
            (SECOND, "building"),
        ]
        assert tx.spaces.open(SECOND) == second
        assert tx.spaces.count_waiting(second.id) == 3
        assert len(ids(tx, first_id, vector_of("text 1"))) == 3
        assert ids(tx, second.id, vector_of("text 1")) == []


def test_activating_a_space_drops_the_vectors_of_the_one_before(database: Database) -> None:
    filled(database, 3)
    with database.write() as tx:
        second = tx.spaces.open(SECOND)
        embed_all(tx, second.id)
        tx.spaces.activate(second.id)
        assert [(each.space, each.state) for each in tx.spaces.select()] == [(SECOND, "active")]
        for table in ("embeddings", "embedding_bits"):
            assert tx.rows(f"SELECT DISTINCT space_id FROM {table}") == [(second.id,)]
        put(tx, "later")
        assert tx.rows("SELECT space_id FROM embedding_queue") == [(second.id,)]


def test_a_retired_space_that_comes_back_is_built_anew(database: Database) -> None:
    first_id = filled(database, 3)
    with database.write() as tx:
        tx.spaces.activate(tx.spaces.open(SECOND).id)
        again = tx.spaces.open(FIRST)
        assert (again.id, again.state) == (first_id, "building")
        assert tx.spaces.count_waiting(first_id) == 3


def test_a_vector_that_comes_after_its_space_was_retired_is_dropped(database: Database) -> None:
    first_id = filled(database, 1)
    with database.write() as tx:
        late = Waiting(Embedded.MEMORIES, put(tx, "slow to embed"), (b"slow to embed",))
        tx.spaces.activate(tx.spaces.open(SECOND).id)
        tx.embeddings.insert(first_id, late, [vector_of("slow to embed")])
        assert tx.value("SELECT count(*) FROM embeddings WHERE space_id = ?", (first_id,)) == 0


def test_only_one_process_holds_the_lease_until_it_ends(database: Database, clock: Clock) -> None:
    space_id = filled(database, 0)

    def lease(holder: str) -> bool:
        with database.write() as tx:
            return tx.spaces.lease(space_id, holder, "2026-03-14T09:27:23.589Z")

    assert [lease("a"), lease("b"), lease("a")] == [True, False, True]
    clock.advance(seconds=31)
    assert lease("b")
