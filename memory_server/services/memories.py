"""Typed memories: store, read, change, forget, count."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from memory_server.domain import forgetting, parts
from memory_server.domain import memory as domain
from memory_server.domain.caller import Caller
from memory_server.domain.consolidation import THRESHOLD, Likeness, Text, compare, prepare
from memory_server.domain.edge import Edge, Relation
from memory_server.domain.embedding import Embedded
from memory_server.domain.forgetting import Forgotten, Kind
from memory_server.domain.memory import Filter, Memory, MemoryChange, MemoryDraft, MemoryId, Stored
from memory_server.domain.secrets import refuse_secrets
from memory_server.errors import Invalid, Mend, NotFound, Problem
from memory_server.language import query
from memory_server.nlp import Segmenter
from memory_server.services import projects
from memory_server.services.embedding_queue import Coverage, EmbeddingQueue, Fresh
from memory_server.sqlite import edges, embeddings, job_problems, memories, trash, words
from memory_server.sqlite.database import Database
from memory_server.sqlite.tx import Tx, WriteTx

PEERS = 500
"""Memories that share rare words with a draft and are compared with it: about 20 ms."""


@dataclass(frozen=True, slots=True)
class Detailed:
    """A memory with the texts it had before, newest first."""

    memory: Memory
    earlier: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Read:
    """The memories that there are, and the ids of the others; `degraded` names the rows that cannot be read."""

    found: list[Detailed]
    missing: list[MemoryId]
    degraded: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts by type and by project ('' is none), the embeddings, and the file's size in bytes.

    `jobs` has the last problem of each background job that fails now. `note` says that the project is not known.
    """

    total: int
    by_type: Mapping[str, int]
    by_project: Mapping[str, int]
    coverage: Coverage
    size: int
    jobs: Mapping[str, str]
    note: str | None = None


