"""Looking into the memory: all kinds in one list, each with what spoke for it. To look counts no access."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from heapq import merge
from typing import Any

from memory_server.domain import fact_text, ranking, trust
from memory_server.domain.caller import Caller
from memory_server.domain.embedding import Embedded
from memory_server.domain.fact import Fact, Scope
from memory_server.domain.memory import Filter, Memory
from memory_server.domain.project import EVERYWHERE
from memory_server.domain.ranking import Hit
from memory_server.domain.recall import Recallable
from memory_server.domain.short_term import ShortTermMemory
from memory_server.domain.turn import Turn
from memory_server.errors import Problem
from memory_server.services import projects, retrieval, search
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.gathering import KindSearch
from memory_server.services.listing import LOADING
from memory_server.services.meaning import Meaning, Unanswered
from memory_server.services.ordering import Ranked
from memory_server.services.projects import Among
from memory_server.services.recall import RecallWish, asked_of
from memory_server.storage.database import Database
from memory_server.storage.tx import Tx

KINDS = (Recallable.MEMORY, Recallable.FACT, Recallable.TURN, Recallable.SHORT_TERM)


@dataclass(frozen=True, slots=True)
class LookWish:
    """The filter of a look. One that only memories have (`type`, `tags`, `min_importance`) leaves out other kinds."""

    kinds: frozenset[Recallable] = frozenset(KINDS)
    filter: Filter = field(default_factory=Filter)

    @property
    def there(self) -> frozenset[Recallable]:
        """Return the kinds that the filters can let pass."""
        of_memories = self.filter.type or self.filter.tags or self.filter.min_importance
        return self.kinds & {Recallable.MEMORY} if of_memories else self.kinds


@dataclass(frozen=True, slots=True)
class Spoke:
    """The parts of a hit's score, each from 0 to 1: the share of the words that it holds itself, the cosine of the
    meaning, what the texts beside it lent, and the share of its score that age and decay left."""

    words: float
    meaning: float
    neighbours: float
    time: float


@dataclass(frozen=True, slots=True)
class Seen:
    """Something that is stored, as a list shows it. `score` is the probability that it answers; None where nothing was
    asked. Of a fact `text` is the value, `name` its key and `scope` its scope."""

    kind: Recallable
    id: int
    text: str
    project: str
    at: str
    memory: Memory | None = None
    name: str | None = None
    scope: Scope | None = None
    score: float | None = None
    spoke: Spoke | None = None
    origin: str = trust.UNKNOWN

    @property
    def waits(self) -> bool:
        """True for what somebody outside has said, until a person confirms it."""
        return trust.waits(self.origin)


@dataclass(frozen=True, slots=True)
class Looked:
    """`note` says that a project is not known, or that nothing is likely to answer; `degraded` why the list is less
    than it could be."""

    items: list[Seen]
    note: str | None
    degraded: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class LookService:
    database: Database
    queue: EmbeddingQueue

    def look(self, text: str, wish: LookWish, limit: int, caller: Caller) -> Looked:
        """Return what answers a text best; without a text, the newest. Of all projects alike, or of the filter's."""
        project = wish.filter.project
        lookup = projects.among(EVERYWHERE if project is None else project, caller)
        if not text.strip():
            with self.database.read() as tx:
                where = lookup(tx)
                items = sorted(_newest(tx, wish, where, limit), key=lambda item: item.at, reverse=True)
                return Looked(items[:limit], where.note, tuple(tx.skipped))

        def ask(tx: Tx, meaning: Meaning | Unanswered) -> Looked:
            by_meaning = meaning if isinstance(meaning, Meaning) else None
            where = lookup(tx)
            searches = tuple(_asked(tx, text, wish, where, caller, "hybrid" if by_meaning else "keyword"))
            ranked = retrieval.rank_all(tx, text, searches, by_meaning)
            problems = retrieval.without_meaning(tx, [kind_search.kind for kind_search in searches], meaning)
            items = _in_order(tx, ranked, searches, limit)
            is_answered = retrieval.is_answered(text, ranked, by_meaning)
            note = where.note or search.not_likely([item.score for item in items], is_answered)
            return Looked(items, note, (*problems, *tx.skipped))

        return self.queue.read(retrieval.questions(text), ask)


