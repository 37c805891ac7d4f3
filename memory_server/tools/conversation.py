"""The toolset `conversation`."""

from dataclasses import dataclass
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, ValidatorFunctionWrapHandler, WithJsonSchema, WrapValidator

from memory_server.domain.memory import Caller
from memory_server.services.conversation import ConversationService, Recalled
from memory_server.tools.answers import Answer, absent
from memory_server.tools.fact_answers import FactRead
from memory_server.tools.fact_fields import Key, Value
from memory_server.tools.fields import QueryText, not_blank
from memory_server.tools.tool import READS, WRITES, Tool

Message = Annotated[
    str,
    Field(min_length=1, max_length=20_000),
    AfterValidator(not_blank),
    WithJsonSchema({"type": "string"}),
]
Summary = Annotated[
    str, Field(min_length=1, max_length=2_000), AfterValidator(not_blank), WithJsonSchema({"type": "string"})
]


def _distinct(given: Any, validated: ValidatorFunctionWrapHandler) -> Any:
    kept = validated(given)
    if len(kept) != len(given):
        raise ValueError("two keys differ in spaces or invisible characters only")
    return kept


Facts = Annotated[
    dict[Key, Value], Field(max_length=50), WrapValidator(_distinct), WithJsonSchema({"type": "object"})
]


class Registered(Answer):
    id: int


class RecalledTurn(Answer):
    id: int
    message: str
    summary: str
    project: Annotated[str | None, Field(exclude_if=absent)] = None
    created_at: str
    created_by: str | None
    score: float


class Retrieved(Answer):
    memories: list[RecalledTurn]
    facts: list[FactRead]
    degraded: Annotated[str | None, Field(exclude_if=absent)] = None

    @classmethod
    def from_domain(cls, recalled: Recalled) -> Self:
        return cls(
            memories=[
                RecalledTurn(
                    id=turn.id,
                    message=turn.message,
                    summary=turn.summary,
                    project=turn.project or None,
                    created_at=turn.created_at,
                    created_by=turn.created_by,
                    score=round(score, 4),
                )
                for turn, score in recalled.turns
            ],
            facts=[FactRead.listed(fact) for fact in recalled.facts],
            degraded=recalled.degraded,
        )


@dataclass(frozen=True, slots=True)
class ConversationTools:
    """What was said, found again by meaning."""

    conversation: ConversationService

    def tools(self) -> list[Tool]:
        return [Tool(self.register_memory, WRITES), Tool(self.retrieve_memories, READS)]

    def register_memory(
        self,
        message: Message,
        summary: Summary,
        facts: Facts | None = None,
        *,
        caller: Caller,
    ) -> Registered:
        """Keep a turn of this conversation with the facts it brought (key: value), all or nothing."""
        writer = Caller(caller.client, self.conversation.facts.place.session)
        return Registered(id=self.conversation.register(message, summary, facts or {}, writer))

    def retrieve_memories(
        self, query: QueryText, limit: Annotated[int, Field(ge=1, le=50, strict=True)] = 5
    ) -> Retrieved:
        """Find earlier turns by meaning, best first, and the facts that the query names."""
        return Retrieved.from_domain(self.conversation.retrieve(query, limit))
