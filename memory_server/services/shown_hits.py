"""Shows what a question has found: each memory once, with what supersedes, solves or probably replaces it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memory_server.domain import recall
from memory_server.domain.caller import Caller
from memory_server.domain.edge import Linked, line_of
from memory_server.domain.embedding import Embedded
from memory_server.domain.fact import Fact
from memory_server.domain.memory import Memory, MemoryId
from memory_server.domain.mending import remedy_of
from memory_server.domain.notice import LikelyUpdate, handle
from memory_server.domain.recall import Found
from memory_server.domain.turn import Turn
from memory_server.ground import Anchor
from memory_server.services import ground, search, showing
from memory_server.services.gathering import SearchItem
from memory_server.services.ordering import Ranked
from memory_server.storage.tx import Tx

Load = Callable[[Tx, Sequence[int]], dict[int, SearchItem[Memory]]]


def all_found(tx: Tx, ranked: Sequence[Ranked[Any]], here: Caller, load: Load, caller: Caller) -> list[Found]:
    """Return the hits as an answer shows them: what supersedes a memory in its place, what solves it behind it, and
    what probably replaces it, which may be no hit itself, beside it.

    `here` is the caller as the file knows it.
    """
    memory_ids = [MemoryId(hit.id) for hit in ranked if hit.kind is Embedded.MEMORIES]
    fact_ids = [hit.id for hit in ranked if hit.kind is Embedded.FACTS]
    items = {hit.id: hit.item for hit in ranked if hit.kind is Embedded.MEMORIES}
    line, links, updates, of_memories, of_facts = tx.together(
        lambda: tx.edges.successors(memory_ids),
        lambda: tx.edges.answering(memory_ids, 1),
        lambda: tx.likely_updates.replacing(memory_ids, fact_ids),
        lambda: ground.anchored(tx, Embedded.MEMORIES, memory_ids, caller),
        lambda: ground.anchored(tx, Embedded.FACTS, fact_ids, caller),
    )
    newest = {id: line_of(id, line)[-1] for id in memory_ids if id in line}
    replacing = {MemoryId(update.new.row) for update in updates if update.new.kind == "memory"}
    new = sorted((replacing | set(newest.values())) - set(memory_ids))
    if new:
        links, items = links | tx.edges.answering(new, 1), items | load(tx, new)
        of_memories |= ground.anchored(tx, Embedded.MEMORIES, new, caller)
    solution_ids = {
        link.id for its_links in links.values() for link in its_links if link.relation == "solves"
    } - set(items)
    if solution_ids:
        items |= load(tx, sorted(solution_ids))
    shown = _Shown(items, links, newest, of_memories, of_facts)
    hits = [item for hit in _below_what_was_said(ranked) for item in shown.of(hit, here)]
    return _with_newer(tx, hits, updates, shown, here)


@dataclass(slots=True)
class _Shown:
    """Shows hits, each memory once. `items`, `links` and the anchors are by id, `newest` maps what is superseded."""

    items: Mapping[int, SearchItem[Memory]]
    links: Mapping[MemoryId, Sequence[Linked]]
    newest: Mapping[MemoryId, MemoryId]
    of_memories: Mapping[int, tuple[Anchor, ...]]
    of_facts: Mapping[int, tuple[Anchor, ...]]
    shown_ids: set[int] = field(default_factory=set)

    def of(self, hit: Ranked[Any], here: Caller) -> Iterator[Found]:
        """Yield a hit; of a memory what supersedes it, with what solves that behind it."""
        if hit.kind is not Embedded.MEMORIES:
            anchors = self.of_facts.get(hit.id, ()) if hit.kind is Embedded.FACTS else ()
            yield replace(as_found(hit, here), anchors=anchors)
            return
        id = self.newest.get(MemoryId(hit.id), MemoryId(hit.id))
        was = hit.item.thing.content if id != hit.id else None
        yield from self.memory(id, here, hit.probability, hit.part if id == hit.id else 0, was)
        for link in self.links.get(id, ()):
            if link.relation == "solves":
                yield from self.memory(link.id, here, hit.probability, hit.part if link.id == hit.id else 0)

    def memory(
        self, id: MemoryId, here: Caller, score: float, part: int = 0, was: str | None = None
    ) -> Iterator[Found]:
        """Yield a memory that was not shown yet."""
        if id in self.items and id not in self.shown_ids:
            self.shown_ids.add(id)
            memory = self.items[id].thing
            content, _ = search.shown(memory, part)
            contradicting = (link.id for link in self.links.get(id, ()) if link.relation == "contradicts")
            yield replace(
                showing.of_memory(memory, content, score, here, was),
                anchors=self.of_memories.get(id, ()),
                contradicts=tuple(map(handle, contradicting)),
            )


def _with_newer(
    tx: Tx, hits: Sequence[Found], updates: Sequence[LikelyUpdate], shown: _Shown, here: Caller
) -> list[Found]:
    """Return the hits, each beside the latest that probably replaces it."""
    by_ref = {hit.ref: hit for hit in hits}
    newer = {update.old.handle: update.new.handle for update in reversed(updates)}
    missing = [update.new for update in updates if update.new.handle not in by_ref]
    memory_ids = [MemoryId(new.row) for new in missing if new.kind == "memory"]
    fact_ids = [new.row for new in missing if new.kind == "fact"]
    added = [hit for id in memory_ids for hit in shown.memory(id, here, 0.0)]
    added += [showing.of_fact(fact, 0.0, here) for fact in (tx.facts.select(fact_ids) if fact_ids else ())]
    by_ref |= {hit.ref: hit for hit in added}
    for old, new in newer.items():
        if new in by_ref:
            by_ref[new] = replace(by_ref[new], replaces=(*by_ref[new].replaces, old))
    return recall.with_newer([by_ref[hit.ref] for hit in hits], list(by_ref.values()))


def _below_what_was_said(hits: Sequence[Ranked[Any]]) -> list[Ranked[Any]]:
    """Return the hits with what ended an error behind all else that is half as likely: it tells what was done."""

    def is_remedy(hit: Ranked[Any]) -> bool:
        return hit.kind is Embedded.MEMORIES and remedy_of(hit.item.thing.metadata) is not None

    ordered = [hit for hit in hits if not is_remedy(hit)]
    for hit in filter(is_remedy, hits):
        likely = (place for place, above in enumerate(ordered, 1) if 2 * above.probability >= hit.probability)
        ordered.insert(max(likely, default=0), hit)
    return ordered


def as_found(ranked: Ranked[Any], caller: Caller) -> Found:
    """Return a turn, a fact or a short-term memory as an answer shows it."""
    stored, score = ranked.item.thing, ranked.probability
    match stored:
        case Turn():
            return showing.of_turn(stored, stored.text, score, caller)
        case Fact():
            return showing.of_fact(stored, score, caller)
        case _:
            return showing.of_short_term(stored, stored.text, score)
