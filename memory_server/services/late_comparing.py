"""Background work: compares what was stored before it had its embedding, and tells a later answer what it finds."""

import sys
from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta

from memory_server.domain import fact_text
from memory_server.domain.briefing.headings import Heading
from memory_server.domain.briefing.items import heading_of
from memory_server.domain.caller import Caller
from memory_server.domain.embedding import Embedded
from memory_server.domain.memory import Memory, MemoryId
from memory_server.domain.moment import parse, timestamp
from memory_server.domain.notice import LikelyUpdate, Notice, Thing, thing
from memory_server.domain.similar import Compared
from memory_server.services import comparing
from memory_server.services.comparing import WrittenText
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.meaning import Fresh
from memory_server.services.prepared import PreparedTexts
from memory_server.storage.database import Database
from memory_server.storage.tx import Tx

RECENT = timedelta(days=1)
"""What was stored before is not compared: it waits because the model is another one, or because it was imported."""

KEPT = 50
"""Notices that wait for an answer, the latest."""

TOLD = 3
"""Notices that one answer tells."""

CLOSEST = 3
"""Notices of what is closest to one new thing, where it may replace nothing."""


@dataclass(slots=True)
class LateComparing:
    """`several`: several people have the file. Then what is compared later is compared with memories alone, since
    nobody knows for whom."""

    database: Database
    queue: EmbeddingQueue
    texts: PreparedTexts
    several: bool = False
    _waiting: deque[tuple[str, str | None, Notice]] = field(default_factory=lambda: deque(maxlen=KEPT))
    """Notices, each with the project and the person whose own the new memory is."""
    _pairs: set[tuple[str, str]] = field(default_factory=set)
    """The handles of the pairs of which a notice was made: a fact may be written often."""

    def compare(self) -> None:
        """Compare what was embedded since the last time."""
        while self.queue.embedded and not self.database.read_only:
            kind, id, fresh = self.queue.embedded.popleft()
            with self.database.read() as tx:
                if kind is Embedded.MEMORIES:
                    comparisons = [self._of_memory(tx, MemoryId(id), fresh), *self._of_newer(tx, id, fresh)]
                elif kind is Embedded.FACTS and not self.several:
                    comparisons = [self._of_fact(tx, id, fresh)]
                else:
                    continue
            for later in filter(None, comparisons):
                self._keep(later)

    def take(self, caller: Caller) -> list[Notice]:
        """Return what is to be told to a caller, once."""
        person = caller.person and caller.person.name
        fitting = [
            (project, owner, notice)
            for project, owner, notice in list(self._waiting)  # background work adds to it meanwhile
            if (project == caller.project.name if project else owner == person)
        ][:TOLD]
        for waiting in fitting:
            self._waiting.remove(waiting)
        return [notice for _, _, notice in fitting]

    def _of_memory(self, tx: Tx, id: MemoryId, fresh: Fresh) -> "_Later | None":
        """Compare a memory with what is older, and leave out what was told by its words when it was stored."""
        for memory in tx.memories.select([id]):
            if memory.is_digest or memory.superseded_by or not _is_recent(tx, memory.created_at):
                continue
            written = self._written(memory, fresh)
            newer = range(id, sys.maxsize)
            by_words = comparing.compare(tx, replace(written, fresh=None), self.texts, newer)
            connected = {edge.other_end(id) for edge in tx.edges.strongest(id, KEPT)}
            known_older = connected | set(by_words.maybe_replaced)
            known_close = known_older | {similar.memory.id for similar in by_words.similar}
            return _Later(
                thing(memory),
                written,
                comparing.compare(tx, written, self.texts, newer),
                known_older,
                known_close,
            )
        return None

    def _of_newer(self, tx: Tx, id: int, fresh: Fresh) -> Iterator["_Later | None"]:
        """Compare with a memory those that were stored with their vectors while it had none, and so without it."""
        waiting = {waiting_id for kind, waiting_id, _ in self.queue.embedded if kind is Embedded.MEMORIES}
        for memory in tx.memories.select([MemoryId(id)]):
            if not _is_recent(tx, memory.created_at):
                continue
            close = comparing.compare(tx, self._written(memory, fresh), self.texts, ()).similar
            newer = [
                near.memory
                for near in close
                if isinstance(near.memory, Memory) and near.memory.id > id and near.memory.id not in waiting
            ]
            vectors = tx.embeddings.vectors_of(fresh.space_id, [later.id for later in newer]) if newer else {}
            for later in newer:
                if later.id in vectors:
                    with_vector = replace(fresh, texts=(later.content,), vectors=(vectors[later.id],))
                    comparison = self._of_memory(tx, later.id, with_vector)
                    yield comparison and comparison.with_alone(id)

    def _written(self, memory: Memory, fresh: Fresh) -> WrittenText:
        homes = () if self.several else comparing.homes_of(memory.project or "", Caller())
        text = self.texts.of(memory.content)
        return WrittenText(text, memory.type, memory.project, fresh, memory.person, homes, memory.created_at)

    def _of_fact(self, tx: Tx, id: int, fresh: Fresh) -> "_Later | None":
        for fact in tx.facts.select([id]):
            is_work = heading_of(fact.key, fact.home.scope) <= Heading.UNDER_WAY  # it changes all the time
            if fact.home.scope in comparing.SCOPES and not is_work and _is_recent(tx, fact.updated_at):
                text = self.texts.of(fact_text.of(fact.key, fact.value))
                written = WrittenText(text, None, fact.home.owner, fresh)
                new = Thing("fact", id, f"f {fact.key}")
                compared = comparing.compare(tx, written, self.texts, ())
                newer = {
                    similar.memory.id
                    for similar in compared.similar
                    if isinstance(similar.memory, Memory) and similar.memory.created_at > fact.updated_at
                }
                return _Later(new, written, compared, newer, newer)
        return None

    def _keep(self, later: "_Later") -> None:
        """Keep notices of what the new thing may replace, else of what is closest."""
        compared, written = later.compared, later.written
        replaced = [
            similar
            for similar in compared.similar
            if similar.memory.id in compared.maybe_replaced and similar.memory.id not in later.known_older
        ]
        close = [similar for similar in compared.similar if similar.memory.id not in later.known_close]
        for similar in replaced or close[:CLOSEST]:
            old = thing(similar.memory)
            notice = Notice(later.new.handle, old.handle, similar.differs, bool(replaced))
            if (notice.new, notice.old) not in self._pairs:
                self._pairs.add((notice.new, notice.old))
                self._waiting.append((written.project or "", written.person, notice))
            if replaced:
                with self.database.write() as tx:
                    tx.likely_updates.insert(LikelyUpdate(later.new, old))


@dataclass(frozen=True, slots=True)
class _Later:
    """A new thing and its comparison. A client knows of `known_older` that it may replace them."""

    new: Thing
    written: WrittenText
    compared: Compared
    known_older: Collection[MemoryId | str] = ()
    known_close: Collection[MemoryId | str] = ()

    def with_alone(self, id: int) -> "_Later":
        """Return what the comparison says of one older memory."""
        similar = tuple(near for near in self.compared.similar if near.memory.id == id)
        return replace(self, compared=replace(self.compared, similar=similar))


def _is_recent(tx: Tx, at: str) -> bool:
    return at >= timestamp(parse(tx.now) - RECENT)
