"""Lists what is stored of a time, or the newest, as an answer shows it: where a question asks for no subject."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from memory_server.domain.caller import Caller
from memory_server.domain.fact import Fact, homes
from memory_server.domain.memory import Filter, Memory, MemoryId, MemoryType
from memory_server.domain.project import EVERYWHERE
from memory_server.domain.recall import Found, Recallable
from memory_server.domain.short_term import ShortTermId
from memory_server.services import search, showing
from memory_server.services.projects import Among
from memory_server.storage.tx import Tx

MOST = 300
"""Texts of each kind that are read: more than the longest answer has."""

FEW = 20
"""Texts that are listed by their time; of more the most important come first, because not all fit."""

USUAL = 5
"""The importance of what has none."""

_OTHERS = (Recallable.FACT, Recallable.TURN)

LOADING: dict[Recallable, Callable[[Tx, list[int]], dict[int, Any]]] = {
    Recallable.FACT: lambda tx, ids: {fact.id: fact for fact in tx.facts.select(ids)},
    Recallable.TURN: lambda tx, ids: {turn.id: turn for turn in tx.turns.select(ids)},
    Recallable.SHORT_TERM: lambda tx, ids: {
        int(id): memory for id, memory in tx.short_term.select(map(ShortTermId, ids)).items()
    },
}
"""Readers of whole rows, by kind."""


@dataclass(frozen=True, slots=True)
class ListWish:
    """The kinds, the time and the project of a list; `type` lets memories of one type pass, and nothing else."""

    kinds: frozenset[Recallable]
    project: str | None
    since: str | None
    until: str | None
    type: MemoryType | None = None


@dataclass(frozen=True, slots=True)
class _Row:
    hit: Found
    at: str
    importance: int
    is_own: bool


def listed(tx: Tx, wish: ListWish, where: Among, here: Caller) -> list[Found]:
    """Return what is stored of the time, the newest first; of many the most important first.

    What belongs to the caller's project or to none comes before the rest. Short-term memories are told where there is
    nothing else. `here` is the caller as the file knows it.
    """
    rows = [*_memories(tx, wish, where, here)] if Recallable.MEMORY in wish.kinds else []
    if wish.type is None:
        for kind in filter(wish.kinds.__contains__, _OTHERS):
            rows += _of_kind(tx, kind, wish, where, here)
        if not rows and Recallable.SHORT_TERM in wish.kinds:
            rows += _of_kind(tx, Recallable.SHORT_TERM, wish, where, here)
    rows.sort(key=lambda row: row.at, reverse=True)
    if len(rows) > FEW:
        rows.sort(key=lambda row: -row.importance)
    rows.sort(key=lambda row: not row.is_own)
    return [row.hit for row in rows]


def _memories(tx: Tx, wish: ListWish, where: Among, here: Caller) -> Iterator[_Row]:
    filter = Filter(type=wish.type, project=where.only, since=wish.since, until=wish.until)
    memories = tx.candidates.newest(filter, MOST, 0)
    ids = {memory.id for memory in memories}
    left_out = showing.left_out(tx, memories)
    for memory in memories:
        if memory not in left_out and memory.superseded_by not in ids:
            hit = showing.of_memory(memory, _text(memory), 1.0, here)
            yield _Row(hit, memory.occurred_at, memory.importance, _is_own(memory.project, where))


def _text(memory: Memory) -> str:
    text, _ = search.shown(memory)
    newer: MemoryId | None = memory.superseded_by
    return text if newer is None else f"{text} (since then superseded by m{newer})"


def _of_kind(tx: Tx, kind: Recallable, wish: ListWish, where: Among, here: Caller) -> Iterator[_Row]:
    rows = tx.newest.select(kind, where.only, wish.since, wish.until, MOST)
    by_id = LOADING[kind](tx, [row.id for row in rows])
    visible = None if wish.project == EVERYWHERE else frozenset(homes(None, here))
    for row in rows:
        stored = by_id.get(row.id)
        if stored is None or (
            isinstance(stored, Fact) and visible is not None and stored.home not in visible
        ):
            continue
        yield _Row(_shown(kind, stored, here), row.at, USUAL, _is_own(row.project, where))


def _shown(kind: Recallable, stored: Any, here: Caller) -> Found:
    match kind:
        case Recallable.FACT:
            return showing.of_fact(stored, 1.0, here)
        case Recallable.TURN:
            return showing.of_turn(stored, stored.summary.strip() or stored.message, 1.0, here)
        case _:
            return showing.of_short_term(stored, stored.text, 1.0)


def _is_own(project: str | None, where: Among) -> bool:
    return where.first is None or project in (None, "", where.first)
