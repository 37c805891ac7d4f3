"""Typed memories: store, read, change, forget, count."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memory_server.domain import forgetting
from memory_server.domain import memory as domain
from memory_server.domain.caller import Caller
from memory_server.domain.edge import Edge, Relation
from memory_server.domain.embedding import Embedded
from memory_server.domain.forgetting import Forgotten, Kind
from memory_server.domain.learning import How
from memory_server.domain.memory import Memory, MemoryChange, MemoryDraft, MemoryId, Past, Similar, Stored
from memory_server.domain.secrets import refuse_secrets
from memory_server.domain.similar import Compared
from memory_server.errors import Invalid, Mend, NotFound, Problem
from memory_server.nlp import Segmenter
from memory_server.services import comparing, projects
from memory_server.services.comparing import Written
from memory_server.services.embedding_queue import Coverage, EmbeddingQueue, Fresh, usable
from memory_server.services.prepared import PreparedTexts
from memory_server.storage.database import Database
from memory_server.storage.tx import Tx, WriteTx


@dataclass(frozen=True, slots=True)
class Detailed:
    """A memory with the texts it had before, newest first."""

    memory: Memory
    earlier: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Updated:
    """A memory as it is now, with the texts it had before; and which memories are close to it now.

    `same_as` is another memory that says the same.
    """

    memory: Memory
    earlier: tuple[str, ...]
    similar: tuple[Similar, ...] = ()
    same_as: MemoryId | None = None


@dataclass(frozen=True, slots=True)
class Read:
    """The memories that there are, and the ids of the others; `degraded` names the rows that cannot be read."""

    found: list[Detailed]
    missing: list[MemoryId]
    degraded: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts by type and by project ('' is none), the embeddings, and the file's size in bytes: no person is told that.

    `jobs` has the last problem of each background job that fails now. `note` says that the project is not known.
    """

    total: int
    by_type: Mapping[str, int]
    by_project: Mapping[str, int]
    coverage: Coverage
    size: int | None
    jobs: Mapping[str, str]
    note: str | None = None


