"""The toolset `conversation`."""

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidatorFunctionWrapHandler, WrapValidator

from memory_server.domain.caller import Caller
from memory_server.domain.turn import Turn, TurnDraft
from memory_server.mcp.tool import DESTROYS, READS, WRITES, Tool
from memory_server.mcp.tools.answers import (
    Answer,
    Degraded,
    Deletion,
    OptionalNumber,
    OptionalText,
    degraded,
    refuse_both,
)
from memory_server.mcp.tools.fact_answers import FactRead
from memory_server.mcp.tools.fact_fields import Key, Value
from memory_server.mcp.tools.fields import (
    OBJECT,
    TEXT,
    Limit,
    Occurred,
    Project,
    Purge,
    QueryText,
    Session,
    TurnId,
    Undo,
    not_blank,
)
from memory_server.services.turns import TurnService

MessageText = Annotated[str, Field(min_length=1, max_length=20_000), AfterValidator(not_blank), TEXT]
Summary = Annotated[str, Field(min_length=1, max_length=2_000), AfterValidator(not_blank), TEXT]


def _distinct(given: Any, validated: ValidatorFunctionWrapHandler) -> Any:
    kept = validated(given)
    if len(kept) != len(given):
        raise ValueError("two keys differ in spaces or invisible characters only")
    return kept


Facts = Annotated[dict[Key, Value], Field(max_length=50), WrapValidator(_distinct), OBJECT]


class Registered(Answer):
    id: int


class RecalledTurn(Answer):
    id: int
    message: str
    summary: str
    project: OptionalText = None
    created_at: str
    occurred_at: OptionalText = None
    created_by: str | None
    score: float

    @classmethod
    def with_score(cls, turn: Turn, score: float) -> "RecalledTurn":
        return cls(
            id=turn.id,
            message=turn.message,
            summary=turn.summary,
            project=turn.project or None,
            created_at=turn.created_at,
            occurred_at=None if turn.occurred_at == turn.created_at else turn.occurred_at,
            created_by=turn.created_by,
            score=round(score, 2),
        )


class DeletedTurn(Deletion):
    restored: OptionalNumber = None


class Retrieved(Answer):
    memories: list[RecalledTurn]
    facts: list[FactRead]
    note: OptionalText = None
    degraded: Degraded = None


@dataclass(frozen=True, slots=True)
class TurnTools:
    """Turns of conversations, found again by meaning."""

    turns: TurnService

    def tools(self) -> list[Tool]:
        return [
            Tool(self.register_memory, WRITES),
            Tool(self.retrieve_memories, READS),
            Tool(self.delete_turn, DESTROYS),
        ]

    def register_memory(
        self,
        message: MessageText,
        summary: Summary,
        facts: Facts | None = None,
        occurred_at: Occurred | None = None,
        session: Session | None = None,
        *,
        caller: Caller,
    ) -> Registered:
        """Store one turn of the conversation, with a summary and the facts in it (an object of key: value)."""
        turn = TurnDraft(message, summary, occurred_at, session)
        return Registered(id=self.turns.register(turn, facts or {}, caller))

    def retrieve_memories(
        self,
        query: QueryText,
        limit: Limit = 5,
        project: Annotated[
            Project | None, Field(description="default: all, this one first; '*' = all equally")
        ] = None,
        *,
        caller: Caller,
    ) -> Retrieved:
        """Find earlier turns by words and meaning, best first, and facts whose key or value contains words of the query."""
        found = self.turns.retrieve(query, limit, caller, project)
        return Retrieved(
            memories=[RecalledTurn.with_score(turn, score) for turn, score in found.turns],
            facts=[FactRead.listed(fact) for fact in found.facts],
            note=found.note,
            degraded=degraded(found.degraded),
        )

    def delete_turn(
        self, id: TurnId, undo: Undo = False, purge: Purge = False, *, caller: Caller
    ) -> DeletedTurn:
        """Delete a turn; its facts stay. It can be restored for 30 days; purge erases it."""
        refuse_both(undo=undo, purge=purge)
        if undo:
            return DeletedTurn(deleted=False, restored=self.turns.restore(id).id)
        return DeletedTurn(**Deletion.told(self.turns.forget(id, purge, caller), purge))
