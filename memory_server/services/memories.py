"""Typed memories: store, find, read, change, forget, count."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from memory_server.domain import memory as domain
from memory_server.domain import query, ranking, scoring
from memory_server.domain.consolidation import THRESHOLD, Likeness, Text, compare, prepare
from memory_server.domain.edge import Edge
from memory_server.domain.embedding import Space, Vector
from memory_server.domain.memory import (
    Caller,
    Filter,
    Memory,
    MemoryChange,
    MemoryDraft,
    MemoryId,
    Stored,
)
from memory_server.domain.ranking import Hit, Literal, Why
from memory_server.domain.secrets import refuse_secrets
from memory_server.domain.text import fold
from memory_server.errors import Invalid, NotFound
from memory_server.nlp import Segmenter
from memory_server.services.indexing import Coverage, Indexer, name
from memory_server.sqlite import edges, embeddings, memories, words
from memory_server.sqlite.database import Database, Tx, WriteTx

WORD_CANDIDATES = 200
MEANING_CANDIDATES = 100

SYMBOL_SHARE = 0.5
"""What an emoji of the query counts where a memory holds it."""

PEERS = 500
"""So many memories that share rare words with a draft are compared with it."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search answers; `degraded` says why it is less than it could be."""

    hits: list[Hit]
    embedder: str
    degraded: str | None


@dataclass(frozen=True, slots=True)
class Detailed:
    """A memory with the texts it had before, newest first."""

    memory: Memory
    earlier: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts by type and by project ('' is none), the embeddings, and the file's size in bytes."""

    total: int
    by_type: Mapping[str, int]
    by_project: Mapping[str, int]
    coverage: Coverage
    size: int


