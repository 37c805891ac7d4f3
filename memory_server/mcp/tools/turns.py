"""The toolset `conversation`."""

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidatorFunctionWrapHandler, WithJsonSchema, WrapValidator

from memory_server.answers.answer import Answer, field, made, rounded
from memory_server.domain import trust
from memory_server.domain.caller import Caller
from memory_server.domain.fact import Fact
from memory_server.domain.turn import Turn, TurnDraft
from memory_server.errors import Problem
from memory_server.mcp.tool import DESTROYS, READS, WRITES, Tool
from memory_server.mcp.tools.answers import DEGRADED, DELETION, Deletion, refuse_both
from memory_server.mcp.tools.fact_answers import LISTED_FACT
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

MessageText = Annotated[
    str,
    Field(min_length=1, max_length=20_000),
    AfterValidator(not_blank),
    WithJsonSchema({"type": "string", "x-read": "content"}),
]
Summary = Annotated[str, Field(min_length=1, max_length=2_000), AfterValidator(not_blank), TEXT]


def _distinct(facts: Any, validated: ValidatorFunctionWrapHandler) -> Any:
    cleaned = validated(facts)
    if len(cleaned) != len(facts):
        raise ValueError("two keys differ in spaces or invisible characters only")
    return cleaned


Facts = Annotated[dict[Key, Value], Field(max_length=50), WrapValidator(_distinct), OBJECT]


@dataclass(frozen=True, slots=True)
class Registered:
    id: int


@dataclass(frozen=True, slots=True)
class ScoredTurn:
    turn: Turn
    score: float


@dataclass(frozen=True, slots=True)
class Retrieved:
    memories: list[ScoredTurn]
    facts: list[Fact]
    degraded: tuple[Problem, ...]
    note: str | None


@dataclass(frozen=True, slots=True)
class DeletedTurn(Deletion):
    restored: int | None = None


def _occurred_before(scored: ScoredTurn) -> str | None:
    turn = scored.turn
    return None if turn.occurred_at == turn.created_at else turn.occurred_at


SCORED_TURN = Answer(
    ScoredTurn,
    "turn.id turn.message turn.summary",
    field("turn.project?", usual=""),
    "turn.created_at",
    made("occurred_at?", _occurred_before),
    "turn.created_by",
    field("origin?=turn.origin", trust.outside),
    field("score", rounded),
)
RETRIEVED = Answer(Retrieved, field("memories", SCORED_TURN), field("facts", LISTED_FACT), "note?", DEGRADED)
DELETED_TURN = Answer(DeletedTurn, *DELETION, "restored?")


@dataclass(frozen=True, slots=True)
class TurnTools:
    """Turns of conversations, found again by meaning."""

    turns: TurnService

    def tools(self) -> list[Tool]:
        return [
            Tool(
                self.register_memory, WRITES, "Keep a turn", "log what was said in the conversation 记录对话"
            ),
            Tool(self.retrieve_memories, READS, "Find turns", "what did we say before 对话记录"),
            Tool(self.delete_turn, DESTROYS, "Delete a turn", "remove what was said 删除对话"),
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
        """Store one turn of the conversation, with a summary and its facts (key: value). Knowledge: memory_store."""
        turn = TurnDraft(message, summary, occurred_at, session)
        return Registered(self.turns.register(turn, facts or {}, caller))

    def retrieve_memories(
        self,
        query: QueryText,
        limit: Limit = 5,
        project: Annotated[
            Project | None, Field(description="default: all, this one first; '*' = all equally")
        ] = None,
        *,
        caller: Caller,
    ) -> Annotated[Retrieved, RETRIEVED]:
        """Find turns, and facts with words of the query; recall searches all kinds."""
        recalled = self.turns.retrieve(query, limit, caller, project)
        turns = [ScoredTurn(*scored) for scored in recalled.turns]
        return Retrieved(turns, recalled.facts, recalled.degraded, recalled.note)

    def delete_turn(
        self, id: TurnId, undo: Undo = False, purge: Purge = False, *, caller: Caller
    ) -> Annotated[DeletedTurn, DELETED_TURN]:
        """Delete a turn; its facts stay. It can be restored for 30 days."""
        refuse_both(undo=undo, purge=purge)
        if undo:
            return DeletedTurn(restored=self.turns.restore(id).id)
        return DeletedTurn(self.turns.forget(id, purge, caller))
