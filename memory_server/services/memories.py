"""Typed memories: store, read, change, forget, count."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from memory_server.domain import memory as domain
from memory_server.domain import trust
from memory_server.domain.caller import Caller
from memory_server.domain.edge import Relation
from memory_server.domain.embedding import Embedded
from memory_server.domain.forgetting import Forgotten, Kind
from memory_server.domain.learning import How
from memory_server.domain.memory import Memory, MemoryChange, MemoryDraft, MemoryId, Past, Similar, Stored
from memory_server.domain.notice import LikelyUpdate, thing
from memory_server.domain.secrets import refuse_secrets
from memory_server.domain.similar import Compared
from memory_server.errors import Invalid, Mend, NotFound, Problem, Unavailable
from memory_server.nlp import Segmenter
from memory_server.services import comparing, deleting, outdating, projects
from memory_server.services.comparing import WrittenText
from memory_server.services.coverage import Coverage, coverage_in
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.ground import Hears, unheard
from memory_server.services.meaning import Fresh, keep, usable
from memory_server.services.prepared import PreparedTexts
from memory_server.services.trusting import refuse_replacing, refuse_standing_for
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
    same_as: MemoryId | str | None = None


@dataclass(frozen=True, slots=True)
class Read:
    """The memories that there are, and the ids of the others; `degraded` names the rows that cannot be read."""

    memories: list[Detailed]
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
    """`written` hears of each text that is new."""

    database: Database
    queue: EmbeddingQueue
    segmenter: Segmenter
    allow_secrets: bool = False
    written: Hears = unheard
    texts: PreparedTexts = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "texts", PreparedTexts(self.segmenter))

    def store(
        self,
        draft: MemoryDraft,
        related_to: MemoryId | None,
        caller: Caller,
        summarizes: Sequence[MemoryId] = (),
        supersedes: Sequence[MemoryId | str] = (),
    ) -> Stored:
        """Keep a memory, or merge it into its twin: one that says the same in the same project and type.

        It is never merged into a memory that is superseded, by another one or by this. Briefings say it instead of the
        memories that it `summarizes`. The project of the draft is a name, a key, a path or the address of a remote.
        `supersedes` are ids of memories, and handles of facts and turns, which become memories then.

        Raises:
            Conflict: somebody outside says it, and somebody else said one that it supersedes or summarizes.
            Invalid: it looks like a credential.
            NotFound: `related_to`, or one that it supersedes or summarizes, does not exist.
        """
        project = projects.asked(draft.project or "", caller)
        self._refuse_secrets(draft.content, project.name, draft.tags, draft.metadata, draft.session)
        text = self.texts.of(draft.content)
        fresh_now = self.queue.embed_now(draft.content)
        stamp = draft.origin or draft.stamped(caller.stamp)
        with self.database.write() as tx:
            name, fresh = projects.settle(tx, project), usable(tx, fresh_now)
            draft = replace(draft, project=name or None)
            older = _superseded(tx, supersedes, draft, caller)
            ends = _ends(tx, list(dict.fromkeys(filter(None, (related_to, *older, *summarizes)))))
            joined = [ends[id].origin for id in (*older, *summarizes)]
            draft = replace(draft, origin=trust.joined(stamp, joined))
            person = None if name else tx.owner
            homes = comparing.homes_of(name, caller)
            written = WrittenText(text, draft.type, draft.project, fresh, person, homes)
            comparison = comparing.compare(tx, written, self.texts, older)
            twin = comparison.twin
            origin = _echoed(draft.origin or stamp, comparison)
            for replaced_id in (*older, *summarizes):
                refuse_replacing(origin, ends[replaced_id])
            draft = replace(draft, origin=origin)
            stored = (
                tx.memories.insert(draft, caller) if twin is None else self._merge(tx, twin, draft, caller)
            )
            relations = [(related_to, Relation.RELATED_TO), *((id, Relation.SUPERSEDES) for id in older)]
            relations += [(id, Relation.SUMMARIZES) for id in dict.fromkeys(summarizes)]
            for id, relation in relations:
                if id is not None and (id != stored.id or relation is Relation.SUPERSEDES):
                    tx.edges.link(stored, ends[id], relation, caller)
            built_on = [twin and twin.id, related_to, *older, *summarizes]
            tx.memory_uses.mark_used([id for id in built_on if id], caller.session, How.CALLED)
            changed = twin is None or twin.content != stored.content
            queued = changed and not _keep(tx, fresh, stored)
            replaced = tuple(id for id in comparison.maybe_replaced if id not in summarizes)
            for similar in comparison.similar:
                if similar.memory.id in replaced:
                    tx.likely_updates.insert(LikelyUpdate(thing(stored), thing(similar.memory)))
        if queued:
            self.queue.wake()
        if changed:
            self.written(stored, caller)
        return Stored(stored, twin is not None, queued, comparison.similar, replaced)

    def check(self, draft: MemoryDraft) -> None:
        """Raises Invalid if a part of the draft looks like a credential."""
        self._refuse_secrets(draft.content, draft.project, draft.tags, draft.metadata, draft.session)

    def get(self, ids: Sequence[MemoryId]) -> Read:
        """Return memories whole, in the order of `ids`, with the accesses counted by now. Counts none itself."""
        self.database.settle()
        with self.database.read() as tx:
            memories, earlier = tx.memories.select(list(dict.fromkeys(ids))), tx.memories.earlier(ids)
            skipped = tuple(tx.skipped)
        present = {memory.id for memory in memories}
        details = [Detailed(memory, tuple(earlier.get(memory.id, ()))) for memory in memories]
        return Read(details, [id for id in dict.fromkeys(ids) if id not in present], skipped)

    def whole(self, id: MemoryId) -> Detailed:
        """Return one memory as `get` does.

        Raises:
            NotFound: there is none.
            Unavailable: it cannot be read.
        """
        read = self.get([id])
        if read.memories:
            return read.memories[0]
        for problem in read.degraded:
            raise Unavailable(problem.text, *problem.hints)
        raise NotFound(f"No memory {id}.", Mend.FIND_MEMORY)

    def past(self, id: MemoryId) -> list[Past]:
        """Return the earlier texts of a memory with their times, newest first."""
        with self.database.read() as tx:
            return tx.memories.past(id)

    def update(self, id: MemoryId, change: MemoryChange, caller: Caller) -> Updated:
        """Change the fields given; an earlier text stays in the history. It is never merged with another memory.

        Raises:
            Conflict: somebody outside says it, and somebody else said what the memory says or replaces.
            Invalid: nothing to change, or it looks like a credential.
            NotFound: no such memory.
        """
        if change == MemoryChange():
            raise Invalid("Nothing to update.", Mend.NAME_MEMORY_FIELDS)
        project = None if change.project is None else projects.asked(change.project, caller)
        self._refuse_secrets(change.content, project and project.name, change.tags, change.metadata)
        fresh_now = None if change.content is None else self.queue.embed_now(change.content)
        with self.database.write() as tx:
            before, fresh = tx.memories.get(id), usable(tx, fresh_now)
            if project is not None:
                change = replace(change, project=projects.settle(tx, project))
            stamp = change.stamped(before.origin, caller.stamp)
            if change.content is not None or stamp != before.origin:
                refuse_replacing(stamp, before)
                origin = trust.joined(stamp, [before.origin])
                refuse_standing_for(tx, origin, id)
                change = replace(change, origin=origin)
            tx.changes.keep_memory(before, caller)
            after = tx.memories.replace(before, domain.change(before, change), "rewritten")
            tx.memory_uses.mark_used([id], caller.session, How.CALLED)
            queued = after.content != before.content and not _keep(tx, fresh, after)
            earlier = tx.memories.earlier([id])
            comparison = self._compared_now(tx, after, fresh) if domain.moves(before, after) else Compared()
        if queued:
            self.queue.wake()
        if after.content != before.content:
            self.written(after, caller)
        same = comparison.twin or comparison.restated
        return Updated(after, tuple(earlier.get(id, ())), comparison.similar, same.id if same else None)

    def forget(self, id: MemoryId, purge: bool, caller: Caller) -> Forgotten:
        """Delete a memory with its history and edges: it can be brought back for 30 days. Or erase it for good, where
        nobody else has written any of it.

        Raises:
            NotFound: no such memory; to erase, also none that was deleted.
        """
        return deleting.delete(self.database, Kind.MEMORY, id, purge, caller)

    def restore(self, id: MemoryId) -> Detailed:
        """Bring back a memory that was deleted, as it was.

        Raises:
            NotFound: it was not deleted in the last 30 days.
        """
        with self.database.write() as tx:
            deleting.restore(tx, Kind.MEMORY, id)
            restored = tx.memories.get(id)
            earlier = tx.memories.earlier([id])
        self.queue.wake()
        return Detailed(restored, tuple(earlier.get(id, ())))

    def statistics(self, project: str | None, caller: Caller) -> Statistics:
        """Counts, of one project or of all."""
        lookup = projects.among(project, caller)
        answering = self.queue.answering(anew=True)
        with self.database.read() as tx:
            where = lookup(tx)
            by_type, by_project = (
                tx.memory_counts.by_type(where.only),
                tx.memory_counts.by_project(where.only),
            )
            return Statistics(
                sum(by_type.values()),
                by_type,
                by_project,
                coverage_in(tx, answering, where.only),
                tx.size() if tx.person is None else None,
                tx.job_problems.select(),
                where.note,
            )

    def _refuse_secrets(self, *values: object) -> None:
        if not self.allow_secrets:
            refuse_secrets(*values)

    def _compared_now(self, tx: Tx, memory: Memory, fresh: Fresh | None) -> Compared:
        text = self.texts.of(memory.content)
        written = WrittenText(text, memory.type, memory.project, fresh, memory.person)
        return comparing.compare(tx, written, self.texts, (memory.id,))

    def _merge(self, tx: WriteTx, twin: Memory, draft: MemoryDraft, caller: Caller) -> Memory:
        tx.changes.keep_memory(twin, caller, merged=draft)
        merged = tx.memories.replace(twin, domain.merge(twin, draft), "merged")
        if draft.content not in (twin.content, merged.content):
            tx.memories.keep_merged(twin.id, draft.content)
        return merged


def _echoed(stamp: str, comparison: Compared) -> str:
    """Return the origin of a text that is close to memories: a model that has read one from outside may reword it."""
    close = (similar.memory for similar in comparison.similar)
    return trust.joined(
        stamp,
        (memory.origin for memory in close if isinstance(memory, Memory) and trust.waits(memory.origin)),
    )


def _superseded(
    tx: WriteTx, supersedes: Sequence[MemoryId | str], draft: MemoryDraft, caller: Caller
) -> tuple[MemoryId, ...]:
    """Return the ids of what a draft supersedes; a fact or a turn becomes a memory."""
    return tuple(
        outdating.as_memory(tx, target, draft, caller).id if isinstance(target, str) else target
        for target in dict.fromkeys(supersedes)
    )


def _ends(tx: Tx, ids: Sequence[MemoryId]) -> dict[MemoryId, Memory]:
    """Return these memories by their ids. Raises NotFound if one does not exist, Unavailable if one cannot be read."""
    memories = {memory.id: memory for memory in tx.memories.select(ids)} if ids else {}
    return {id: memories.get(id) or tx.memories.get(id) for id in ids}


def _keep(tx: WriteTx, fresh: Fresh | None, memory: Memory) -> bool:
    """Keep the vector of a memory's text; return False where that waits in the queue."""
    if fresh is None or fresh.texts != (memory.content,):
        return False
    keep(tx, fresh, Embedded.MEMORIES, memory.id)
    return True