@dataclass(frozen=True, slots=True)
class MemoryService:
    """`count_access` is off where the server was started read-only."""

    database: Database
    indexer: Indexer
    segmenter: Segmenter
    allow_secrets: bool = False
    count_access: bool = True

    def store(self, draft: MemoryDraft, related_to: MemoryId | None, caller: Caller) -> Stored:
        """Keep a memory, or merge it into its twin: one that says the same in the same project and type.

        Raises:
            Invalid: it looks like a credential.
            NotFound: `related_to` does not exist.
        """
        self._refuse_secrets(draft.content, draft.project, draft.tags, draft.metadata)
        text = prepare(draft.content, self.segmenter.segment)
        with self.database.write() as tx:
            if related_to is not None:
                memories.get(tx, related_to)
            twin, similar = self._twin(tx, draft, text)
            stored = memories.insert(tx, draft, caller) if twin is None else self._merge(tx, twin, draft)
            if related_to is not None and related_to != stored.id:
                edges.connect(tx, Edge(stored.id, related_to), caller)
        changed = twin is None or twin.content != stored.content
        if changed:
            self.indexer.wake()
        return Stored(stored, twin is not None, changed, similar)

    def search(self, text: str, wanted: Filter, limit: int, mode: str) -> Found:
        """The memories that answer a question best, each counted as accessed once.

        `mode` is hybrid, semantic or keyword. Where meaning cannot answer, words do, and `degraded` says why.
        """
        asked = query.parse(text)
        meaning = self._meaning(asked) if mode != "keyword" else _Meaning()
        if meaning.vector is None:
            mode = "keyword"
        with self.database.read() as tx:
            shares = self._word_shares(tx, asked, wanted) if mode != "semantic" else {}
            cosines = self._cosines(tx, meaning, wanted, limit, shares)
            found = {**shares, **cosines}
            successors = edges.successors(tx, list(found))
            holding = [id for id in successors.values() if id not in successors and id not in found]
            cosines |= self._joining(tx, meaning, wanted, holding)
            candidates = self._hits(tx, asked, meaning, shares, cosines, mode)
            hits = ranking.best(candidates, limit, successors)
            near = edges.strongest(tx, hits[0].memory.id, ranking.NEIGHBOURS) if hits else []
            there = {hit.memory.id for hit in candidates}
            unseen = [id for edge in near for id in (edge.source, edge.target) if id not in there]
            neighbours = self._joining(tx, meaning, wanted, unseen)
            candidates += self._hits(tx, asked, meaning, {}, neighbours, mode)
            hits = ranking.with_neighbours(hits, near, candidates, limit)
        problems = [meaning.degraded, self._count_accesses(hits)]
        degraded = "; ".join(problem for problem in problems if problem) or None
        return Found(hits, name(meaning.space) if meaning.space else "none", degraded)

    def get(self, ids: Sequence[MemoryId]) -> tuple[list[Detailed], list[MemoryId]]:
        """Those that exist, in the order asked for, and the ids of those that do not. Counts no access."""
        with self.database.read() as tx:
            found = memories.select(tx, list(dict.fromkeys(ids)))
            earlier = memories.earlier(tx, ids)
        there = {memory.id for memory in found}
        details = [Detailed(memory, tuple(earlier.get(memory.id, ()))) for memory in found]
        return details, [id for id in dict.fromkeys(ids) if id not in there]

    def update(self, id: MemoryId, wanted: MemoryChange) -> Memory:
        """Change the fields given; an earlier text stays in the history.

        Raises:
            Invalid: nothing to change, or it looks like a credential.
            NotFound: no such memory.
        """
        if wanted == MemoryChange():
            raise Invalid(
                "Nothing to update. Give at least one of content, type, tags, importance, project, metadata."
            )
        self._refuse_secrets(wanted.content, wanted.project, wanted.tags, wanted.metadata)
        with self.database.write() as tx:
            before = memories.get(tx, id)
            after = memories.replace(tx, domain.change(before, wanted))
            if after.content != before.content:
                memories.explain_earlier(tx, id, "rewritten")
        if after.content != before.content:
            self.indexer.wake()
        return after

    def forget(self, id: MemoryId) -> None:
        """Delete a memory for good: its text, history, words, edges and embeddings leave the file.

        Raises:
            NotFound: no such memory.
        """
        with self.database.write() as tx:
            if not memories.delete(tx, id):
                raise NotFound(
                    f"No memory {id}, so nothing was deleted. Call `memory_search` to find its id."
                )
            words.purge(tx)

    def statistics(self, project: str | None) -> Statistics:
        """Counts, of one project or of all."""
        coverage = self.indexer.coverage(project)
        with self.database.read() as tx:
            by_type = memories.count(tx, project, by="type")
            by_project = memories.count(tx, project, by="project")
        return Statistics(sum(by_type.values()), by_type, by_project, coverage, self.database.size())

    def _count_accesses(self, hits: Sequence[Hit]) -> str | None:
        surely = [hit.memory.id for hit in hits if not ranking.is_weak(hit)]
        if not surely or not self.count_access:
            return None
        problem = self.database.count(lambda tx: memories.mark_accessed(tx, surely))
        return None if problem is None else f"accesses were not counted: {problem}"

    def _refuse_secrets(self, *values: object) -> None:
        if not self.allow_secrets:
            refuse_secrets(*values)

    def _twin(self, tx: Tx, draft: MemoryDraft, text: Text) -> tuple[Memory | None, tuple[MemoryId, ...]]:
        """The memory that the draft restates, if any, and those that are close but say something else."""
        similar: list[MemoryId] = []
        twin = None
        where = Filter(type=draft.type, project=draft.project or "")
        for peer in memories.select(tx, words.sharing(tx, _rarest(tx, text), where, PEERS)):
            likeness = compare(text, prepare(peer.content, self.segmenter.segment))
            if likeness is Likeness.RESTATEMENT and twin is None:
                twin = peer
            elif likeness is not Likeness.DIFFERENT:
                similar.append(peer.id)
        return twin, tuple(similar)

    def _merge(self, tx: WriteTx, twin: Memory, draft: MemoryDraft) -> Memory:
        merged = memories.replace(tx, domain.merge(twin, draft))
        if merged.content != twin.content:
            memories.explain_earlier(tx, twin.id, "merged")
        elif draft.content != twin.content:
            memories.keep_merged(tx, twin.id, draft.content)
        return merged

    def _meaning(self, asked: query.Query) -> "_Meaning":
        answering = self.indexer.answering()
        if isinstance(answering, str):
            return _Meaning(degraded=f"found by words only: {answering}")
        left = self.indexer.catch_up(answering, embeddings.MEMORIES)
        return _Meaning(
            answering.space_id,
            answering.embedder.space,
            answering.embedder.embed_query(asked.text),
            f"{left} memories are not embedded yet and were found by words only" if left else None,
        )

    def _word_shares(self, tx: Tx, asked: query.Query, wanted: Filter) -> dict[MemoryId, float]:
        if asked.terms:
            hits = words.search(tx, asked.terms, wanted, WORD_CANDIDATES)
        else:
            hits = words.containing(tx, asked.text, wanted, WORD_CANDIDATES)
        shares = {hit.id: hit.share for hit in hits}
        for symbol in asked.symbols:
            for hit in words.containing(tx, symbol, wanted, WORD_CANDIDATES):
                shares[hit.id] = max(SYMBOL_SHARE, shares.get(hit.id, 0.0))
        return shares

    def _cosines(
        self, tx: Tx, meaning: "_Meaning", wanted: Filter, limit: int, also: Mapping[MemoryId, float]
    ) -> dict[MemoryId, float]:
        """The cosines of the nearest memories, and of those that the words found."""
        if meaning.space_id is None or meaning.vector is None:
            return {}
        near = embeddings.nearest(
            tx, meaning.space_id, meaning.vector, wanted, max(limit, MEANING_CANDIDATES)
        )
        found = {hit.id: hit.cosine for hit in near}
        return found | self._cosines_of(tx, meaning, [id for id in also if id not in found])

    def _joining(
        self, tx: Tx, meaning: "_Meaning", wanted: Filter, ids: Sequence[MemoryId]
    ) -> dict[MemoryId, float]:
        """The cosines of memories that join a search over an edge, where its filter lets them."""
        passing = memories.passing(tx, ids, wanted) if ids else []
        return {**dict.fromkeys(passing, 0.0), **self._cosines_of(tx, meaning, passing)}

    def _hits(
        self,
        tx: Tx,
        asked: query.Query,
        meaning: "_Meaning",
        shares: Mapping[MemoryId, float],
        cosines: Mapping[MemoryId, float],
        mode: str,
    ) -> list[Hit]:
        weight = ranking.meaning_weight(meaning.space, mode, asked.chinese)
        literal = Literal(asked.text)
        hits = []
        for memory in memories.select(tx, list({**shares, **cosines})):
            text = fold(memory.content)
            whole = memory.id in shares and literal.within(text)
            share = 1.0 if whole else min(ranking.INEXACT, shares.get(memory.id, 0.0))
            why = Why(share, cosines.get(memory.id, 0.0), scoring.decayed_score(memory, tx.now))
            hits.append(Hit(memory, ranking.score(why, weight) * literal.share(text), why))
        return hits

    def _cosines_of(self, tx: Tx, meaning: "_Meaning", ids: Sequence[MemoryId]) -> dict[MemoryId, float]:
        if meaning.space_id is None or meaning.vector is None:
            return {}
        return embeddings.cosines(tx, meaning.space_id, meaning.vector, ids)


@dataclass(frozen=True, slots=True)
class _Meaning:
    """A query's vector and the space it lives in, where there is one."""

    space_id: int | None = None
    space: Space | None = None
    vector: Vector | None = None
    degraded: str | None = None


def _rarest(tx: Tx, text: Text) -> list[str]:
    """So many of the rarest words that each text with a Jaccard of THRESHOLD must share one of them.

    Such a text shares at least THRESHOLD of the words, so it cannot avoid any group larger than the rest
    (the prefix filter of set similarity joins, Chaudhuri et al., ICDE 2006).
    """
    phrases = sorted((words.count(tx, phrase), phrase) for phrase in map(query.index_phrase, text.words))
    needed = len(phrases) - ceil(THRESHOLD * len(phrases)) + 1
    return [phrase for count, phrase in phrases[:needed] if count]
