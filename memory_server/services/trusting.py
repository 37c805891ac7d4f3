"""Refuses texts from outside where they would replace others, and lets a person confirm them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from memory_server.domain import trust
from memory_server.domain.briefing.headings import Heading
from memory_server.domain.briefing.items import heading_of
from memory_server.domain.caller import Caller
from memory_server.domain.change import Kind
from memory_server.domain.fact import Fact, FactDraft, Scope, refuse_sharing
from memory_server.domain.forgetting import Kind as Trashable
from memory_server.domain.handles import Handle
from memory_server.domain.long_term import LongTermChange, LongTermId, LongTermMemory
from memory_server.domain.memory import Memory, MemoryId, MemoryType
from memory_server.domain.moment import parse, timestamp
from memory_server.domain.outside import Waiting, counted
from memory_server.errors import Conflict, Mend, NotFound
from memory_server.services import projects
from memory_server.storage.database import Database
from memory_server.storage.tx import Tx, WriteTx

LATELY = timedelta(days=7)
"""How long the start of a session tells of a text that waits."""


def refuse_replacing(origin: str, replaced: Memory | Fact | LongTermMemory) -> None:
    """Raise Conflict where a text of this origin may not replace another: one from outside replaces only such ones."""
    if not trust.waits(origin) or trust.waits(replaced.origin):
        return
    match replaced:
        case Memory():
            name = f"m{replaced.id}"
        case Fact():
            name = f"the fact `{replaced.key}`"
        case _:
            name = f"`{replaced.name}`"
    source = "is what the user said" if trust.is_of_user(replaced.origin) else "is not"
    raise Conflict(
        f"This text is from {origin}, and {name} {source}. Nothing was changed.", Mend.STORE_BESIDE
    )


def refuse_standing_for(tx: Tx, origin: str, id: MemoryId) -> None:
    """Raise Conflict where a memory that gets this origin is shown in the place of one from elsewhere."""
    if trust.waits(origin):
        for replaced in tx.memories.select(tx.edges.replaced_by(id)):
            refuse_replacing(origin, replaced)


@dataclass(frozen=True, slots=True)
class TrustService:
    """Only a face in which a person acts calls `confirm`, or one whose client has asked the person."""

    database: Database

    def waiting(self) -> list[Waiting]:
        """Return what waits until a person confirms it, by its origin, the latest first."""
        with self.database.read() as tx:
            return tx.outside.select()

    def just_said(self, origins: Mapping[str, str], caller: Caller) -> Waiting | None:
        """Return what waits of these texts that the session has written, if it speaks of the user: a preference, a fact
        about the user, a reminder. None where none does, or several do."""
        with self.database.read() as tx:
            waiting = [item for item in tx.outside.select() if item.session == caller.session]
            candidates = [item for item in waiting if item.text in origins and _is_of_user(tx, item)]
            return candidates[0] if len(candidates) == 1 else None

    def lately(self, caller: Caller) -> str:
        """Count what was stored lately in the caller's project, or in none, and waits; '' where nothing does."""
        with self.database.read() as tx:
            project = projects.known(tx, caller).project.name
            return counted(tx.outside.lately(project, timestamp(parse(tx.now) - LATELY)))

    def confirm(
        self, handles: Sequence[Handle], origin: str | None, caller: Caller, at: str | None = None
    ) -> list[Waiting]:
        """Confirm these things, or all of an origin: they are said as if the user had said them. Return them.

        Raises:
            NotFound: one does not wait, or was written again after `at`, when a person saw it.
        """
        with self.database.write() as tx:
            chosen = _chosen(tx, handles, origin, at)
            for waiting in chosen:
                _confirm(tx, waiting, caller)
        return chosen

    def drop(
        self, handles: Sequence[Handle], origin: str | None, caller: Caller, at: str | None = None
    ) -> list[Waiting]:
        """Delete these things, or all of an origin: they can be brought back for 30 days. Return them.

        Raises:
            NotFound: as `confirm`.
        """
        with self.database.write() as tx:
            chosen = _chosen(tx, handles, origin, at)
            for waiting in chosen:
                if waiting.kind is Kind.FACT:
                    for fact in tx.facts.select([waiting.id]):
                        refuse_sharing(tx.person, fact.home.scope)
                        tx.facts.delete(fact, caller)
                else:
                    tx.trash.put(Trashable(waiting.kind.value), [waiting.id], caller)
        return chosen


def _is_of_user(tx: Tx, waiting: Waiting) -> bool:
    """True for what speaks of the user: a setting of a library that somebody notes as a convention does not."""
    match waiting.kind:
        case Kind.MEMORY:
            return tx.memories.get(MemoryId(waiting.id)).type is MemoryType.PREFERENCE
        case Kind.FACT:
            return heading_of(waiting.name, waiting.scope or Scope.GLOBAL) is Heading.EVERYWHERE
        case _:
            return waiting.kind is Kind.LONG_TERM


def _chosen(tx: Tx, handles: Sequence[Handle], origin: str | None, at: str | None) -> list[Waiting]:
    everything = tx.outside.select()
    for handle in handles:
        if not any(waiting.is_meant(handle) and at in (None, waiting.at) for waiting in everything):
            raise NotFound(f"{handle} does not wait to be confirmed. Nothing was changed.")
    return [
        waiting for waiting in everything if waiting.origin == origin or any(map(waiting.is_meant, handles))
    ]


def _confirm(tx: WriteTx, waiting: Waiting, caller: Caller) -> None:
    origin = trust.confirmed(waiting.origin)
    match waiting.kind:
        case Kind.MEMORY:
            memory = tx.memories.get(MemoryId(waiting.id))
            tx.changes.keep_memory(memory, caller)
            tx.memories.replace(memory, replace(memory, origin=origin), "rewritten")
        case Kind.FACT:
            for fact in tx.facts.select([waiting.id]):
                refuse_sharing(tx.person, fact.home.scope)
                draft = FactDraft(fact.key, fact.value, fact.tags, origin=origin)
                tx.facts.replace(fact, draft, fact.expires_at, caller)
        case Kind.LONG_TERM:
            memory_of_name = tx.long_term.get(LongTermId(waiting.id))
            tx.changes.keep_long_term(memory_of_name, caller)
            tx.long_term.replace(memory_of_name.id, LongTermChange(origin=origin))
        case Kind.SHORT_TERM:
            tx.short_term.confirm(waiting.id, origin)
        case _:
            tx.turns.confirm(waiting.id, origin)
