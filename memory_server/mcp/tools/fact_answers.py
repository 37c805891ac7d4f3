"""The answers of the toolset `facts`."""

import json
from collections.abc import Sequence
from typing import Annotated, Any, Self

from pydantic import (
    AliasChoices,
    AliasPath,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
)

from memory_server.domain.briefing.context import Context
from memory_server.domain.fact import Fact, FactChange
from memory_server.errors import Problem
from memory_server.language.tokens import weigh
from memory_server.mcp.tools.answers import (
    OPTIONAL,
    Answer,
    Degraded,
    Deletion,
    OptionalNumber,
    OptionalText,
    absent,
    degraded,
    part,
)
from memory_server.mcp.tools.fact_fields import AnyJson
from memory_server.services.facts import FactsFound
from memory_server.services.resume import Resumed

MAX_LISTED = 100_000
"""Characters of JSON of all values in one list. The others are left out and counted: they would fill a model's context."""

Scope = Annotated[str, Field(validation_alias=AliasPath("home", "scope"))]
ScopeOfFact = Annotated[str, Field(validation_alias=AliasPath("fact", "home", "scope"))]
Tags = Annotated[list[str], Field(default_factory=list, exclude_if=absent)]


class FactWritten(Answer):
    id: Annotated[int, part("fact", "id")]
    key: Annotated[str, part("fact", "key")]
    scope: ScopeOfFact
    version: Annotated[int, part("fact", "version")]
    created: bool
    updated_at: Annotated[str, part("fact", "updated_at")]
    hidden_by: Annotated[
        OptionalText, Field(description="a scope whose value a read without scope returns instead")
    ] = None


class FactRead(Answer):
    """The value of a key now, or at an earlier moment: then without the fields that only the present value has."""

    key: str
    value: AnyJson
    scope: Scope
    version: int
    tags: Tags
    updated_at: Annotated[str, Field(validation_alias=AliasChoices("updated_at", "changed_at"))]
    updated_by: Annotated[str | None, Field(validation_alias=AliasChoices("updated_by", "changed_by"))]
    created_at: OptionalText = None
    created_by: OptionalText = None
    access_count: OptionalNumber = None
    accessed_at: OptionalText = None
    expires_at: OptionalText = None

    @classmethod
    def listed(cls, fact: Fact) -> Self:
        """A fact in a list: without some times, to save tokens."""
        return cls.of(fact).model_copy(update={"created_at": None, "accessed_at": None})

    @classmethod
    def of_past(cls, change: FactChange | None) -> Self | None:
        return None if change is None else cls.of(change)


class Change(Answer):
    version: int
    action: str
    value: AnyJson
    scope: Scope
    tags: Tags
    changed_at: str
    changed_by: str | None
    expires_at: OptionalText = None


class FactsListed(Answer):
    """`more` counts the facts that fit too but are left out."""

    memories: list[FactRead]
    more: int
    degraded: Degraded = None

    @classmethod
    def of(cls, found: FactsFound) -> Self:
        shown, room = 0, MAX_LISTED
        for fact in found.facts:
            room -= len(json.dumps(fact.value, ensure_ascii=False))
            if room < 0 and shown:
                break
            shown += 1
        memories = [FactRead.listed(fact) for fact in found.facts[:shown]]
        more = found.more + len(found.facts) - shown
        return cls(memories=memories, more=more, degraded=degraded(found.degraded))


class FactsRead(Answer):
    """`memory` is the answer for a key (null where it has no value), `memories` for a pattern, `history` for versions."""

    memory: FactRead | None = None
    memories: list[FactRead] | None = None
    more: int | None = None
    history: list[Change] | None = None
    degraded: Degraded = None

    @model_serializer(mode="wrap")
    def _asked_fields(self, whole: SerializerFunctionWrapHandler) -> dict[str, Any]:
        answer: dict[str, Any] = whole(self)
        return {
            name: each
            for name, each in answer.items()
            if name in self.model_fields_set and not (name == "degraded" and each is None)
        }


class FactDeleted(Deletion):
    scope: OptionalText = None
    restored: Annotated[FactRead | None, OPTIONAL] = None


class Said(Answer):
    value: AnyJson
    by: OptionalText = None
    at: str


class Resume(Answer):
    briefing: str
    context: Annotated[dict[str, dict[str, Said]] | None, OPTIONAL] = None
    token_count: int
    note: OptionalText = None
    degraded: Degraded = None

    @classmethod
    def of(cls, resumed: Resumed) -> Self:
        return cls(
            briefing=resumed.briefing.text,
            context=_parts(resumed.context),
            token_count=resumed.token_count,
            note=resumed.note,
            degraded=degraded(resumed.degraded),
        )

    @staticmethod
    def overhead(problems: Sequence[Problem]) -> float:
        """The tokens of an answer without the briefing."""
        empty = Resume(briefing="", token_count=8000, degraded=degraded(problems))
        return weigh(empty.model_dump_json(by_alias=True))


def _parts(context: Context | None) -> dict[str, dict[str, Said]] | None:
    if context is None:
        return None
    return {
        part: {key: Said.of(each) for key, each in facts.items()} for part, facts in context.parts.items()
    }
