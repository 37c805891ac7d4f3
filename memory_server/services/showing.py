"""A memory, a fact or a turn as an answer shows it."""

from memory_server.domain import fact_text
from memory_server.domain.caller import Caller
from memory_server.domain.fact import Fact, Scope
from memory_server.domain.memory import Memory
from memory_server.domain.recall import Found, Recallable
from memory_server.domain.turn import Turn


def of_memory(memory: Memory, said: str, score: float, caller: Caller, was: str | None = None) -> Found:
    """`said` is what is shown of it, `was` the text that it supersedes."""
    day, other = memory.occurred_at[:10], _other(memory.project, caller)
    return Found(Recallable.MEMORY, f"m{memory.id}", said, day, score, other, was, id=memory.id)


def of_fact(fact: Fact, score: float, caller: Caller) -> Found:
    """A shared fact has its author: it may be of another project, or of somebody else than the owner."""
    said = fact_text.value_of(fact.value)
    if fact.home.scope is Scope.SHARED and (fact.writer is not None or fact.updated_by != caller.author):
        said = f"{said} (shared by {fact.writer or fact.updated_by or 'nobody named'})"
    return Found(Recallable.FACT, f"f {fact.key}", said, fact.updated_at[:10], score, id=fact.id)


def of_turn(turn: Turn, said: str, score: float, caller: Caller) -> Found:
    """`said` is what is shown of it."""
    day, other = turn.occurred_at[:10], _other(turn.project, caller)
    return Found(Recallable.TURN, f"t{turn.id}", said, day, score, other, id=turn.id)


def _other(project: str | None, caller: Caller) -> str | None:
    """The project that an answer names: only another one than the caller's."""
    return project if project not in (None, "", caller.project.name) else None
