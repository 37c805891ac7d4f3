"""The copy of the sign bits finds what SQL finds, whoever changes the file."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_server.call import deadline
from memory_server.domain.embedding import Embedded, Vector
from memory_server.domain.fact import FactFilter, Home, Scope
from memory_server.domain.memory import Filter, MemoryType
from memory_server.domain.short_term import SaidFilter
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.sqlite import embedded, filters, sign_bits
from memory_server.sqlite.candidates import Candidates
from memory_server.sqlite.database import Database
from memory_server.sqlite.sign_bits import SignBits
from memory_server.sqlite.signs import Signs
from memory_server.sqlite.transaction import Transaction
from memory_server.sqlite.tx import Copies
from memory_server.storage.vectors import PARTS, TABLES, Effort, TextFilter
from tests.conftest import Clock, InMemory, Sqlite, rounds, undone
from tests.sqlite.test_embeddings import DIMENSIONS, FIRST, embed_all, filled, put, unit, vector_of

WANTED = [
    Filter(),
    Filter(project="p"),
    Filter(project=""),
    Filter(project="never heard of"),
    Filter(type=MemoryType.DECISION),
    Filter(project="q", type=MemoryType.ERROR, min_importance=4),
]


EFFORT = Effort(exact=0, chosen=400, times=8)


@pytest.fixture(autouse=True)
def _few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_bits, "HELD_FROM", 5)


def by_sql(tx: Transaction, space_id: int, query: Vector, wanted: Filter, limit: int) -> set[int]:
    clauses, values = filters.bit_rows(space_id, wanted)
    rows = tx.rows(
        f"""
        SELECT b.memory_id
        FROM embedding_bits AS b
        WHERE {" AND ".join(clauses)}
        ORDER BY vec_distance_hamming(vec_bit(b.bits), vec_bit(vec_quantize_binary(?))), b.memory_id
        LIMIT ?
        """,
        [*values, embedded.as_blob(query), limit],
    )
    return {id for (id,) in rows}


def assert_same(tx: Transaction, bits: SignBits, space_id: int, limit: int = 7) -> None:
    for number, wanted in enumerate(WANTED):
        query = vector_of(f"query {number}")
        signs = bits.nearest(tx, space_id, query, wanted, limit)
        assert signs is not None
        assert_bits(tx, space_id, signs)
        ids = signs.ids.tolist()
        assert len(ids) == len(set(ids))
        assert set(ids) == by_sql(tx, space_id, query, wanted, limit)
        assert_passing(tx, bits, space_id, wanted)


def assert_bits(tx: Transaction, space_id: int, signs: Signs) -> None:
    """The copy has the bits of the file; some rows are looked up."""
    for id, bits in list(zip(signs.ids.tolist(), signs.bits, strict=True))[:3]:
        in_file = tx.value(
            "SELECT bits FROM embedding_bits WHERE space_id = ? AND memory_id = ?", (space_id, id)
        )
        assert in_file == bits.tobytes()


def assert_passing(tx: Transaction, bits: SignBits, space_id: int, wanted: Filter) -> None:
    ids = np.arange(70)
    found = bits.passing(tx, space_id, ids, wanted)
    assert found is not None
    passing, unknown = found
    embedded = {
        id for (id,) in tx.rows("SELECT memory_id FROM embedding_bits WHERE space_id = ?", (space_id,))
    }
    assert set(ids[~unknown].tolist()) == embedded & set(ids.tolist())
    by_sql = tx.candidates.passing(Embedded.MEMORIES, ids.tolist(), wanted)
    assert set(ids[passing].tolist()) == by_sql & embedded
    for copies in (Copies({SignBits: bits}), None):
        let_pass = Candidates(replace(tx, copies=copies)).lets_pass(
            Embedded.MEMORIES, ids[1:], wanted, space_id
        )
        there = set(ids[1:].tolist()) if wanted == Filter() else by_sql
        assert set(ids[1:][let_pass].tolist()) == there
        first = Candidates(replace(tx, copies=copies)).first_passing(
            Embedded.MEMORIES, ids[1:], wanted, 2, space_id
        )
        assert first == sorted(there)[:2]


def searched(tx: Transaction, bits: SignBits | None, space_id: int) -> list[dict[int, float]]:
    tx = replace(tx, copies=None if bits is None else Copies({SignBits: bits}))
    return [
        tx.embeddings.nearest(Embedded.MEMORIES, space_id, vector_of(f"q {i}"), wanted, 5, EFFORT)
        for i, wanted in enumerate(WANTED)
    ]


def test_a_search_whose_time_is_over_leaves_the_copy_to_the_thread_that_fills_it(clock: Clock) -> None:
    database = InMemory(clock)
    bits = SignBits()
    assert bits._turn.enter()
    with database.read() as tx, deadline.within(0.05):
        assert bits.nearest(tx, 1, vector_of("query"), Filter(), 5) is None
        assert bits.passing(tx, 1, np.arange(3), Filter()) is None
    bits._turn.leave()
    database.close()


CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["put", "delete", "move", "retype", "reword", "embed", "again", "spoil", "none"]),
        st.integers(1, 40),
    ),
    max_size=15,
)


def change(tx: Transaction, space_id: int, kind: str, id: int) -> None:
    match kind:
        case "put":
            put(tx, f"text {id}", ("p", "q", None)[id % 3], "decision")
        case "delete":
            tx.execute("DELETE FROM memories WHERE id = ?", (id,))
        case "move":
            tx.execute("UPDATE memories SET project = 'moved', importance = 9 WHERE id = ?", (id,))
        case "retype":
            tx.execute("UPDATE memories SET type = 'pattern' WHERE id <= ?", (id,))
        case "reword":
            tx.execute("UPDATE memories SET content = content || '!' WHERE id = ?", (id,))
        case "embed":
            embed_all(tx, space_id)
        case "again":  # an older memory is embedded later than a newer one
            tx.execute(
                "INSERT OR REPLACE INTO embedding_queue (space_id, memory_id) SELECT ?, id FROM memories WHERE id = ?",
                (space_id, id),
            )
        case "spoil":
            tx.execute("UPDATE embedding_bits SET bits = x'00' WHERE memory_id = ?", (id,))
            tx.execute("DELETE FROM embedding_bits WHERE length(bits) = 1")


@settings(max_examples=rounds(30), suppress_health_check=list(HealthCheck))
@given(st.lists(CHANGES, min_size=1, max_size=5), st.sampled_from([3, 1_000]), st.sampled_from([1, 4, 1_000]))
def test_the_copy_finds_what_sql_finds_after_any_changes(
    clock: Clock, changes: list[list[tuple[str, int]]], most: int, strays: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sign_bits, "MOST_CHANGES", most)
        patch.setattr(sign_bits, "STRAYS", strays)
        database = InMemory(clock)
        space_id = filled(database, 30)
        bits = SignBits()
        for each in changes:
            with database.write() as tx:
                for kind, id in each:
                    change(tx, space_id, kind, id)
            with database.read() as tx:
                if tx.value("SELECT count(*) FROM embedding_bits") > sign_bits.HELD_FROM:
                    assert_same(tx, bits, space_id)
        database.close()


def test_a_search_finds_the_same_with_the_copy(database: Database) -> None:
    space_id = filled(database, 600)
    bits = SignBits()
    with database.read() as tx:
        assert searched(tx, bits, space_id) == searched(tx, None, space_id)
        assert_same(tx, bits, space_id, limit=1_000)


def test_few_rows_are_counted_again_once_they_can_be_many(database: Database) -> None:
    space_id = filled(database, 3)
    bits, answers = SignBits(), []
    for number in range(4):
        with database.write() as tx:
            put(tx, f"text {number}")
            embed_all(tx, space_id)
        with database.read() as tx:
            answers.append(bits.nearest(tx, space_id, vector_of("x"), Filter(), 3) is not None)
    assert answers == [False, False, True, True]


def test_few_rows_and_filters_that_the_copy_does_not_know_are_left_to_sql(database: Database) -> None:
    space_id = filled(database, sign_bits.HELD_FROM)
    bits, query = SignBits(), vector_of("x")
    with database.read() as tx:
        assert bits.nearest(tx, space_id, query, Filter(), 3) is None
    with database.write() as tx:
        put(tx, "one more")
        embed_all(tx, space_id)
    with database.read() as tx:
        assert bits.nearest(tx, space_id, query, Filter(), 3) is not None
        assert bits.nearest(tx, space_id, query, Filter(tags=("tag 1",)), 3) is None
        assert bits.passing(tx, space_id, np.array([1]), Filter(tags=("tag 1",))) is None
        assert bits.nearest(tx, space_id, query, Filter(since="2020-01-01T00:00:00.000Z"), 3) is None


@pytest.fixture
def _pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_bits, "PIECE", 20)
    monkeypatch.setattr(sign_bits, "AT_ONCE", 10)


@pytest.mark.usefixtures("_pieces")
def test_the_copy_is_whole_before_the_first_search(database: Database, queue: EmbeddingQueue) -> None:
    with database.write() as tx:
        for number in range(50):
            put(tx, f"text {number}")
    queue.work()
    with database.read() as tx:
        (known_space,) = tx.spaces.select()
        copy, query = sign_bits.copy_of(tx), np.ones(known_space.space.dimensions, np.float32)
        assert copy is not None
        assert copy.nearest(tx, known_space.id, query, Filter(), 5) is not None


@pytest.mark.usefixtures("_pieces")
def test_each_search_reads_a_piece_and_what_changes_meanwhile_is_not_lost(database: Database) -> None:
    space_id = filled(database, 50)
    bits, query = SignBits(), vector_of("x")
    for number, expected in ((1, False), (2, False), (3, True)):
        with database.read() as tx:
            signs = bits.nearest(tx, space_id, query, Filter(), 5)
            assert (signs is not None) == expected
        with database.write() as tx:  # the first piece is of no project, the last of q
            tx.execute("UPDATE memories SET project = ? WHERE id = ?", (("z", "a", None)[number - 1], number))
            tx.execute("DELETE FROM memories WHERE id = ?", (10 * number,))
            put(tx, f"new {number}")
            embed_all(tx, space_id)
    with database.read() as tx:
        assert_same(tx, bits, space_id)
        assert_same(tx, bits, space_id, limit=100)


def test_a_transaction_that_has_changed_the_file_is_left_to_sql(database: Database) -> None:
    space_id = filled(database, 50)
    bits, query = SignBits(), vector_of("text 7")
    with undone(database) as tx:
        before = bits.nearest(tx, space_id, query, Filter(), 1)
        assert before is not None
        assert before.ids.tolist() == [8]
        tx.execute("DELETE FROM memories WHERE id = 8")
        assert bits.nearest(tx, space_id, query, Filter(), 1) is None
    with database.read() as tx:
        assert_same(tx, bits, space_id)
        after = bits.nearest(tx, space_id, query, Filter(), 1)
        assert after is not None
        assert after.ids.tolist() == [8]


def test_what_the_stock_program_changes_is_seen(file_database: Database, sqlite: Sqlite) -> None:
    assert file_database.path is not None
    space_id = filled(file_database, 50)
    bits = SignBits()
    for statement in (
        "SELECT 1",
        "DELETE FROM memories WHERE id IN (8, 9)",
        "UPDATE memories SET project = 'moved', type = 'decision' WHERE id = 11",
        "INSERT OR REPLACE INTO memories (id, content, type) VALUES (12, 'another', 'error')",
        "DELETE FROM embedding_bits WHERE memory_id > 45",
        "DELETE FROM bits_changes",
        "UPDATE embedding_bits SET bits = (SELECT bits FROM embedding_bits WHERE memory_id = 1) WHERE memory_id = 2",
    ):
        sqlite(file_database.path, statement)
        with file_database.read() as tx:
            assert_same(tx, bits, space_id)


def test_another_process_is_followed(file_database: Database, clock: Clock) -> None:
    space_id = filled(file_database, 50)
    bits = SignBits()
    other = Database(file_database.path, clock)
    for number in range(3):
        with file_database.read() as tx:
            assert_same(tx, bits, space_id)
        with other.write() as tx:
            put(tx, f"of the other {number}")
            tx.execute("DELETE FROM memories WHERE id = ?", (number + 1,))
            embed_all(tx, space_id)
    other.close()


def test_a_file_that_was_restored_is_not_taken_for_the_one_that_was_read(
    tmp_path: Path, clock: Clock
) -> None:
    path, kept = tmp_path / "memory.db", tmp_path / "kept.db"
    database = Database(path, clock)
    space_id = filled(database, 50)
    database.close()
    shutil.copy(path, kept)
    bits = SignBits()
    for text in ("one thing", "something else"):  # as many changes to each of the two files
        shutil.copy(kept, path)
        database = Database(path, clock)
        with database.write() as tx:
            put(tx, text)
            embed_all(tx, space_id)
        with database.read() as tx:
            assert_same(tx, bits, space_id)
            signs = bits.nearest(tx, space_id, vector_of(text), Filter(), 1)
            assert signs is not None
            assert signs.ids.tolist() == [51]
        database.close()


def test_rows_beyond_the_spare_room_are_kept_too(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_bits, "_with_spare", lambda rows: rows)
    space_id = filled(database, 20)
    bits = SignBits()
    for number in range(3):
        with database.read() as tx:
            assert_same(tx, bits, space_id)
        with database.write() as tx:
            for each in range(5):
                put(tx, f"more {number} {each}")
            embed_all(tx, space_id)


def test_vectors_whose_bits_do_not_fill_a_word_are_compared(database: Database) -> None:
    vectors = {number: unit(np.random.default_rng(number).normal(size=24)) for number in range(30)}
    with database.write() as tx:
        space = tx.spaces.open(FIRST)
        for vector in vectors.values():
            id = put(tx, f"text {len(vectors)}")
            tx.execute(
                """
                INSERT INTO embedding_bits (space_id, project, memory_id, type, importance, bits)
                VALUES (?, '', ?, 'error', 5, vec_quantize_binary(?))
                """,
                (space.id, id, embedded.as_blob(vector)),
            )
    bits = SignBits()
    with database.read() as tx:
        for vector in vectors.values():
            signs = bits.nearest(tx, space.id, vector, Filter(), 4)
            assert signs is not None
            assert set(signs.ids.tolist()) == by_sql(tx, space.id, vector, Filter(), 4)


# The other kinds, whose bits are made from their vectors


def say(tx: Transaction, kind: Embedded, number: int) -> None:
    """Store a text of a kind."""
    match kind:
        case Embedded.TURNS:
            tx.execute(
                "INSERT INTO turns (message, summary, project) VALUES (?, ?, ?)",
                (f"message {number}", f"summary {number}", ("", "p")[number % 2]),
            )
        case Embedded.FACTS:
            tx.execute(
                "INSERT INTO facts (scope, owner, key, value) VALUES ('project', ?, ?, ?)",
                (("p", "q")[number % 2], f"key.{number}", json.dumps(f"value {number}")),
            )
        case Embedded.MEMORIES:  # long ones have parts
            put(tx, f"{number}. " + "A sentence of a long memory. " * 400, ("p", None)[number % 2])
        case Embedded.SHORT_TERM:
            tx.execute(
                """
                INSERT INTO short_term_memories (conversation_id, text, said_at)
                SELECT id, ?, '2026-11-01T00:00:00.000Z' FROM conversations WHERE name = 'talk'
                """,
                (f"text {number}",),
            )


def embed_kind(tx: Transaction, kind: Embedded, space_id: int) -> None:
    for waiting in tx.spaces.waiting(space_id, kind, 100_000):
        texts = [f"{waiting.id} {place} {text}" for place, text in enumerate(waiting.texts)]
        tx.embeddings.insert(space_id, waiting, list(map(vector_of, texts)))


FILTERS: dict[Embedded, list[TextFilter]] = {
    Embedded.TURNS: [Filter(), Filter(project="p"), Filter(project="never heard of")],
    Embedded.FACTS: [FactFilter(), FactFilter((Home(Scope.PROJECT, "p"),))],
    Embedded.MEMORIES: [Filter(), Filter(project="p"), Filter(type=MemoryType.ERROR)],
    Embedded.SHORT_TERM: [SaidFilter(), SaidFilter(("talk",)), SaidFilter(("another",))],
}


def nearest_of(tx: Transaction, kind: Embedded, space_id: int, effort: Effort) -> list[dict[int, float]]:
    return [
        tx.embeddings.nearest(kind, space_id, vector_of(f"query {number}"), wanted, 5, effort)
        for number, wanted in enumerate(FILTERS[kind])
    ]


@pytest.mark.parametrize("kind", list(Embedded))
def test_every_kind_is_found_as_without_the_copy_after_any_change(
    kind: Embedded, file_database: Database, sqlite: Sqlite
) -> None:
    """A copy of each table follows what this process, another one and the stock program change."""
    assert file_database.path is not None
    source = TABLES[kind].source
    with file_database.write() as tx:
        space_id = tx.spaces.open(FIRST).id
        tx.execute("INSERT INTO conversations (name) VALUES ('talk')")
        for number in range(30):
            say(tx, kind, number)
        embed_kind(tx, kind, space_id)
    table = PARTS.table if kind is Embedded.MEMORIES else [*TABLES[kind].embedded.values()][-1]
    changes = (
        "SELECT 1",
        f"DELETE FROM {source} WHERE id IN (8, 9)",
        f"UPDATE {table} SET vector = (SELECT vector FROM {table} LIMIT 1) WHERE rowid % 3 = 0",
        f"DELETE FROM {table} WHERE rowid % 5 = 0",
        f"UPDATE {table} SET vector = zeroblob(256) WHERE rowid % 7 = 0",
        "DELETE FROM vector_changes",
    )
    for number, statement in enumerate(changes):
        sqlite(file_database.path, statement)
        with file_database.write() as tx:
            say(tx, kind, 100 + number)
            embed_kind(tx, kind, space_id)
        with file_database.read() as tx:
            with_copy = nearest_of(tx, kind, space_id, EFFORT)
            copy = sign_bits.copy_of_table(tx, table)
            assert copy is not None
            assert copy.nearest(tx, space_id, vector_of("x"), Filter(), 3) is not None, "the copy is in use"
            assert with_copy == nearest_of(replace(tx, copies=None), kind, space_id, EFFORT)


def test_the_second_look_at_the_signs_keeps_more_of_the_nearest() -> None:
    """Of 3,000 vectors around 100 centres the product finds more of the nearest 10 than different signs do."""
    random = np.random.default_rng(7)
    centres = random.normal(size=(100, DIMENSIONS))
    vectors = np.array([unit(centres[i % 100] + random.normal(size=DIMENSIONS)) for i in range(3_000)])
    bits = np.packbits(vectors > 0, axis=1, bitorder="little")
    by_signs, by_product = 0, 0
    for number in range(50):
        query = unit(centres[number] + random.normal(size=DIMENSIONS))
        nearest = set(np.argsort(-(vectors @ query))[:10].tolist())
        differing = np.unpackbits(bits ^ np.packbits(query > 0, bitorder="little"), axis=1).sum(axis=1)
        order = np.argsort(differing, kind="stable")
        by_signs += len(nearest & set(order[:40].tolist()))
        chosen = Signs(order[:240], bits[order[:240]]).nearest(query, 40)
        by_product += len(nearest & set(chosen))
    assert by_product > by_signs + 25