@dataclass(frozen=True, slots=True)
class MemoryService:
    database: Database
    queue: EmbeddingQueue
    segmenter: Segmenter
    allow_secrets: bool = False
    texts: PreparedTexts = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "texts", PreparedTexts(self.segmenter))

    def store(
        self,
        draft: MemoryDraft,
        related_to: MemoryId | None,
        caller: Caller,
        summarizes: Sequence[MemoryId] = (),
        supersedes: MemoryId | None = None,
    ) -> Stored:
        """Keep a memory, or merge it into its twin: one that says the same in the same project and type.

        It is never merged into a memory that is superseded, by another one or by this. Briefings say it instead of the
        memories that it `summarizes`. The project of the draft is a name, a key, a path or the address of a remote.

        Raises:
            Invalid: it looks like a credential.
            NotFound: `related_to`, `supersedes` or one that it summarizes does not exist.
        """
        project = projects.asked(draft.project or "", caller)
        self._refuse_secrets(draft.content, project.name, draft.tags, draft.metadata, draft.session)
        text = self.texts.of(draft.content)
        fresh_now = self.queue.embed_now(draft.content)
        with self.database.write() as tx:
            name, fresh = tx.both(lambda: projects.settle(tx, project), lambda: usable(tx, fresh_now))
            draft = replace(draft, project=name or None)
            for id in filter(None, (related_to, supersedes, *summarizes)):
                tx.memories.get(id)
            without = () if supersedes is None else (supersedes,)
            person = None if draft.project else tx.owner
            found = self._compared(tx, Written(text, draft.type, draft.project, fresh, person), without)
            twin = found.twin
            stored = (
                tx.memories.insert(draft, caller) if twin is None else self._merge(tx, twin, draft, caller)
            )
            if related_to is not None and related_to != stored.id:
                tx.edges.connect(Edge(stored.id, related_to), caller)
            if supersedes is not None:
                tx.edges.connect(Edge(stored.id, supersedes, Relation.SUPERSEDES), caller)
            for id in dict.fromkeys(summarizes):
                if id != stored.id:
                    tx.edges.connect(Edge(stored.id, id, Relation.SUMMARIZES), caller)
            built_on = [twin and twin.id, related_to, supersedes, *summarizes]
            tx.memory_uses.mark_used([id for id in built_on if id], caller.session, How.CALLED)
            changed = twin is None or twin.content != stored.content
            queued = changed and not _keep(tx, fresh, stored)
        if queued:
            self.queue.wake()
        replaced = tuple(each for each in found.maybe_replaced if each not in summarizes)
        return Stored(stored, twin is not None, queued, found.similar, replaced)

    def get(self, ids: Sequence[MemoryId]) -> Read:
        """Memories whole, in the order asked for, with the accesses that are counted by now. Counts none itself."""
        self.database.settle()
        with self.database.read() as tx:
            found = tx.memories.select(list(dict.fromkeys(ids)))
            earlier = tx.memories.earlier(ids)
            skipped = tuple(tx.skipped)
        there = {memory.id for memory in found}
        details = [Detailed(memory, tuple(earlier.get(memory.id, ()))) for memory in found]
        return Read(details, [id for id in dict.fromkeys(ids) if id not in there], skipped)

    def past(self, id: MemoryId) -> list[Past]:
        """The earlier texts of a memory with their times, newest first."""
        with self.database.read() as tx:
            return tx.memories.past(id)

    def update(
        self,
        id: MemoryId,
        wanted: MemoryChange,
        caller: Caller = Caller(),  # noqa: B008 - it is frozen
    ) -> Updated:
        """Change the fields given; an earlier text stays in the history. It is never merged with another memory.

        Raises:
            Invalid: nothing to change, or it looks like a credential.
            NotFound: no such memory.
        """
        if wanted == MemoryChange():
            raise Invalid("Nothing to update.", Mend.NAME_MEMORY_FIELDS)
        project = None if wanted.project is None else projects.asked(wanted.project, caller)
        self._refuse_secrets(wanted.content, project and project.name, wanted.tags, wanted.metadata)
        fresh_now = None if wanted.content is None else self.queue.embed_now(wanted.content)
        with self.database.write() as tx:
            fresh = usable(tx, fresh_now)
            if project is not None:
                wanted = replace(wanted, project=projects.settle(tx, project))
            before = tx.memories.get(id)
            tx.changes.keep_memory(before, caller)
            after = tx.memories.replace(domain.change(before, wanted), "rewritten")
            earlier = tx.memories.earlier([id])
            tx.memory_uses.mark_used([id], caller.session, How.CALLED)
            queued = after.content != before.content and not _keep(tx, fresh, after)
            found = self._compared_now(tx, after, fresh) if domain.moves(before, after) else Compared()
        if queued:
            self.queue.wake()
        same = found.twin or found.restated
        return Updated(after, tuple(earlier.get(id, ())), found.similar, same.id if same else None)

    def forget(self, id: MemoryId, purge: bool, caller: Caller) -> Forgotten:
        """Delete a memory with its history and edges: it can be brought back for 30 days. Or erase it for good.

        Raises:
            NotFound: no such memory; to erase, also none that was deleted.
        """
        with self.database.write() as tx:
            there = tx.trash.put(Kind.MEMORY, [id], caller)
            deleted = tx.trash.select(Kind.MEMORY, item_id=id)
            if not there and not (purge and deleted):
                raise NotFound(f"No memory {id}, so nothing was deleted.", Mend.FIND_MEMORY)
            if not purge:
                return forgetting.deleted(there, tx.now)
            tx.trash.erase([each.id for each in deleted])
        return forgetting.erased(1, self.database.drop_copies())

    def restore(self, id: MemoryId) -> Detailed:
        """Bring back a memory that was deleted, as it was.

        Raises:
            NotFound: it was not deleted in the last 30 days.
        """
        with self.database.write() as tx:
            trashed = tx.trash.find_last(Kind.MEMORY, id)
            if trashed is None:
                raise NotFound(f"No memory {id} was deleted in the last 30 days. Nothing was restored.")
            tx.trash.restore(Kind.MEMORY, trashed)
            restored = tx.memories.get(id)
            earlier = tx.memories.earlier([id])
        self.queue.wake()
        return Detailed(restored, tuple(earlier.get(id, ())))

    def statistics(
        self,
        given: str | None,
        caller: Caller = Caller(),  # noqa: B008 - it is frozen
    ) -> Statistics:
        """Counts, of one project or of all."""
        among = projects.among(given, caller)
        with self.database.read() as tx:
            where = among(tx)
        coverage = self.queue.coverage(where.only)
        with self.database.read() as tx:
            by_type = tx.memory_counts.by_type(where.only)
            by_project = tx.memory_counts.by_project(where.only)
            jobs = tx.job_problems.select()
            size = tx.size() if tx.person is None else None
        return Statistics(sum(by_type.values()), by_type, by_project, coverage, size, jobs, where.note)

    def _refuse_secrets(self, *values: object) -> None:
        if not self.allow_secrets:
            refuse_secrets(*values)

    def _compared(self, tx: Tx, written: Written, without: Collection[MemoryId]) -> Compared:
        return comparing.compare(tx, written, self.texts, without)

    def _compared_now(self, tx: Tx, memory: Memory, fresh: Fresh | None) -> Compared:
        text = self.texts.of(memory.content)
        return self._compared(
            tx, Written(text, memory.type, memory.project, fresh, memory.person), (memory.id,)
        )

    def _merge(self, tx: WriteTx, twin: Memory, draft: MemoryDraft, caller: Caller) -> Memory:
        tx.changes.keep_memory(twin, caller, merged=draft)
        merged = tx.memories.replace(domain.merge(twin, draft), "merged")
        if draft.content not in (twin.content, merged.content):
            tx.memories.keep_merged(twin.id, draft.content)
        return merged


def _keep(tx: WriteTx, fresh: Fresh | None, memory: Memory) -> bool:
    """Keep the vector of a memory's text; false where that waits in the queue."""
    if fresh is None or fresh.texts != (memory.content,):
        return False
    tx.embeddings.keep(fresh.space_id, Embedded.MEMORIES, memory.id, fresh.texts, fresh.vectors)
    return True
