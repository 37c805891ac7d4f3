"""Undoing all changes since a moment, over random histories, on both stores."""

import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest

from memory_server.domain.caller import Caller
from memory_server.domain.change import ChangeAction, ChangeFilter
from memory_server.domain.edge import Edge, Relation
from memory_server.domain.fact import FactDraft, Scope
from memory_server.domain.forgetting import Kind
from memory_server.domain.memory import MemoryChange, MemoryDraft, MemoryId, MemoryType
from memory_server.embedding.hashing import HashingEmbedder
from memory_server.errors import Conflict
from memory_server.nlp.jieba import JiebaSegmenter
from memory_server.services.changes import ChangeService
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.facts import FactService
from memory_server.services.graph import GraphService
from memory_server.services.memories import MemoryService
from memory_server.storage.database import Database
from memory_server.transfer import events
from tests.conftest import Clock, rounds

ROUNDS = 12
"""Histories, one after the other on the same database."""

STEPS = 12
KEYS = ("port", "editor", "current.task")

Memories = dict[int, tuple[Any, ...]]


@dataclass
class History:
    """Changes memories and facts at random. `stored` and `written` are what each new one was first, `parted` what was
    merged, since `begin`."""

    database: Database
    clock: Clock
    chance: random.Random
    memories: MemoryService
    facts: FactService
    stored: Memories = field(default_factory=dict)
    written: dict[str, Any] = field(default_factory=dict)
    parted: Counter[str] = field(default_factory=Counter)
    number: int = 0

    def begin(self) -> None:
        self.stored, self.written, self.parted = {}, {}, Counter()

    def step(self) -> None:
        """One change; half of them at the moment of the one before."""
        self.clock.advance(seconds=self.chance.choice((0, 1)))
        steps = (
            self.store,
            self.store_twin,
            self.edit,
            self.edit,
            self.forget,
            self.write,
            self.write,
            self.unwrite,
        )
        self.chance.choice(steps)()

    def there(self) -> Memories:
        """The memories: all that an edit can change."""
        with self.database.read() as tx:
            ids = [MemoryId(id) for (id,) in tx.rows("SELECT id FROM memories")]  # type: ignore[attr-defined]
        return (
            {each.memory.id: _fields(each.memory) for each in self.memories.get(ids).memories} if ids else {}
        )

    def values(self) -> dict[str, Any]:
        facts = {key: self.facts.peek(key, Scope.GLOBAL, Caller()) for key in KEYS}
        return {key: fact.value for key, fact in facts.items() if fact is not None}

    def store(self) -> None:
        self.number += 1
        words = " ".join(f"{word}{self.number}" for word in ("harbour", "orchid", "ledger", "zebra"))
        self._store(words)

    def store_twin(self) -> None:
        """The same words as a memory that is there: it is merged into that."""
        texts = [fields[0] for fields in self.there().values()]
        if texts:
            self._store(self.chance.choice(texts) + self.chance.choice(("", ".", "!")))

    def _store(self, content: str) -> None:
        tags = (f"tag{self.chance.randrange(3)}",)
        draft = MemoryDraft(content, MemoryType.LEARNING, None, tags, self.chance.randint(1, 10))
        done = self.memories.store(draft, None, Caller())
        if done.consolidated:
            self.parted[content] += 1
        else:
            self.stored[done.memory.id] = _fields(done.memory)

    def edit(self) -> None:
        if there := self.there():
            self.number += 1
            change = MemoryChange(
                content=self.chance.choice((None, f"quay{self.number} lamp{self.number} rope{self.number}")),
                importance=self.chance.randint(1, 10),
                metadata={"number": self.number},
            )
            self.memories.update(MemoryId(self.chance.choice(list(there))), change, caller=Caller())

    def forget(self) -> None:
        if there := self.there():
            self.memories.forget(MemoryId(self.chance.choice(list(there))), False, Caller())

    def write(self) -> None:
        key, self.number = self.chance.choice(KEYS), self.number + 1
        self.facts.write(FactDraft(key, self.number), Scope.GLOBAL, Caller())
        self.written.setdefault(key, self.number)

    def unwrite(self) -> None:
        self.facts.delete(self.chance.choice(KEYS), Scope.GLOBAL, Caller())


