"""The search in typed memories."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from memory_server.domain import confidence, parts, ranking, scoring
from memory_server.domain.caller import Caller
from memory_server.domain.edge import Linked
from memory_server.domain.embedding import Embedded
from memory_server.domain.learning import Uses
from memory_server.domain.memory import Filter, Memory, MemoryId
from memory_server.domain.notice import LikelyUpdate
from memory_server.domain.ranking import Hit, Why
from memory_server.errors import Problem
from memory_server.language import question, sentences
from memory_server.services import ground, projects, retrieval
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.gathering import KindSearch, SearchItem
from memory_server.services.learning import OFF, ON, Learning
from memory_server.services.meaning import Meaning, Unanswered, name
from memory_server.services.ordering import Ranked
from memory_server.services.projects import Among
from memory_server.services.reranking import OFF as NO_RERANKER
from memory_server.services.reranking import Reordering, Reranking
from memory_server.storage.database import Database
from memory_server.storage.tx import Tx, WriteTx

LINKED = 24
"""Tokens of a linked memory that a hit shows."""

READ_OF_LINKED = 300
"""Characters of a linked memory that are read for them."""

SPARE = 20
"""Candidates beyond twice the limit that can still come in: those behind superseded or linked memories."""

RESTATED = 0.85
"""Cosine above which two memories say nearly the same: the one that answers less well stands behind all others."""

NOT_LIKELY = "No memory is likely to answer this."

HALF = 0.495
"""Least probability that is shown as .50: who reads that figure takes the hit for likely."""

Vectors = Mapping[int, NDArray[np.float32]]
"""The vectors of memories by their ids."""

EVERYTHING = ("", "*")
"""Queries that list the newest memories."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of a search; `degraded` says why it is less than it could be, `note` what a reader should know.

    `own_project` is the name of the caller's project in the file, whose memories come first. `likely`: one of the
    memories is likely to answer.
    """

    hits: list[Hit]
    embedder: str
    degraded: tuple[Problem, ...]
    note: str | None = None
    own_project: str | None = None
    likely: bool = True


@dataclass(frozen=True, slots=True)
class SearchService:
    """`count_access` is off where the server was started read-only. `hides`: what waits to be confirmed is left out."""

    database: Database
    queue: EmbeddingQueue
    count_access: bool = True
    learning: Learning = ON
    reranking: Reranking = NO_RERANKER
    hides: bool = False

    def search(
        self,
        text: str,
        filter: Filter,
        limit: int,
        mode: str,
        *,
        offset: int = 0,
        likely: bool = False,
        for_people: bool = False,
        caller: Caller,
    ) -> SearchResult:
        """Return the memories that answer a question best, each counted as accessed once.

        `mode` is hybrid, semantic or keyword. Where meaning cannot answer, words do, and `degraded` says why. With
        `likely`, those that hardly answer are left out, but for the best. Memories of other projects than the caller's
        come later; not where the project is `*`, or the caller has none. `for_people`: see `by_probability`. An empty
        text or `*` lists the newest memories, with score 1.
        """
        lookup = projects.among(filter.project, caller)
        whole = filter == Filter() and mode == "hybrid" and not offset
        filter = replace(filter, confirmed=self.hides)
        if text.strip() in EVERYTHING:
            return self._newest(filter, lookup, limit, offset)

        def answer(
            tx: Tx, meaning: Meaning | Unanswered | None, order: Reordering | None = None
        ) -> SearchResult:
            by_meaning = meaning if isinstance(meaning, Meaning) else None
            where = lookup(tx)
            kind_search = KindSearch(
                Embedded.MEMORIES,
                partial(load, learning=self.learning),
                replace(filter, project=where.only),
                limit + offset,
                mode if by_meaning else "keyword",
                where.first,
            )
            ranked = retrieval.rank_all(tx, text, (kind_search,), by_meaning)
            # Of a sum each part counts, also those that are told in the same words.
            vectors = {} if question.read(text).adds_up else {row.id: row.vector for row in ranked}
            by_reranker = order.of(ranked, where.first) if order else ranked
            hits = ranking.with_linked(*hits_of(tx, by_reranker, vectors, kind_search))
            problems = retrieval.without_meaning(tx, [Embedded.MEMORIES], meaning)
            if mode == "semantic":  # the model that tells it knows words and meaning together
                answered = bool(hits) and hits[0].score >= confidence.LIKELY
            else:
                answered = retrieval.is_answered(text, ranked, by_meaning)
            hits = ranking.likely(hits) if likely else hits
            hits = by_probability(tx, hits) if for_people else hits
            shown = hits[offset : offset + limit]
            return SearchResult(
                shown,
                name(by_meaning.space) if by_meaning else "none",
                (*problems, *tx.skipped),
                where.note or (None if offset else not_likely([hit.score for hit in shown], answered)),
                where.first,
                answered,
            )

        if mode == "keyword":
            with self.database.read() as tx:
                result = answer(tx, None)
        elif mode == "semantic":
            result = self.queue.read(retrieval.questions(text), answer)
        else:
            result, unordered = self.reranking.read(self.queue, text, answer)
            result = replace(result, degraded=(*result.degraded, *unordered))
        result = self._with_remarks(result, caller)
        self._record(text, result, caller, whole and not result.degraded)
        return result

    def _with_remarks(self, result: SearchResult, caller: Caller) -> SearchResult:
        """Say what has changed on the ground of the memories."""
        ids = [hit.memory.id for hit in result.hits[: ground.LOOKED_AT]]
        if caller.folder is None or not ids:
            return result
        with self.database.read() as tx:
            anchors = ground.anchored(tx, Embedded.MEMORIES, ids, caller)
        changed = ground.remarks(anchors, caller.folder)
        hits = [replace(hit, remark=changed.get(hit.memory.id)) for hit in result.hits]
        return replace(result, hits=hits)

    def _newest(self, filter: Filter, lookup: Callable[[Tx], Among], limit: int, offset: int) -> SearchResult:
        with self.database.read() as tx:
            where = lookup(tx)
            newest = tx.candidates.newest(replace(filter, project=where.only), limit, offset)
            hits = [
                Hit(memory, 1.0, 1.0, Why(0.0, 0.0, scoring.decayed_score(memory, tx.now)), *shown(memory))
                for memory in newest
            ]
            return SearchResult(hits, "none", tuple(tx.skipped), where.note, where.first)

    def _record(self, text: str, result: SearchResult, caller: Caller, whole: bool) -> None:
        """Count the accesses, and keep what the search teaches; `whole`: it asked for all that may answer."""
        surely = [hit.memory.id for hit in result.hits if hit.score >= ranking.LEAST]
        vain = whole and not result.likely and self.learning.wants(text, caller)
        if not (surely or vain) or not self.count_access:
            return

        def mark(tx: WriteTx) -> None:
            tx.memories.mark_accessed(surely)
            self.learning.asked(tx, text, surely, caller, answers=result.likely, vain=vain)

        self.database.later(mark)


def hits_of(
    tx: Tx, ranked: Sequence[Ranked[Memory]], vectors: Vectors, kind_search: KindSearch[Memory]
) -> tuple[list[Hit], dict[MemoryId, list[Linked]]]:
    """Return all hits that are worth showing, in order, and the memories that edges link with them.

    What supersedes a hit joins them. Those with `vectors` that restate a better one come last.
    """
    candidates = [_hit(tx, row) for row in ranked[: 2 * kind_search.limit + SPARE]]
    if not candidates:
        return [], {}
    ids = [hit.memory.id for hit in candidates]
    successors, near, linked, updates = tx.together(
        lambda: tx.edges.successors(ids),
        lambda: tx.edges.strongest(ids[0], ranking.NEIGHBOURS),
        lambda: tx.edges.answering(ids[: kind_search.limit], READ_OF_LINKED),
        lambda: tx.likely_updates.replacing(ids),
    )
    candidate_ids = {hit.memory.id for hit in candidates}
    holding = [id for id in successors.values() if id not in successors and id not in candidate_ids]
    candidates += _joining(tx, holding, kind_search)
    hits = ranking.in_order(candidates, successors)
    if hits[0].memory.id != ids[0]:
        near = tx.edges.strongest(hits[0].memory.id, ranking.NEIGHBOURS)
    candidate_ids = {hit.memory.id for hit in candidates}
    unseen = [id for edge in near for id in (edge.source, edge.target) if id not in candidate_ids]
    hits = ranking.with_neighbours(hits, near, [*candidates, *_joining(tx, unseen, kind_search)])
    hits = _restated_last(_with_newer(tx, hits, updates, kind_search), vectors)
    joined_ids = {hit.memory.id for hit in hits[: kind_search.limit]} - {*ids[: kind_search.limit]}
    if joined_ids:
        linked |= tx.edges.answering(joined_ids, READ_OF_LINKED)
    return hits, {id: list(map(_shortened, links)) for id, links in linked.items()}


def _shortened(linked: Linked) -> Linked:
    return replace(linked, content=sentences.shortened(linked.content, LINKED))


def _with_newer(
    tx: Tx, hits: Sequence[Hit], updates: Sequence[LikelyUpdate], kind_search: KindSearch[Memory]
) -> list[Hit]:
    """Return the hits, each beside the memory that probably replaces it. One that comes before it is as likely."""
    by_id = {hit.memory.id: hit for hit in hits}
    pairs = [
        (MemoryId(update.old.row), MemoryId(update.new.row))
        for update in updates
        if update.old.kind == update.new.kind == "memory" and update.old.row in by_id
    ]
    missing = {new for old, new in pairs if by_id[old].score >= ranking.LEAST} - set(by_id)
    by_id |= {hit.memory.id: hit for hit in _joining(tx, sorted(missing), kind_search)}
    newer, led = dict[MemoryId, MemoryId](), set[MemoryId]()
    for old_id, new_id in sorted(pairs, key=itemgetter(0)):  # the last of a line of several leads all
        if new_id not in by_id:
            continue
        old, new = by_id[old_id], by_id[new_id]
        leads = new.rank >= ranking.NEARLY * old.rank
        if old_id not in newer or (leads and old_id not in led):
            newer[old_id] = new_id
        if leads:
            led.add(old_id)
            new = replace(new, rank=max(new.rank, old.rank), score=max(new.score, old.score))
        by_id[new_id] = replace(new, maybe_supersedes=(*new.maybe_supersedes, old_id))
    return [by_id[id] for id in ranking.with_newer([hit.memory.id for hit in hits], newer, led)]


def not_likely(scores: Sequence[float | None], answered: bool) -> str | None:
    """Return the note that no hit is likely to answer; None where the figure beside one of them says that it is."""
    if answered or not scores or max(score or 0.0 for score in scores) >= HALF:
        return None
    return NOT_LIKELY


def by_probability(tx: Tx, hits: Iterable[Hit]) -> list[Hit]:
    """Return hits in the order that people see: by the probability that stands beside them, of equals the better rank
    first; a superseded memory behind what supersedes it."""
    ranked_by_it = [replace(hit, rank=hit.score) for hit in hits]
    return ranking.in_order(ranked_by_it, tx.edges.successors([hit.memory.id for hit in ranked_by_it]))


def _restated_last(hits: Sequence[Hit], vectors: Vectors) -> list[Hit]:
    """Put each hit that says nearly the same as a better one behind all others."""
    known_hits = [number for number, hit in enumerate(hits) if hit.memory.id in vectors]
    if not known_hits:
        return list(hits)
    rows = np.stack([vectors[hits[number].memory.id] for number in known_hits])
    restates = np.einsum("id,jd->ij", rows, rows) > RESTATED
    is_shown = np.zeros(len(rows), bool)
    for row, is_alike in enumerate(restates):
        is_shown[row] = not (is_alike[:row] & is_shown[:row]).any()
    restating = {number for number, shown in zip(known_hits, is_shown, strict=True) if not shown}
    order = sorted(range(len(hits)), key=lambda number: number in restating)
    return [hits[number] for number in order]


def _hit(tx: Tx, ranked: Ranked[Memory]) -> Hit:
    memory, signals = ranked.item.thing, ranked.signals
    decayed = scoring.decayed_score(memory, tx.now)
    also = (*signals.boost.reasons, *ranked.item.reasons)
    why = Why(signals.share, signals.cosine, decayed, also)
    content, part = shown(memory, ranked.part)
    return Hit(memory, ranked.score, ranked.probability, why, content, part)


def shown(memory: Memory, number: int = 0) -> tuple[str, str | None]:
    """Return the text of a memory that is shown, and which part of a long one that is."""
    count = len(parts.starts(len(memory.content)))
    if count == 1:
        return memory.content, None
    return parts.shown(memory.content, number), f"{number + 1} of {count}"


def _joining(tx: Tx, ids: Sequence[MemoryId], kind_search: KindSearch[Memory]) -> list[Hit]:
    """Return memories that join a search over an edge, where its filter lets them."""
    if not ids:
        return []
    passing = tx.candidates.passing(kind_search.kind, ids, kind_search.filter)
    return [
        Hit(memory, 0.0, 0.0, Why(0.0, 0.0, scoring.decayed_score(memory, tx.now)), *shown(memory))
        for memory in tx.memories.select([id for id in ids if id in passing])
    ]


def load(tx: Tx, ids: Sequence[int], learning: Learning = OFF) -> dict[int, SearchItem[Memory]]:
    """Return these memories as the ranking reads them. This is the one place where their uses count."""
    memories, uses = tx.together(
        lambda: tx.memories.select([MemoryId(id) for id in ids]), lambda: learning.counts(tx, ids)
    )
    return {memory.id: _item(memory, uses.get(memory.id, Uses()), tx.now) for memory in memories}


def _item(memory: Memory, uses: Uses, now: str) -> SearchItem[Memory]:
    prior = ranking.prior(scoring.decayed_score(memory, now)) * uses.factor
    reasons = (uses.reason,) if uses.reason else ()
    return SearchItem(
        memory, (memory.content,), memory.project or "", memory.occurred_at, prior, reasons=reasons
    )