def _asked(tx: Tx, text: str, wish: LookWish, where: Among, caller: Caller, mode: str) -> Iterator[Any]:
    filter = wish.filter
    project = where.only if filter.project is not None else EVERYWHERE
    plain = RecallWish(wish.there, project, filter.since, filter.until)
    for kind_search in asked_of(text, plain, where, projects.known(tx, caller), mode, search.load):
        if isinstance(kind_search.filter, Filter):
            transcripts = kind_search.filter.transcripts
            yield replace(kind_search, filter=replace(filter, project=where.only, transcripts=transcripts))
        else:
            yield kind_search


def _in_order(
    tx: Tx, ranked: Sequence[Ranked[Any]], searches: Sequence[KindSearch[Any]], limit: int
) -> list[Seen]:
    """Return the hits by probability, memories as in every list for people."""
    memories = [hit for hit in ranked if isinstance(hit.item.thing, Memory)]
    hits: list[Hit] = []
    for memory_search in searches:
        if memory_search.kind is Embedded.MEMORIES:
            hits, _ = search.hits_of(tx, memories, {}, replace(memory_search, limit=limit))
    by_id = {hit.id: hit for hit in memories}
    in_order = search.by_probability(tx, ranking.likely(hits))
    memory_rows = [(hit.rank, _of_memory(hit, by_id.get(hit.memory.id))) for hit in in_order]
    rows = [
        (hit.probability, _of_other(hit))
        for place, hit in enumerate(ranked)
        if not isinstance(hit.item.thing, Memory) and (not place or hit.probability >= ranking.LEAST)
    ]
    rows.sort(key=lambda row: -row[0])
    merged = merge(memory_rows, rows, key=lambda row: -row[0])
    return [item for _, item in merged][:limit]


def _of_memory(hit: Hit, ranked: Ranked[Memory] | None) -> Seen:
    """Return a hit as a list shows it; without bars where an edge alone has brought it."""
    spoke = None if ranked is None else _spoke(ranked)
    return replace(_seen(hit.memory), text=hit.content, score=hit.score, spoke=spoke)


def _of_other(ranked: Ranked[Any]) -> Seen:
    return replace(_seen(ranked.item.thing), score=ranked.probability, spoke=_spoke(ranked))


def _spoke(ranked: Ranked[Any]) -> Spoke:
    signals = ranked.signals
    words = min(signals.share, signals.cover)
    return Spoke(words, min(1.0, signals.cosine), signals.share - words, ranked.item.prior)


def _newest(tx: Tx, wish: LookWish, where: Among, limit: int) -> Iterator[Seen]:
    filter = wish.filter
    if Recallable.MEMORY in wish.there:
        for memory in tx.candidates.newest(replace(filter, project=where.only), limit, 0):
            yield replace(_seen(memory), text=search.shown(memory)[0])
    for kind, load in LOADING.items():
        if kind in wish.there:
            rows = tx.newest.select(kind, where.only, filter.since, filter.until, limit)
            things = load(tx, [row.id for row in rows])
            for row in rows:
                if row.id in things:
                    yield replace(_seen(things[row.id]), project=row.project)


def _seen(stored: Memory | Fact | Turn | ShortTermMemory) -> Seen:
    id, origin = stored.id, stored.origin
    match stored:
        case Memory(content=text, project=project, occurred_at=at):
            return Seen(Recallable.MEMORY, id, text, project or "", at, memory=stored, origin=origin)
        case Fact(home=home, value=value, updated_at=at):
            owner, text = home.owner if home.scope is Scope.PROJECT else "", fact_text.value_of(value)
            return Seen(
                Recallable.FACT, id, text, owner, at, name=stored.key, scope=home.scope, origin=origin
            )
        case Turn(project=project, occurred_at=at):
            return Seen(Recallable.TURN, id, stored.text, project, at, origin=origin)
        case ShortTermMemory(text=text, said_at=at):
            return Seen(Recallable.SHORT_TERM, id, text, "", at, origin=origin)