def _fields(memory: Any) -> tuple[Any, ...]:
    return memory.content, memory.type, memory.tags, memory.importance, memory.metadata


@pytest.fixture
def history(database: Database, clock: Clock, segmenter: JiebaSegmenter) -> History:
    embedder = HashingEmbedder()
    queue = EmbeddingQueue(database, lambda known: embedder, lambda space: embedder, clock)
    queue.work()
    memories = MemoryService(database, queue, segmenter)
    return History(database, clock, random.Random(7), memories, FactService(database))


def undo_since(history: History, moment: str) -> int:
    changes = ChangeService(history.database, lambda: None, events.undo)
    chosen = changes.select(ChangeFilter(since=moment, undone=True), 1000, caller=Caller()).changes
    return len(changes.undo([each.id for each in chosen if each.id], Caller(), overwrite=True).changes)


def test_undoing_since_a_moment_gives_the_state_of_that_moment(history: History) -> None:
    """What was there is as it was; what was stored since is as it was stored, also where it was merged."""
    undone = 0
    for _ in range(rounds(ROUNDS)):
        history.begin()
        for _ in range(history.chance.randrange(STEPS)):
            history.step()
        history.clock.advance(seconds=1)
        with history.database.read() as tx:
            moment = tx.now
        memories, values = history.there(), history.values()
        history.begin()
        for _ in range(STEPS):
            history.step()
        undone += undo_since(history, moment)
        there = history.there()
        assert {id: there.pop(id, None) for id in memories | history.stored} == memories | history.stored
        assert Counter(fields[0] for fields in there.values()) == history.parted
        assert history.values() == history.written | values
    assert undone > rounds(ROUNDS)


def test_an_edge_that_ended_does_not_come_back_into_a_circle(history: History) -> None:
    graph = GraphService(history.database, history.memories.queue)
    history.store()
    history.store()
    first, second = MemoryId(1), MemoryId(2)
    history.clock.advance(seconds=1)
    graph.connect(Edge(first, second, Relation.SUPERSEDES), Caller())
    history.clock.advance(seconds=1)
    graph.end(Edge(first, second, Relation.SUPERSEDES))
    history.clock.advance(seconds=1)
    graph.connect(Edge(second, first, Relation.SUPERSEDES), Caller())
    changes = ChangeService(history.database, lambda: None, events.undo)
    undoable = changes.select(ChangeFilter(undone=True), 10, Caller()).changes
    newest, ended, connected = (change.id for change in undoable if change.id is not None)
    assert (str(newest), str(ended), str(connected)) == ("e2", "x1", "e1")
    with pytest.raises(Conflict, match="already supersedes"):
        changes.undo([ended], Caller())
    changes.undo([newest, ended], Caller())
    with history.database.read() as tx:
        assert tx.edges.successors([first, second]) == {second: first}  # the first one supersedes again
    changes.undo([connected], Caller())
    last = changes.newest(ChangeFilter(), Caller())
    assert last is not None
    assert last.action is ChangeAction.STORED


def test_nothing_is_restored_over_a_row_that_has_the_id(history: History) -> None:
    history.store()
    (id,) = history.stored
    history.forget()
    with history.database.write() as tx:
        deleted = tx.trash.find_last(Kind.MEMORY, id)
        assert deleted is not None
        tx.trash.restore(deleted)
        with pytest.raises(Conflict, match="has taken the place"):
            tx.trash.restore(deleted)
        tx.trash.put(Kind.MEMORY, [id], Caller())
    with history.database.read() as tx:
        assert tx.trash.find_last(Kind.MEMORY, id) is not None
    assert history.there() == {}
