"""Looking into the memory: all kinds in one list, each with what spoke for it. To look counts no access."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memory_server.domain import fact_text, ranking
from memory_server.domain.caller import Caller
from memory_server.domain.embedding import Embedded
from memory_server.domain.fact import Fact, Scope
from memory_server.domain.memory import Filter, Memory
from memory_server.domain.project import EVERYWHERE
from memory_server.domain.ranking import Hit, Why
from memory_server.domain.recall import Recallable
from memory_server.domain.short_term import ShortTermId, ShortTermMemory
from memory_server.domain.turn import Turn
from memory_server.errors import Problem
from memory_server.services import projects, retrieval, search
from memory_server.services.embedding_queue import EmbeddingQueue, Meaning, Unanswered
from memory_server.services.projects import Among
from memory_server.services.recall import RecallWish, asked_of, turn_text
from memory_server.services.retrieval import Ranked
from memory_server.storage.database import Database
from memory_server.storage.tx import Tx

KINDS = (Recallable.MEMORY, Recallable.FACT, Recallable.TURN, Recallable.SHORT_TERM)


@dataclass(frozen=True, slots=True)
class LookWish:
    """What to look for. A filter that only memories have (`type`, `tags`, `min_importance`) leaves out other kinds."""

    kinds: frozenset[Recallable] = frozenset(KINDS)
    filter: Filter = field(default_factory=Filter)

    @property
    def there(self) -> frozenset[Recallable]:
        """The kinds that the filters can let pass."""
        of_memories = self.filter.type or self.filter.tags or self.filter.min_importance
        return self.kinds & {Recallable.MEMORY} if of_memories else self.kinds


@dataclass(frozen=True, slots=True)
class Spoke:
    """What spoke for a hit, each from 0 to 1: the share of the words that it holds itself, the cosine of the meaning,
    what the texts beside it lent, and the share of its score that age and decay left."""

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


@dataclass(frozen=True, slots=True)
class Looked:
    """`note` says that a project is not known, `degraded` why the list is less than it could be."""

    items: list[Seen]
    note: str | None
    degraded: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class LookService:
    database: Database
    queue: EmbeddingQueue

    def look(self, text: str, wish: LookWish, limit: int, caller: Caller) -> Looked:
        """What answers a text best; without one the newest. Of all projects alike, unless the filter names one."""
        given = wish.filter.project
        among = projects.among(EVERYWHERE if given is None else given, caller)
        if not text.strip():
            with self.database.read() as tx:
                where = among(tx)
                found = sorted(_newest(tx, wish, where, limit), key=lambda each: each.at, reverse=True)
                return Looked(found[:limit], where.note, tuple(tx.skipped))

        def ask(tx: Tx, meaning: Meaning | Unanswered) -> Looked:
            known = meaning if isinstance(meaning, Meaning) else None
            where = among(tx)
            asked = tuple(_asked(tx, text, wish, where, caller, "hybrid" if known else "keyword"))
            ranked = retrieval.rank_all(tx, text, asked, known) if asked else []
            problems = retrieval.without_meaning(tx, [each.kind for each in asked], meaning)
            shown = [
                each for place, each in enumerate(ranked) if not place or each.probability >= ranking.LEAST
            ]
            return Looked(_in_order(tx, shown)[:limit], where.note, (*problems, *tx.skipped))

        return self.queue.read(retrieval.questions(text), ask)


def _asked(tx: Tx, text: str, wish: LookWish, where: Among, caller: Caller, mode: str) -> Iterator[Any]:
    given = wish.filter
    project = where.only if given.project is not None else EVERYWHERE
    plain = RecallWish(wish.there, project, given.since, given.until)
    for each in asked_of(text, plain, where, projects.known(tx, caller), mode, search.load):
        if isinstance(each.filter, Filter):
            yield replace(each, filter=replace(given, project=where.only))
        else:
            yield each


def _in_order(tx: Tx, ranked: Sequence[Ranked[Any]]) -> list[Seen]:
    """What was found, best first; a memory that is superseded behind what supersedes it, as every search has it."""
    found = {(each.kind, each.id): each for each in ranked}
    hits = [_hit(each) for each in ranked if isinstance(each.item.thing, Memory)]
    ordered = ranking.in_order(hits, tx.edges.successors([hit.memory.id for hit in hits]))
    seen = [(hit.rank, hit.score, found[Embedded.MEMORIES, hit.memory.id]) for hit in ordered]
    seen += [
        (each.score, each.probability, each) for each in ranked if not isinstance(each.item.thing, Memory)
    ]
    seen.sort(key=lambda each: -each[0])
    return [_found(each, score) for _, score, each in seen]


def _hit(ranked: Ranked[Any]) -> Hit:
    return Hit(ranked.item.thing, ranked.score, ranked.probability, Why(0.0, 0.0, 0.0), "")


def _found(ranked: Ranked[Any], score: float) -> Seen:
    signals, item = ranked.signals, ranked.item
    own = min(signals.share, signals.cover)
    spoke = Spoke(own, min(1.0, signals.cosine), signals.share - own, item.prior)
    seen = replace(_seen(item.thing), score=score, spoke=spoke)
    is_memory = isinstance(item.thing, Memory)
    return replace(seen, text=search.shown(item.thing, ranked.part)[0]) if is_memory else seen


def _newest(tx: Tx, wish: LookWish, where: Among, limit: int) -> Iterator[Seen]:
    given = wish.filter
    if Recallable.MEMORY in wish.there:
        for memory in tx.memories.newest(replace(given, project=where.only), limit, 0):
            yield replace(_seen(memory), text=search.shown(memory)[0])
    for kind, load in _LOADING.items():
        if kind in wish.there:
            rows = tx.newest.select(kind, where.only, given.since, given.until, limit)
            things = load(tx, [row.id for row in rows])
            for row in rows:
                if row.id in things:
                    yield replace(_seen(things[row.id]), project=row.project)


def _seen(thing: Memory | Fact | Turn | ShortTermMemory) -> Seen:
    match thing:
        case Memory():
            return Seen(
                Recallable.MEMORY, thing.id, thing.content, thing.project or "", thing.occurred_at, thing
            )
        case Fact():
            owner = thing.home.owner if thing.home.scope is Scope.PROJECT else ""
            said = fact_text.value_of(thing.value)
            return Seen(
                Recallable.FACT,
                thing.id,
                said,
                owner,
                thing.updated_at,
                name=thing.key,
                scope=thing.home.scope,
            )
        case Turn():
            return Seen(Recallable.TURN, thing.id, turn_text(thing), thing.project, thing.occurred_at)
        case ShortTermMemory():
            return Seen(Recallable.SHORT_TERM, thing.id, thing.text, "", thing.said_at)


_LOADING: dict[Recallable, Callable[[Tx, list[int]], dict[int, Any]]] = {
    Recallable.FACT: lambda tx, ids: {each.id: each for each in tx.facts.select(ids)},
    Recallable.TURN: lambda tx, ids: {each.id: each for each in tx.turns.select(ids)},
    Recallable.SHORT_TERM: lambda tx, ids: {
        int(id): each for id, each in tx.short_term.select(map(ShortTermId, ids)).items()
    },
}
"""How the rows of a kind are read whole."""
