"""Rows that a person or an import has made: whatever they hold, the server goes on and says what it can."""

import pytest

from memory_server.domain.caller import Caller
from memory_server.domain.memory import Filter, MemoryChange, MemoryId, MemoryType
from memory_server.errors import Hint, Mend, Problem, Unavailable
from memory_server.nlp.jieba import JiebaSegmenter
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.memories import MemoryService, Read
from memory_server.services.search import SearchService
from memory_server.sqlite.database import Database
from tests.conftest import problems, undone


@pytest.fixture
def service(database: Database, queue: EmbeddingQueue, segmenter: JiebaSegmenter) -> MemoryService:
    return MemoryService(database, queue, segmenter)


@pytest.fixture
def search(database: Database, queue: EmbeddingQueue) -> SearchService:
    return SearchService(database, queue)


def put(database: Database, column: str, value: str) -> None:
    with database.write() as tx:
        tx.execute(
            f"INSERT INTO memories (content, type, {column}) VALUES ('the bakery opens', 'error', ?)",
            (value,),
        )


@pytest.mark.parametrize(
    "written", ["2026-11-20", "2026-11-20 10:00", "2026-02-30T10:00:00Z", "2461365.5", "12:00", "2999-01-01"]
)
def test_any_date_that_sqlite_takes_can_be_searched(
    search: SearchService, database: Database, written: str
) -> None:
    put(database, "created_at", written)
    (hit,) = search.search("bakery", Filter(), 10, "hybrid", caller=Caller()).hits
    assert (hit.memory.created_at, hit.memory.type) == (written, MemoryType.ERROR)


@pytest.mark.parametrize(
    ("column", "written"),
    [("tags", '["\\ud800"]'), ("metadata", '{"a": "\\ud800"}'), ("metadata", '{"a": ' + "9" * 5000 + "}")],
)
def test_json_that_cannot_be_read_whole_is_shown_as_far_as_it_can(
    service: MemoryService, search: SearchService, database: Database, column: str, written: str
) -> None:
    put(database, column, written)
    (detail,) = service.get([MemoryId(1)]).memories
    assert (detail.memory.tags, detail.memory.metadata) != ((), {})
    f"{detail.memory.tags} {detail.memory.metadata}".encode()
    assert [
        hit.memory.id for hit in search.search("bakery", Filter(), 10, "hybrid", caller=Caller()).hits
    ] == [1]
    named = ["row 1 of memories: metadata is JSON that clients cannot read"]
    assert problems(database) == (named if "9" in written else [])
    with database.write() as tx:
        tx.execute("DELETE FROM memories")


def test_text_that_is_no_utf8_is_named_by_the_doctor_and_explained(
    service: MemoryService, database: Database
) -> None:
    with database.write() as tx:
        tx.execute("INSERT INTO memories (content, type) VALUES (CAST(x'636166e9' AS TEXT), 'error')")
    assert problems(database) == ["row 1 of memories: content is not UTF-8"]
    unreadable = Problem(
        "row 1 of memories cannot be read: it holds text that is not UTF-8", (Hint(Mend.CHECK_FILE),)
    )
    assert service.get([MemoryId(1)]) == Read([], [MemoryId(1)], (unreadable,))
    with pytest.raises(Unavailable) as error:
        service.update(MemoryId(1), MemoryChange(importance=1), caller=Caller())
    assert error.value.problem == unreadable
    with database.write() as tx:
        tx.execute("DELETE FROM memories")


NO_UTF8 = "CAST(x'636166e9' AS TEXT)"


def test_a_row_that_cannot_be_read_is_left_out_of_many_and_noted_once(database: Database) -> None:
    with undone(database) as tx:
        for content in ("'a'", NO_UTF8, "'b'", NO_UTF8):
            tx.execute(f"INSERT INTO memories (content, type) VALUES ({content}, 'error')")
        for _ in range(2):
            assert tx.rows("SELECT content, id AS number FROM memories ORDER BY id DESC") == [
                ("b", 3),
                ("a", 1),
            ]
        assert [problem.text for problem in tx.skipped] == [
            f"row {id} of memories cannot be read: it holds text that is not UTF-8" for id in (4, 2)
        ]


@pytest.mark.parametrize(
    ("sql", "which"),
    [
        ("SELECT content, id FROM memories", "row 1 of memories"),
        ("SELECT content FROM memories", "a row of memories"),
        ("SELECT max(content) FROM memories", "a row of the database"),
    ],
)
def test_a_single_row_that_cannot_be_read_is_refused_by_its_name(
    database: Database, sql: str, which: str
) -> None:
    with undone(database) as tx:
        tx.execute(f"INSERT INTO memories (content, type) VALUES ({NO_UTF8}, 'error')")
        for read in (tx.row, tx.one, tx.value):
            with pytest.raises(
                Unavailable, match=f"^{which} cannot be read: it holds text that is not UTF-8$"
            ):
                read(sql)


def test_a_statement_that_met_such_a_row_is_over_though_somebody_keeps_the_error(database: Database) -> None:
    """Else nothing could be dropped, and the file not be rewritten."""
    with undone(database) as tx:
        for _ in range(2):
            tx.execute(f"INSERT INTO memories (content, type) VALUES ({NO_UTF8}, 'error')")
        with pytest.raises(Unavailable) as kept:
            tx.row("SELECT content FROM memories")
        tx.rows("SELECT content FROM memories")
        tx.execute("DROP TABLE job_problems")
    assert kept.value.__cause__ is not None


def test_a_write_that_gives_such_a_row_is_not_done_twice(database: Database) -> None:
    insert = f"INSERT INTO memories (content, type) VALUES ({NO_UTF8}, 'error') RETURNING content"
    for read in ("rows", "row"):
        with pytest.raises(Unavailable, match="holds text that is not UTF-8"), database.write() as tx:
            getattr(tx, read)(insert)
    with database.read() as tx:
        assert tx.value("SELECT count(*) FROM memories") == 0
