"""Forgets and restores a stored thing of any kind, and lists what words could mean, for those who know no id."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from memory_server.domain import change
from memory_server.domain.caller import Caller
from memory_server.domain.change import Change, ChangeAction, ChangeFilter, ChangeId, ChangeOrigin, Kind
from memory_server.domain.fact import Scope
from memory_server.domain.forgetting import Forgotten
from memory_server.domain.handles import Handle
from memory_server.domain.long_term import Order
from memory_server.domain.memory import MemoryId
from memory_server.domain.recall import OF_BEST, Found, Recallable
from memory_server.domain.short_term import ShortTermId
from memory_server.errors import Invalid, Mend, NotFound
from memory_server.language import query
from memory_server.services.changes import ChangeService
from memory_server.services.facts import FactService
from memory_server.services.long_term import LongTermService
from memory_server.services.memories import MemoryService
from memory_server.services.recall import RecallService, RecallWish
from memory_server.services.short_term import ShortTermService
from memory_server.services.turns import TurnService

LOOKED_AT = 500
"""Changes, the latest, among which deleted things are looked for."""

HALF = 0.5
"""Share of the words that a deleted thing or a prompt must hold to be meant by them."""

STORED = frozenset(Recallable) - {Recallable.WOKEN}
"""Kinds that a search finds by their words and meaning."""


@dataclass(frozen=True, slots=True)
class ThingService:
    memories: MemoryService
    facts: FactService
    turns: TurnService
    short_term: ShortTermService
    long_term: LongTermService
    recalls: RecallService
    changes: ChangeService

    def forget(self, handle: Handle, purge: bool, caller: Caller) -> Forgotten:
        """Delete a thing: it can be brought back for 30 days. Or erase it for good.

        Raises:
            NotFound: it is not there.
        """
        match handle.kind:
            case Kind.MEMORY:
                return self.memories.forget(MemoryId(handle.id), purge, caller)
            case Kind.TURN:
                return self.turns.forget(handle.id, purge, caller)
            case Kind.SHORT_TERM:
                return self.short_term.forget(ShortTermId(handle.id), purge, caller)
            case Kind.LONG_TERM:
                return self.long_term.delete(handle.name, None, purge, caller)
            case Kind.IMPORT | Kind.FORGETTING:
                raise Invalid(
                    f"{handle} is of many things at once: only undo takes it back. Nothing was changed."
                )
            case Kind.FACT:
                remove = self.facts.purge if purge else self.facts.delete
                _, forgotten = remove(handle.name, handle.scope, caller)
                if not forgotten.number:
                    raise NotFound(f"No fact `{handle.name}`.", Mend.LIST_FACTS)
                return forgotten

    def restore(self, handle: Handle, caller: Caller) -> list[str]:
        """Bring back a thing that was deleted, or undo what was done to many at once; return the handles of what stays,
        because it was changed since.

        Raises:
            NotFound: it was not deleted in the last 30 days.
            Conflict: its key or its name has been taken again.
        """
        match handle.kind:
            case Kind.MEMORY:
                self.memories.restore(MemoryId(handle.id))
            case Kind.TURN:
                self.turns.restore(handle.id)
            case Kind.SHORT_TERM:
                self.short_term.bring_back(ShortTermId(handle.id))
            case Kind.LONG_TERM:
                self.long_term.restore(handle.name, None, caller)
            case Kind.FACT:
                self.facts.undelete(handle.name, handle.scope, caller)
            case Kind.IMPORT | Kind.FORGETTING:
                origin = ChangeOrigin.IMPORT if handle.kind is Kind.IMPORT else ChangeOrigin.FORGETTING
                return self.changes.undo([ChangeId(origin, handle.id)], caller).staying
        return []

    def matching(self, words: str, caller: Caller) -> list[Found]:
        """Return the things that words may mean, best first; prompts come last."""
        answer = self.recalls.find(words, RecallWish(STORED), caller)
        hits = answer.hits if answer.answered else []
        near = [hit for hit in hits if hit.score >= OF_BEST * hits[0].score]
        return [
            *(replace(hit, ref=hit.ref.replace("f ", "f:", 1)) for hit in near),
            *self._prompts(words, caller),
        ]

    def deleted(self, words: str, caller: Caller) -> dict[Handle, str]:
        """Return the things that were deleted in the last 30 days, the last first, with their texts: those that hold at
        least half of the words, or all where there are none.
        """
        stems = _stems(words)
        log = self.changes.select(ChangeFilter(undone=True, parts=True), LOOKED_AT, caller)
        texts: dict[Handle, str] = {}
        for entry in log.changes:
            text = f"{entry.name}: {entry.text}" if entry.name else entry.text
            if entry.action is ChangeAction.DELETED and _share(stems, text) >= HALF:
                texts.setdefault(_handle_of(entry), text)
        return texts

    def _prompts(self, words: str, caller: Caller) -> Iterator[Found]:
        """Yield the prompts whose name and text hold at least half of the terms."""
        stems = _stems(words)
        for memory in self.long_term.select(None, caller, Order.NAME, 0).memories:
            share = _share(stems, f"{memory.name} {memory.prompt}")
            if stems and share >= HALF:
                ref = change.handle(Kind.LONG_TERM, 0, memory.name, None)
                yield Found(Recallable.WOKEN, ref, memory.prompt, None, share)


def _share(stems: set[str], text: str) -> float:
    """Return the share of the stems that a text holds; 1 where there are none."""
    return len(stems & _stems(text)) / len(stems) if stems else 1.0


def _stems(text: str) -> set[str]:
    return set(map(query.stem, query.parse(text).terms))


def _handle_of(entry: Change) -> Handle:
    """Return the handle of what a change happened to."""
    scope = Scope(entry.scope) if entry.kind is Kind.FACT and entry.scope else None
    return Handle(entry.kind, 0 if entry.name else entry.item, entry.name or "", scope)
