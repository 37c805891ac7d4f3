"""Shows a memory, a fact or a turn as an answer has it."""

from collections.abc import Sequence

from memory_server.domain import fact_text
from memory_server.domain.caller import Caller
from memory_server.domain.digest import is_telling
from memory_server.domain.fact import Fact, Scope
from memory_server.domain.memory import Memory
from memory_server.domain.recall import Found, Recallable
from memory_server.domain.short_term import ShortTermMemory
from memory_server.domain.turn import Turn
from memory_server.storage.tx import Tx


def of_memory(memory: Memory, text: str, score: float, caller: Caller, was: str | None = None) -> Found:
    """Show a memory: `text` is the part of it to show, `was` the text that it supersedes."""
    day, project = memory.occurred_at[:10], _other(memory.project, caller)
    ref, changed_at = f"m{memory.id}", memory.updated_at
    return Found(
        Recallable.MEMORY,
        ref,
        text,
        day,
        score,
        project,
        was,
        id=memory.id,
        changed_at=changed_at,
        origin=memory.origin,
    )


def of_fact(fact: Fact, score: float, caller: Caller) -> Found:
    """Show a fact; a shared one with its author: it may be of another project, or of somebody else than the owner."""
    text = fact_text.value_of(fact.value)
    if fact.home.scope is Scope.SHARED and (fact.writer is not None or fact.updated_by != caller.author):
        text = f"{text} (shared by {fact.writer or fact.updated_by or 'nobody named'})"
    day, changed_at = fact.updated_at[:10], fact.updated_at
    ref = f"f {fact.key}"
    return Found(
        Recallable.FACT, ref, text, day, score, id=fact.id, changed_at=changed_at, origin=fact.origin
    )


def of_turn(turn: Turn, text: str, score: float, caller: Caller) -> Found:
    """Show a turn: `text` is the part of it to show."""
    day, project = turn.occurred_at[:10], _other(turn.project, caller)
    session = turn.session if turn.is_transcript else None
    ref, origin = f"t{turn.id}", turn.origin
    return Found(Recallable.TURN, ref, text, day, score, project, id=turn.id, session=session, origin=origin)


def left_out(tx: Tx, texts: Sequence[object]) -> list[Memory]:
    """Return the digests that an answer leaves out: a source is among these texts, or it tells nothing."""
    memories = [text for text in texts if isinstance(text, Memory)]
    digests = [memory for memory in memories if memory.is_digest]
    if not digests:
        return []
    turn_ids = [text.id for text in texts if isinstance(text, Turn)]
    digest_ids, memory_ids = [memory.id for memory in digests], [memory.id for memory in memories]
    repeating = tx.digests.repeating(digest_ids, memory_ids, turn_ids)
    return [memory for memory in digests if memory.id in repeating or not is_telling(memory.content)]


def of_short_term(memory: ShortTermMemory, text: str, score: float) -> Found:
    """Show a short-term memory: `text` is the part of it to show."""
    ref, day = f"s{memory.id}", memory.said_at[:10]
    return Found(Recallable.SHORT_TERM, ref, text, day, score, id=memory.id, origin=memory.origin)


def _other(project: str | None, caller: Caller) -> str | None:
    """Return the project that an answer names: only another one than the caller's."""
    return project if project not in (None, "", caller.project.name) else None
