"""Long texts in the file: the triggers split as Python does, and every change by hand takes all of it along."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memory_server.domain import parts
from memory_server.domain.embedding import Embedded, Space
from memory_server.domain.parts import LONG, PART, STEP
from memory_server.sqlite.database import Database
from memory_server.sqlite.transaction import Transaction
from tests.conftest import Clock, Sqlite, undone

SPACE = Space("hashing", "first", "1", 64, "", "", "", True, True, "fingerprint-1")
UNITS = st.sampled_from(
    ["The proxy listens. ", "数据库在北京。", "🚀👩\u200d💻a", "é\u0301", "龍\U00020000", "x"]
)
LENGTHS = st.one_of(
    st.integers(1, 12_000),
    st.sampled_from([1, LONG - 1, LONG, LONG + 1, 5_600, 5_601, 6_799, 6_800, 6_801]),
)
MANY = settings(max_examples=30)


def text_of(unit: str, length: int) -> str:
    return (unit * (length // len(unit) + 1))[:length]


def numbered(length: int, first: int = 1) -> str:
    """Words of which each comes once: w000001 w000002 …"""
    return " ".join(f"w{number:06}" for number in range(first, first + length // 8 + 1))[:length]


def put(tx: Transaction, content: str, id: int | None = None) -> int:
    tx.execute(
        "INSERT INTO memories (id, content, type, tags) VALUES (?, ?, 'error', '[\"tagged\"]')", (id, content)
    )
    return int(tx.value("SELECT max(id) FROM memories"))


def split(tx: Transaction, id: int) -> list[str]:
    """The parts of a memory as the file has them, in order."""
    rows = tx.rows(
        """
        SELECT substr(content, start, length), memory_parts.id
        FROM memory_parts JOIN memories ON memories.id = memory_id
        WHERE memory_id = ?
        ORDER BY start
        """,
        (id,),
    )
    assert [part for _, part in rows] == [parts.id_of(id, number) for number in range(1, len(rows) + 1)]
    content = str(tx.value("SELECT content FROM memories WHERE id = ?", (id,)))
    return [content[:PART] if rows else content, *(text for text, _ in rows)]


def holding(tx: Transaction, word: str) -> list[int]:
    """The rows of the word index that hold a word."""
    return [
        id
        for (id,) in tx.rows(
            "SELECT rowid FROM memory_words WHERE memory_words MATCH ? ORDER BY rowid", (f'"{word}"',)
        )
    ]


def rows(tx: Transaction) -> set[int]:
    return {id for (id,) in tx.rows("SELECT id FROM memory_words_docsize")}


def waiting(tx: Transaction) -> list[int]:
    return [id for (id,) in tx.rows("SELECT memory_id FROM embedding_queue ORDER BY memory_id")]


def embedded(tx: Transaction) -> set[int]:
    """The memories and parts that have a vector."""
    return {
        id
        for (id,) in tx.rows("SELECT memory_id FROM embeddings UNION ALL SELECT part_id FROM part_embeddings")
    }


def embed_all(tx: Transaction) -> None:
    space_id = tx.spaces.open(SPACE).id
    for each in tx.spaces.waiting(space_id, Embedded.MEMORIES, 100):
        vectors = [np.full(64, 0.125, np.float32) for _ in each.texts]
        assert tx.embeddings.insert(space_id, each, vectors)


def ids(memory: int, number: int) -> set[int]:
    return {parts.id_of(memory, each) for each in range(number)}


def assert_whole(tx: Transaction) -> None:
    """Parts, words and vectors are those of the texts, and nothing is left of others."""
    memories = dict(tx.rows("SELECT id, content FROM memories"))
    expected: set[int] = set()
    for id, content in memories.items():
        assert split(tx, id) == parts.split(content)
        expected |= ids(id, len(parts.split(content)))
    assert rows(tx) == expected
    assert {id for (id,) in tx.rows("SELECT id FROM memory_parts")} == expected - set(memories)
    assert embedded(tx) <= expected
    assert {parts.memory_of(id) for id in expected - embedded(tx)} <= set(waiting(tx))
    tx.execute("INSERT INTO memory_words (memory_words) VALUES ('integrity-check')")


@given(UNITS, LENGTHS)
@example("The proxy listens. ", 100_000)
@example("数据库在北京。", 100_000)
@example("🚀👩\u200d💻a", 100_000)
@example("数据库在北京。", LONG)
@example("🚀👩\u200d💻a", LONG + 1)
@MANY
def test_the_trigger_splits_as_python_does(database: Database, unit: str, length: int) -> None:
    text = text_of(unit, length)
    with undone(database) as tx:
        id = put(tx, text)
        assert split(tx, id) == parts.split(text)
        assert rows(tx) == ids(id, len(parts.split(text)))


@pytest.mark.parametrize("length", [LONG, LONG + 1, 5_600, 5_601, 6_800, 6_801, 99_999, 100_000])
def test_each_word_is_found_in_the_parts_that_hold_it_and_in_no_other(
    database: Database, length: int
) -> None:
    text = numbered(length)
    with database.write() as tx:
        tx.spaces.open(SPACE)
        id = put(tx, text)
        for word in {"w000001", "w000240", *text.split(" ")[-2:-1]}:
            expected = [
                parts.id_of(id, number)
                for number, part in enumerate(parts.split(text))
                if word in part.split(" ")
            ]
            assert expected
            assert holding(tx, word) == expected
        assert holding(tx, "tagged")[:1] == [id]
        assert_whole(tx)


def test_a_word_of_chinese_is_found_in_its_part(database: Database) -> None:
    text = "数据库在北京。" * 1_000 + "密钥轮换每周二进行。" + "数据库在上海。" * 500
    with database.write() as tx:
        id = put(tx, text)
        number = next(number for number, part in enumerate(parts.split(text)) if "密钥轮换" in part)
        assert number > 2
        assert parts.id_of(id, number) in holding(tx, "密 钥 轮 换")
        assert set(holding(tx, "密 钥 轮 换")) <= ids(id, len(parts.split(text))) - {id}


@pytest.mark.parametrize("length", [0, 100_001])
def test_a_text_beyond_the_limit_is_refused(database: Database, length: int) -> None:
    with undone(database) as tx, pytest.raises(Exception, match="CHECK"):
        put(tx, "x" * length)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (100, 6_800),
        (6_800, 100),
        (6_800, 9_000),
        (9_000, 6_800),
        (6_800, 6_800),
        (LONG, LONG + 1),
        (LONG + 1, LONG),
    ],
)
def test_a_hand_edit_renews_parts_words_and_asks_for_embeddings(
    database: Database, before: int, after: int
) -> None:
    old, new = numbered(before), numbered(after, first=500_000)
    with database.write() as tx:
        other, id = put(tx, numbered(6_000, first=900_000)), put(tx, old)
        embed_all(tx)
        assert embedded(tx) == ids(other, len(parts.split(numbered(6_000)))) | ids(id, len(parts.split(old)))
        tx.execute("UPDATE memories SET content = ? WHERE id = ?", (new, id))
        assert holding(tx, "w000001") == []
        assert holding(tx, "w500000") == [id]
        assert waiting(tx) == [id]
        assert embedded(tx) == ids(other, len(parts.split(numbered(6_000))))
        assert_whole(tx)
        embed_all(tx)
        assert waiting(tx) == []
        assert_whole(tx)


def test_new_tags_leave_the_text_its_parts_and_its_embeddings(database: Database) -> None:
    with database.write() as tx:
        id = put(tx, numbered(6_800))
        embed_all(tx)
        tx.execute("UPDATE memories SET tags = '[\"renamed\"]' WHERE id = ?", (id,))
        assert_whole(tx)
        assert holding(tx, "tagged") == []
        assert holding(tx, "renamed")
        embed_all(tx)
        assert waiting(tx) == []
        assert embedded(tx) == ids(id, 4)


def test_a_change_of_other_columns_leaves_all_as_it_is(database: Database) -> None:
    with database.write() as tx:
        id = put(tx, numbered(6_800))
        embed_all(tx)
        tx.execute("UPDATE memories SET importance = 9, project = 'p', access_count = 4 WHERE id = ?", (id,))
        assert waiting(tx) == []
        assert embedded(tx) == ids(id, 4)
        assert_whole(tx)


@pytest.mark.parametrize("content", ["short now", numbered(9_000, first=500_000)])
def test_insert_or_replace_takes_the_old_parts_along(database: Database, content: str) -> None:
    with database.write() as tx:
        id = put(tx, numbered(20_000))
        embed_all(tx)
        tx.execute(
            "INSERT OR REPLACE INTO memories (id, content, type) VALUES (?, ?, 'error')", (id, content)
        )
        assert holding(tx, "w000001") == []
        assert waiting(tx) == [id]
        assert_whole(tx)


def test_deleting_takes_all_along(database: Database) -> None:
    with database.write() as tx:
        kept, id = put(tx, numbered(6_800)), put(tx, numbered(100_000, first=100_000))
        embed_all(tx)
        tx.execute("DELETE FROM memories WHERE id = ?", (id,))
        assert rows(tx) == embedded(tx) == ids(kept, 4)
        assert {memory for (memory,) in tx.rows("SELECT DISTINCT memory_id FROM memory_parts")} == {kept}
        assert holding(tx, "w100000") == []
        assert_whole(tx)
        tx.execute("DELETE FROM memories")
        assert rows(tx) == embedded(tx) == set()


def test_a_text_that_changed_meanwhile_takes_no_vectors(database: Database) -> None:
    with database.write() as tx:
        id = put(tx, numbered(6_800))
        space_id = tx.spaces.open(SPACE).id
        (late,) = tx.spaces.waiting(space_id, Embedded.MEMORIES, 5)
        tx.execute("UPDATE memories SET content = ? WHERE id = ?", (numbered(9_000), id))
        vectors = [np.full(64, 0.125, np.float32) for _ in late.texts]
        assert not tx.embeddings.insert(space_id, late, vectors)
        assert embedded(tx) == set()
        assert waiting(tx) == [id]


EDITS = st.lists(
    st.tuples(
        st.sampled_from(["put", "edit", "tag", "replace", "delete", "embed"]),
        st.integers(1, 3),
        LENGTHS,
        UNITS,
    ),
    max_size=6,
)


@given(EDITS)
@MANY
def test_any_edits_leave_the_file_whole(
    database: Database, edits: Sequence[tuple[str, int, int, str]]
) -> None:
    with undone(database) as tx:
        tx.spaces.open(SPACE)
        for edit, id, length, unit in edits:
            text = text_of(unit, length)
            match edit:
                case "put":
                    put(tx, text)
                case "edit":
                    tx.execute("UPDATE memories SET content = ? WHERE id = ?", (text, id))
                case "tag":
                    tx.execute("UPDATE memories SET tags = json_array(?) WHERE id = ?", (text[:9], id))
                case "replace":
                    tx.execute("REPLACE INTO memories (id, content, type) VALUES (?, ?, 'error')", (id, text))
                case "delete":
                    tx.execute("DELETE FROM memories WHERE id = ?", (id,))
                case "embed":
                    embed_all(tx)
            assert_whole(tx)
        assert tx.health.problems() == []


def test_the_stock_program_edits_a_long_text(file_database: Database, clock: Clock, sqlite: Sqlite) -> None:
    path = file_database.path
    assert path is not None
    long = "replace(hex(zeroblob(4000)), '00', 'harbour ')"
    sqlite(path, f"INSERT INTO memories (content, type) VALUES ({long} || 'lighthouse', 'error')")
    assert sqlite(path, "SELECT count(*) FROM memory_parts") == str(-(-(32_010 - PART) // STEP))
    found = "SELECT rowid >> 40 FROM memory_words WHERE memory_words MATCH 'lighthouse'"
    assert sqlite(path, found) == "17"
    sqlite(path, "UPDATE memories SET content = 'The lighthouse is off'")
    assert sqlite(path, found) == "0"
    assert sqlite(path, "SELECT count(*) FROM memory_parts") == "0"
    sqlite(path, "DELETE FROM memories")
    assert sqlite(path, found) == ""
