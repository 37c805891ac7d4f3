"""The search in typed memories."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial

from memory_server.domain import parts, ranking, scoring
from memory_server.domain.caller import Caller
from memory_server.domain.embedding import Embedded
from memory_server.domain.learning import Uses
from memory_server.domain.memory import Filter, Memory, MemoryId
from memory_server.domain.ranking import Hit, Why
from memory_server.errors import Problem
from memory_server.services import projects, retrieval
from memory_server.services.embedding_queue import EmbeddingQueue, Meaning, Unanswered, name
from memory_server.services.gathering import Item, KindSearch
from memory_server.services.guesses import Guesses
from memory_server.services.learning import OFF, ON, Learning
from memory_server.services.projects import Among
from memory_server.services.retrieval import Ranked
from memory_server.storage.database import Database
from memory_server.storage.tx import Tx, WriteTx

LINKED_CONTENT = 80
"""Characters of a linked memory that a hit shows."""

SPARE = 20
"""Candidates beyond twice the limit that can still come in: those behind superseded or linked memories."""

NOT_LIKELY = "No memory is likely to answer this."

EVERYTHING = ("", "*")
"""Queries that list the newest memories."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search answers; `degraded` says why it is less than it could be, `note` what a reader should know.

    `own` is the name that the caller's project has in the file, where its memories come first. `likely`: one of the
    memories is likely to answer.
    """

    hits: list[Hit]
    embedder: str
    degraded: tuple[Problem, ...]
    note: str | None = None
    own: str | None = None
    likely: bool = True


@dataclass(frozen=True, slots=True)
class SearchService:
    """`count_access` is off where the server was started read-only."""

    database: Database
    queue: EmbeddingQueue
    count_access: bool = True
    learning: Learning = ON
    guesses: Guesses = field(default_factory=Guesses)

    def search(
        self,
        text: str,
        wanted: Filter,
        limit: int,
        mode: str,
        *,
        offset: int = 0,
        likely: bool = False,
        caller: Caller = Caller(),  # noqa: B008 - it is frozen
    ) -> Found:
        """The memories that answer a question best, each counted as accessed once.

        `mode` is hybrid, semantic or keyword. Where meaning cannot answer, words do, and `degraded` says why. With
        `likely`, those that hardly answer are left out, but for the best. Memories of other projects than the caller's
        come later; not where the project is `*`, or the caller has none. An empty text or `*` lists the newest
        memories, with score 1.
        """
        among = projects.among(wanted.project, caller)
        if text.strip() in EVERYTHING:
            return self._newest(wanted, among, limit, offset)

        def ask(tx: Tx, meaning: Meaning | Unanswered | None) -> Found:
            if among.one is None:
                return answer(tx, meaning, None)
            _, found = self.guesses.go_on(
                tx, among.asked, among.guess, lambda: among(tx), lambda where: answer(tx, meaning, where)
            )
            return found

        def answer(tx: Tx, meaning: Meaning | Unanswered | None, where: Among | None) -> Found:
            known = meaning if isinstance(meaning, Meaning) else None
            own = cache(partial(_own, tx, among, where))
            asked = KindSearch(
                Embedded.MEMORIES,
                partial(load, learning=self.learning),
                replace(wanted, project=where.only if where else None),
                limit + offset,
                mode if known else "keyword",
                own,
            )
            hits, problems = tx.together(
                lambda: _hits(tx, text, asked, known),
                lambda: retrieval.without_meaning(tx, [Embedded.MEMORIES], meaning),
            )
            floor = ranking.LIKELY if known and not known.space.lexical else ranking.LIKELY_BY_WORDS
            answered = bool(hits) and hits[0].score >= floor
            hits = (ranking.likely(hits) if likely else hits)[offset : offset + limit]
            return Found(
                hits,
                name(known.space) if known else "none",
                (*problems, *tx.skipped),
                (where.note if where else None)
                or (NOT_LIKELY if hits and not (answered or offset) else None),
                own(),
                answered,
            )

        if mode == "keyword":
            with self.database.read() as tx:
                found = ask(tx, None)
        else:
            found = self.queue.read(retrieval.questions(text), ask)
        whole = wanted == Filter() and mode == "hybrid" and not offset and not found.degraded
        self._record(text, found, caller, whole)
        return found

    def _newest(self, wanted: Filter, among: projects.Where, limit: int, offset: int) -> Found:
        with self.database.read() as tx:
            where, newest = self.guesses.go_on(
                tx,
                among.asked,
                among.guess,
                lambda: among(tx),
                lambda where: tx.memories.newest(replace(wanted, project=where.only), limit, offset),
            )
            hits = [
                Hit(memory, 1.0, 1.0, Why(0.0, 0.0, scoring.decayed_score(memory, tx.now)), *shown(memory))
                for memory in newest
            ]
            return Found(hits, "none", tuple(tx.skipped), where.note, where.own)

    def _record(self, text: str, found: Found, caller: Caller, whole: bool) -> None:
        """Count the accesses, and keep what the search teaches; `whole`: it asked for all that may answer."""
        surely = [hit.memory.id for hit in found.hits if hit.score >= ranking.LEAST]
        vain = whole and not found.likely and self.learning.wants(text, caller)
        if not (surely or vain) or not self.count_access:
            return

        def mark(tx: WriteTx) -> None:
            tx.memories.mark_accessed(surely)
            self.learning.asked(tx, text, surely, caller, answers=found.likely, vain=vain)

        self.database.later(mark)


def _own(tx: Tx, among: projects.Where, where: Among | None) -> str | None:
    """The project that comes first: where the search looks in all, nothing else needs to be known before."""
    return among.first(tx) if where is None else where.own


def _hits(tx: Tx, text: str, asked: KindSearch[Memory], meaning: Meaning | None) -> list[Hit]:
    """All hits that are worth showing, in order, with what edges say of them."""
    ranked = retrieval.rank(tx, text, asked, meaning)
    known = [_hit(tx, each) for each in ranked[: 2 * asked.limit + SPARE]]
    if not known:
        return []
    ids = [hit.memory.id for hit in known]
    successors, near, linked = tx.together(
        lambda: tx.edges.successors(ids),
        lambda: tx.edges.strongest(ids[0], ranking.NEIGHBOURS),
        lambda: tx.edges.answering(ids[: asked.limit], LINKED_CONTENT),
    )
    there = {hit.memory.id for hit in known}
    holding = [id for id in successors.values() if id not in successors and id not in there]
    known += _joining(tx, holding, asked)
    hits = ranking.in_order(known, successors)
    if hits[0].memory.id != ids[0]:
        near = tx.edges.strongest(hits[0].memory.id, ranking.NEIGHBOURS)
    there = {hit.memory.id for hit in known}
    unseen = [id for edge in near for id in (edge.source, edge.target) if id not in there]
    hits = ranking.with_neighbours(hits, near, [*known, *_joining(tx, unseen, asked)])
    hits.sort(key=lambda hit: hit.memory.is_digest)  # it must not take the place of what it was made from
    others = {hit.memory.id for hit in hits[: asked.limit]} - {*ids[: asked.limit]}
    if others:
        linked |= tx.edges.answering(others, LINKED_CONTENT)
    return ranking.with_linked(hits, linked)


def _hit(tx: Tx, ranked: Ranked[Memory]) -> Hit:
    memory, signals = ranked.item.thing, ranked.signals
    decayed = scoring.decayed_score(memory, tx.now)
    also = (*signals.boost.reasons, *ranked.item.reasons)
    why = Why(signals.share, signals.cosine, decayed, also)
    content, part = shown(memory, ranked.part)
    return Hit(memory, ranked.score, ranked.probability, why, content, part)


def shown(memory: Memory, number: int = 0) -> tuple[str, str | None]:
    """The text of a memory that is shown, and which part of a long one that is."""
    count = len(parts.starts(len(memory.content)))
    if count == 1:
        return memory.content, None
    return parts.shown(memory.content, number), f"{number + 1} of {count}"


def _joining(tx: Tx, ids: Sequence[MemoryId], asked: KindSearch[Memory]) -> list[Hit]:
    """Memories that join a search over an edge, where its filter lets them."""
    if not ids:
        return []
    passing, found = tx.together(
        lambda: tx.candidates.passing(asked.kind, ids, asked.filter), lambda: tx.memories.select(ids)
    )
    return [
        Hit(memory, 0.0, 0.0, Why(0.0, 0.0, scoring.decayed_score(memory, tx.now)), *shown(memory))
        for memory in found
        if memory.id in passing
    ]


def load(tx: Tx, ids: Sequence[int], learning: Learning = OFF) -> dict[int, Item[Memory]]:
    """These memories as the ranking reads them. This is the one place where their uses count."""
    found, uses = tx.together(
        lambda: tx.memories.select([MemoryId(id) for id in ids]), lambda: learning.counts(tx, ids)
    )
    return {memory.id: _item(memory, uses.get(memory.id, Uses()), tx.now) for memory in found}


def _item(memory: Memory, uses: Uses, now: str) -> Item[Memory]:
    prior = ranking.prior(scoring.decayed_score(memory, now)) * uses.factor
    reasons = (uses.reason,) if uses.reason else ()
    return Item(memory, (memory.content,), memory.project or "", memory.occurred_at, prior, reasons=reasons)