@dataclass(frozen=True, slots=True)
class MemoryService:
    database: Database
    queue: EmbeddingQueue
    segmenter: Segmenter
    allow_secrets: bool = False

    def store(
        self,
        draft: MemoryDraft,
        related_to: MemoryId | None,
        caller: Caller,
        summarizes: Sequence[MemoryId] = (),
    ) -> Stored:
        """Keep a memory, or merge it into its twin: one that says the same in the same project and type.

        Briefings say it instead of the memories that it `summarizes`. The project of the draft is a name, a key, a path
        or the address of a remote.

        Raises:
            Invalid: it looks like a credential.
            NotFound: `related_to`, or one that it summarizes, does not exist.
        """
        project = projects.asked(draft.project or "", caller)
        self._refuse_secrets(draft.content, project.name, draft.tags, draft.metadata, draft.session)
        text = self._prepared(draft.content)
        fresh = self.queue.embed_now(draft.content)
        with self.database.write() as tx:
            draft = replace(draft, project=projects.settle(tx, project) or None)
            for id in filter(None, (related_to, *summarizes)):
                memories.get(tx, id)
            twin, similar = self._twin(tx, draft, text)
            stored = memories.insert(tx, draft, caller) if twin is None else self._merge(tx, twin, draft)
            if related_to is not None and related_to != stored.id:
                edges.connect(tx, Edge(stored.id, related_to), caller)
            for id in dict.fromkeys(summarizes):
                if id != stored.id:
                    edges.connect(tx, Edge(stored.id, id, Relation.SUMMARIZES), caller)
            changed = twin is None or twin.content != stored.content
            queued = changed and not _keep(tx, fresh, stored)
        if queued:
            self.queue.wake()
        return Stored(stored, twin is not None, queued, similar)

    def get(self, ids: Sequence[MemoryId]) -> Read:
        """Memories whole, in the order asked for. Counts no access."""
        with self.database.read() as tx:
            found = memories.select(tx, list(dict.fromkeys(ids)))
            earlier = memories.earlier(tx, ids)
            skipped = tuple(tx.skipped)
        there = {memory.id for memory in found}
        details = [Detailed(memory, tuple(earlier.get(memory.id, ()))) for memory in found]
        return Read(details, [id for id in dict.fromkeys(ids) if id not in there], skipped)

    def update(
        self,
        id: MemoryId,
        wanted: MemoryChange,
        caller: Caller = Caller(),  # noqa: B008 - it is frozen
    ) -> Detailed:
        """Change the fields given; an earlier text stays in the history.

        Raises:
            Invalid: nothing to change, or it looks like a credential.
            NotFound: no such memory.
        """
        if wanted == MemoryChange():
            raise Invalid("Nothing to update.", Mend.NAME_MEMORY_FIELDS)
        project = None if wanted.project is None else projects.asked(wanted.project, caller)
        self._refuse_secrets(wanted.content, project and project.name, wanted.tags, wanted.metadata)
        fresh = None if wanted.content is None else self.queue.embed_now(wanted.content)
        with self.database.write() as tx:
            if project is not None:
                wanted = replace(wanted, project=projects.settle(tx, project))
            before = memories.get(tx, id)
            after = memories.replace(tx, domain.change(before, wanted), "rewritten")
            earlier = memories.earlier(tx, [id])
            queued = after.content != before.content and not _keep(tx, fresh, after)
        if queued:
            self.queue.wake()
        return Detailed(after, tuple(earlier.get(id, ())))

    def forget(self, id: MemoryId, purge: bool, caller: Caller) -> Forgotten:
        """Delete a memory with its history and edges: it can be brought back for 30 days. Or erase it for good.

        Raises:
            NotFound: no such memory; to erase, also none that was deleted.
        """
        with self.database.write() as tx:
            there = trash.put(tx, Kind.MEMORY, [id], caller)
            deleted = trash.select(tx, Kind.MEMORY, item_id=id)
            if not there and not (purge and deleted):
                raise NotFound(f"No memory {id}, so nothing was deleted.", Mend.FIND_MEMORY)
            if not purge:
                return forgetting.deleted(there, tx.now)
            trash.erase(tx, [each.id for each in deleted])
        return forgetting.erased(1, self.database.drop_copies())

    def restore(self, id: MemoryId) -> Detailed:
        """Bring back a memory that was deleted, as it was.

        Raises:
            NotFound: it was not deleted in the last 30 days.
        """
        with self.database.write() as tx:
            trashed = trash.find_last(tx, Kind.MEMORY, id)
            if trashed is None:
                raise NotFound(f"No memory {id} was deleted in the last 30 days. Nothing was restored.")
            trash.restore(tx, Kind.MEMORY, trashed)
            restored = memories.get(tx, id)
            earlier = memories.earlier(tx, [id])
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
            by_type = memories.count_by_type(tx, where.only)
            by_project = memories.count_by_project(tx, where.only)
            jobs = job_problems.select(tx)
            size = tx.size()
        return Statistics(sum(by_type.values()), by_type, by_project, coverage, size, jobs, where.note)

    def _refuse_secrets(self, *values: object) -> None:
        if not self.allow_secrets:
            refuse_secrets(*values)

    def _twin(self, tx: Tx, draft: MemoryDraft, text: Text) -> tuple[Memory | None, tuple[MemoryId, ...]]:
        """The memory that the draft restates, if any, and those that are close but say something else."""
        similar: list[MemoryId] = []
        twin = None
        where = Filter(type=draft.type, project=draft.project or "")
        phrases = list(map(query.index_phrase, text.words))
        for peer in memories.select(tx, words.peers(tx, phrases, THRESHOLD, where, PEERS)):
            likeness = self._likeness(draft, text, peer)
            if likeness is Likeness.RESTATEMENT and twin is None:
                twin = peer
            elif likeness is not Likeness.DIFFERENT:
                similar.append(peer.id)
        return twin, tuple(similar)

    def _prepared(self, content: str) -> Text:
        """A text to compare: of a long one the first part."""
        return prepare(parts.split(content)[0], self.segmenter.segment)

    def _likeness(self, draft: MemoryDraft, text: Text, peer: Memory) -> Likeness:
        """A long text restates another one only if it is the same: to compare all of it would take seconds."""
        if len(draft.content) <= parts.LONG and len(peer.content) <= parts.LONG:
            return compare(text, self._prepared(peer.content))
        return Likeness.RESTATEMENT if draft.content == peer.content else Likeness.DIFFERENT

    def _merge(self, tx: WriteTx, twin: Memory, draft: MemoryDraft) -> Memory:
        merged = memories.replace(tx, domain.merge(twin, draft), "merged")
        if draft.content not in (twin.content, merged.content):
            memories.keep_merged(tx, twin.id, draft.content)
        return merged


def _keep(tx: WriteTx, fresh: Fresh | None, memory: Memory) -> bool:
    """Keep the vector of a memory's text; false where that waits in the queue."""
    if fresh is None or fresh.text != memory.content:
        return False
    return embeddings.keep(tx, fresh.space_id, Embedded.MEMORIES, memory.id, fresh.text, fresh.vector)
