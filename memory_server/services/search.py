"""The search in typed memories: candidates by words and meaning, ranked, widened by edges."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from memory_server.domain import ranking, scoring
from memory_server.domain.embedding import Embedded
from memory_server.domain.memory import Filter, Memory, MemoryId
from memory_server.domain.ranking import Hit, Literal, Why
from memory_server.errors import Problem
from memory_server.language import query
from memory_server.language.text import fold
from memory_server.services.embedding_queue import EmbeddingQueue, Meaning, Unanswered, name
from memory_server.sqlite import edges, embeddings, memories, words
from memory_server.sqlite.database import Database
from memory_server.sqlite.tx import Tx

WORD_CANDIDATES = 200
"""Memories that the words may propose: beyond them a common word adds time and no answers."""

MEANING_CANDIDATES = 100
"""Memories that the meaning may propose, or `limit` where that is more."""

SYMBOL_SHARE = 0.5
"""What an emoji of the query counts, of a full match of its words, where a memory has it."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search answers; `degraded` says why it is less than it could be."""

    hits: list[Hit]
    embedder: str
    degraded: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A query in all its forms, and which memories it may find. Without `meaning` words alone answer."""

    words: query.Query
    meaning: Meaning | None
    wanted: Filter
    limit: int
    mode: str


@dataclass(frozen=True, slots=True)
class SearchService:
    """`count_access` is off where the server was started read-only."""

    database: Database
    queue: EmbeddingQueue
    count_access: bool = True

    def search(self, text: str, wanted: Filter, limit: int, mode: str) -> Found:
        """The memories that answer a question best, each counted as accessed once.

        `mode` is hybrid, semantic or keyword. Where meaning cannot answer, words do, and `degraded` says why.
        """
        words_asked = query.parse(text)

        def ask(tx: Tx, meaning: Meaning | Unanswered | None) -> Found:
            known = meaning if isinstance(meaning, Meaning) else None
            asked = _Asked(words_asked, known, wanted, limit, mode if known else "keyword")
            candidates, successors = _candidates(tx, asked)
            hits = _widened(tx, asked, ranking.best(candidates, limit, successors), candidates)
            problems = [*_without_meaning(tx, meaning), *tx.skipped]
            return Found(hits, name(known.space) if known else "none", tuple(problems))

        if mode == "keyword":
            with self.database.read() as tx:
                found = ask(tx, None)
        else:
            found = self.queue.read(text, ask)
        not_counted = self._count_accesses(found.hits)
        return replace(found, degraded=(*found.degraded, *([not_counted] if not_counted else [])))

    def _count_accesses(self, hits: Sequence[Hit]) -> Problem | None:
        surely = [hit.memory.id for hit in hits if not ranking.is_weak(hit)]
        if not surely or not self.count_access:
            return None
        problem = self.database.record(lambda tx: memories.mark_accessed(tx, surely))
        return problem and Problem(f"accesses were not counted: {problem.text}", problem.hints)


def _without_meaning(tx: Tx, meaning: Meaning | Unanswered | None) -> list[Problem]:
    """Why meaning did not find all that it could."""
    if isinstance(meaning, Unanswered):
        return [Problem(f"found by words only: {meaning.problem.text}", meaning.problem.hints)]
    left = embeddings.count_waiting(tx, meaning.space_id, Embedded.MEMORIES) if meaning else 0
    return [Problem(f"{left} memories are not embedded yet and were found by words only")] if left else []


def _candidates(tx: Tx, asked: _Asked) -> tuple[list[Hit], Mapping[MemoryId, MemoryId]]:
    """The memories that words or meaning propose and those that superseded one of them, scored but not ranked;
    and what superseded what."""
    shares = _word_shares(tx, asked) if asked.mode != "semantic" else {}
    cosines = _cosines(tx, asked, shares)
    found = {**shares, **cosines}
    successors = edges.successors(tx, list(found))
    holding = [id for id in successors.values() if id not in successors and id not in found]
    cosines |= _joining(tx, asked, holding)
    return _scored(tx, asked, shares, cosines), successors


def _widened(tx: Tx, asked: _Asked, hits: list[Hit], candidates: list[Hit]) -> list[Hit]:
    """The hits, and the neighbours of the best one in the graph."""
    if not hits:
        return hits
    near = edges.strongest(tx, hits[0].memory.id, ranking.NEIGHBOURS)
    there = {hit.memory.id for hit in candidates}
    unseen = [id for edge in near for id in (edge.source, edge.target) if id not in there]
    joined = candidates + _scored(tx, asked, {}, _joining(tx, asked, unseen))
    return ranking.with_neighbours(hits, near, joined, asked.limit)


def _word_shares(tx: Tx, asked: _Asked) -> dict[MemoryId, float]:
    """What each memory that shares words with the query has of a full match."""
    if asked.words.terms:
        hits = words.search(tx, asked.words.terms, asked.wanted, WORD_CANDIDATES)
    else:
        hits = words.containing(tx, asked.words.text, asked.wanted, WORD_CANDIDATES)
    shares = {hit.id: hit.share for hit in hits}
    for symbol in asked.words.symbols:
        for hit in words.containing(tx, symbol, asked.wanted, WORD_CANDIDATES):
            shares[hit.id] = max(SYMBOL_SHARE, shares.get(hit.id, 0.0))
    return shares


def _cosines(tx: Tx, asked: _Asked, also: Iterable[MemoryId]) -> dict[MemoryId, float]:
    """The cosines of the nearest memories, and of those that the words found."""
    if asked.meaning is None or asked.meaning.vector is None:
        return {}
    near = embeddings.nearest(
        tx,
        asked.meaning.space_id,
        asked.meaning.vector,
        asked.wanted,
        max(asked.limit, MEANING_CANDIDATES),
    )
    found = {hit.id: hit.cosine for hit in near}
    return found | _cosines_of(tx, asked, [id for id in also if id not in found])


def _joining(tx: Tx, asked: _Asked, ids: Sequence[MemoryId]) -> dict[MemoryId, float]:
    """The cosines of memories that join a search over an edge, where its filter lets them."""
    passing = memories.passing(tx, ids, asked.wanted) if ids else []
    return {**dict.fromkeys(passing, 0.0), **_cosines_of(tx, asked, passing)}


def _cosines_of(tx: Tx, asked: _Asked, ids: Sequence[MemoryId]) -> dict[MemoryId, float]:
    if asked.meaning is None or asked.meaning.vector is None or not ids:
        return {}
    return embeddings.cosines(tx, asked.meaning.space_id, asked.meaning.vector, ids)


def _scored(
    tx: Tx, asked: _Asked, shares: Mapping[MemoryId, float], cosines: Mapping[MemoryId, float]
) -> list[Hit]:
    space = asked.meaning.space if asked.meaning else None
    weight = ranking.meaning_weight(space, asked.mode, asked.words.chinese)
    literal = Literal(asked.words.text)

    def hit(memory: Memory) -> Hit:
        text = fold(memory.content)
        whole = memory.id in shares and literal.within(text)
        share = 1.0 if whole else min(ranking.INEXACT, shares.get(memory.id, 0.0))
        why = Why(share, cosines.get(memory.id, 0.0), scoring.decayed_score(memory, tx.now))
        return Hit(memory, ranking.score(why, weight) * literal.share(text), why)

    return [hit(memory) for memory in memories.select(tx, list({**shares, **cosines}))]
