"""Several memories changed at once: all or none, and undone together."""

from collections.abc import Sequence

import pytest

from memory_server.domain.caller import Caller
from memory_server.domain.change import ChangeId, ChangeOrigin
from memory_server.domain.memory import MemoryDraft, MemoryId, MemoryType
from memory_server.errors import Invalid, NotFound
from memory_server.nlp.jieba import JiebaSegmenter
from memory_server.services.changes import ChangeService
from memory_server.services.changing import ChangeManyService
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.memories import MemoryService
from memory_server.sqlite.database import Database

CALLER = Caller("tests", "s-1")
CREDENTIAL = "ghp_" + "a1B2c3D4e5" * 3 + "F6g7H8"


@pytest.fixture
def memories(database: Database, queue: EmbeddingQueue, segmenter: JiebaSegmenter) -> MemoryService:
    service = MemoryService(database, queue, segmenter)
    for text, tags in (
        ("Pilot boats are white", ("a",)),
        ("Tugs are black", ()),
        ("Full", tuple("1234567890")),
    ):
        service.store(MemoryDraft(text, MemoryType.DECISION, "quay", tags), None, CALLER)
    return service


def tags(memories: MemoryService) -> list[Sequence[str]]:
    return [detailed.memory.tags for detailed in memories.get([MemoryId(id) for id in (1, 2, 3)]).memories]


def test_tags_are_added_and_taken_back_together(memories: MemoryService, database: Database) -> None:
    before = tags(memories)
    many = ChangeManyService(database)
    numbers = many.add_tags([MemoryId(1), MemoryId(2)], ["a", "b"], CALLER)
    assert tags(memories)[:2] == [("a", "b"), ("a", "b")]
    assert many.add_tags([MemoryId(1)], ["b"], CALLER) == []
    ChangeService(database, lambda: None, lambda *_: []).undo(
        [ChangeId(ChangeOrigin.CHANGES, number) for number in numbers], CALLER
    )
    assert tags(memories) == before


def test_where_one_memory_cannot_be_changed_none_is(memories: MemoryService, database: Database) -> None:
    before, many = tags(memories), ChangeManyService(database)
    with pytest.raises(Invalid, match="m3 would have 11 tags"):
        many.add_tags([MemoryId(1), MemoryId(3)], ["b"], CALLER)
    with pytest.raises(NotFound):
        many.add_tags([MemoryId(1), MemoryId(99)], ["b"], CALLER)
    with pytest.raises(Invalid):
        many.add_tags([MemoryId(1)], [CREDENTIAL], CALLER)
    assert tags(memories) == before


def test_memories_move_to_a_project_and_to_none(memories: MemoryService, database: Database) -> None:
    many = ChangeManyService(database)
    assert len(many.move([MemoryId(1), MemoryId(2)], "mill", CALLER)) == 2
    assert many.move([MemoryId(1)], "mill", CALLER) == []
    many.move([MemoryId(2)], "", CALLER)
    found = memories.get([MemoryId(id) for id in (1, 2, 3)]).memories
    assert [detailed.memory.project for detailed in found] == ["mill", None, "quay"]
