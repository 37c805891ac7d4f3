"""Rows that a person or an import has made: whatever they hold, the server goes on and says what it can."""

import pytest

from memory_server.domain.memory import Filter, MemoryId, MemoryType
from memory_server.errors import Unavailable
from memory_server.nlp.jieba import JiebaSegmenter
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.memories import MemoryService
from memory_server.sqlite.database import Database


@pytest.fixture
def service(database: Database, indexer: EmbeddingQueue, segmenter: JiebaSegmenter) -> MemoryService:
    return MemoryService(database, indexer, segmenter)


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
    service: MemoryService, database: Database, written: str
) -> None:
    put(database, "created_at", written)
    (hit,) = service.search("bakery", Filter(), 10, "hybrid").hits
    assert (hit.memory.created_at, hit.memory.type) == (written, MemoryType.ERROR)


@pytest.mark.parametrize(
    ("column", "written"),
    [("tags", '["\\ud800"]'), ("metadata", '{"a": "\\ud800"}'), ("metadata", '{"a": ' + "9" * 5000 + "}")],
)
def test_json_that_cannot_be_read_whole_is_shown_as_far_as_it_can(
    service: MemoryService, database: Database, column: str, written: str
) -> None:
    put(database, column, written)
    ((detail,), _) = service.get([MemoryId(1)])
    assert (detail.memory.tags, detail.memory.metadata) != ((), {})
    f"{detail.memory.tags} {detail.memory.metadata}".encode()
    assert [hit.memory.id for hit in service.search("bakery", Filter(), 10, "hybrid").hits] == [1]


def test_text_that_is_no_utf8_is_named_by_the_doctor_and_explained(
    service: MemoryService, database: Database
) -> None:
    with database.write() as tx:
        tx.execute("INSERT INTO memories (content, type) VALUES (CAST(x'636166e9' AS TEXT), 'error')")
    assert database.problems() == ["memory 1 holds text that is not UTF-8"]
    with pytest.raises(Unavailable, match="not UTF-8"):
        service.get([MemoryId(1)])
    with database.write() as tx:
        tx.execute("DELETE FROM memories")
