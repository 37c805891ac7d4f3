"""What the tools of facts answer."""

import json
from collections.abc import Sequence
from typing import Annotated, Any, Self

from pydantic import Field, JsonValue, SerializerFunctionWrapHandler, model_serializer

from memory_server.domain.fact import Fact, FactChange
from memory_server.services.facts import Written
from memory_server.services.resume import Resumed
from memory_server.tools.answers import Answer, absent
from memory_server.tools.fact_fields import AnyJson

MAX_LISTED = 100_000
"""Characters of the values of one list: what is more is left out and counted."""


class FactWritten(Answer):
    id: int
    key: str
    scope: str
    version: int
    created: bool
    updated_at: str
    hidden_by: Annotated[
        str | None, Field(exclude_if=absent, description="a scope that a read without scope looks in first")
    ] = None

    @classmethod
    def from_domain(cls, written: Written) -> Self:
        fact = written.fact
        return cls(
            id=fact.id,
            key=fact.key,
            scope=fact.home.scope,
            version=fact.version,
            created=written.created,
            updated_at=fact.updated_at,
            hidden_by=written.hidden_by,
        )


class FactRead(Answer):
    """A value as of now, or as of an earlier moment: then without what only the present has."""

    key: str
    value: AnyJson
    scope: str
    version: int
    tags: Annotated[list[str], Field(default_factory=list, exclude_if=absent)]
    updated_at: str
    updated_by: str | None
    created_at: Annotated[str | None, Field(exclude_if=absent)] = None
    created_by: Annotated[str | None, Field(exclude_if=absent)] = None
    access_count: Annotated[int | None, Field(exclude_if=absent)] = None
    accessed_at: Annotated[str | None, Field(exclude_if=absent)] = None
    expires_at: Annotated[str | None, Field(exclude_if=absent)] = None

    @classmethod
    def from_domain(cls, fact: Fact) -> Self:
        return cls(
            key=fact.key,
            value=fact.value,
            scope=fact.home.scope,
            version=fact.version,
            tags=list(fact.tags),
            updated_at=fact.updated_at,
            updated_by=fact.updated_by,
            created_at=fact.created_at,
            created_by=fact.created_by,
            access_count=fact.access_count,
            accessed_at=fact.accessed_at,
            expires_at=fact.expires_at,
        )

    @classmethod
    def listed(cls, fact: Fact) -> Self:
        return cls.from_domain(fact).model_copy(update={"created_at": None, "accessed_at": None})

    @classmethod
    def from_past(cls, change: FactChange) -> Self:
        return cls(
            key=change.key,
            value=change.value,
            scope=change.home.scope,
            version=change.version,
            tags=list(change.tags),
            updated_at=change.changed_at,
            updated_by=change.changed_by,
            expires_at=change.expires_at,
        )


class Change(Answer):
    version: int
    action: str
    value: AnyJson
    scope: str
    tags: Annotated[list[str], Field(default_factory=list, exclude_if=absent)]
    changed_at: str
    changed_by: str | None
    expires_at: Annotated[str | None, Field(exclude_if=absent)] = None

    @classmethod
    def from_domain(cls, change: FactChange) -> Self:
        return cls(
            version=change.version,
            action=change.action,
            value=change.value,
            scope=change.home.scope,
            tags=list(change.tags),
            changed_at=change.changed_at,
            changed_by=change.changed_by,
            expires_at=change.expires_at,
        )


class FactsListed(Answer):
    """`more` says how many fit too but are left out."""

    memories: list[FactRead]
    more: int

    @classmethod
    def from_domain(cls, found: Sequence[Fact], more: int) -> Self:
        shown, room = 0, MAX_LISTED
        for fact in found:
            room -= len(json.dumps(fact.value, ensure_ascii=False))
            if room < 0 and shown:
                break
            shown += 1
        memories = [FactRead.listed(fact) for fact in found[:shown]]
        return cls(memories=memories, more=more + len(found) - shown)


class FactsRead(Answer):
    """`memory` answers a key (null where it has no value), `memories` a pattern, `history` a key's past."""

    memory: FactRead | None = None
    memories: list[FactRead] | None = None
    more: int | None = None
    history: list[Change] | None = None

    @model_serializer(mode="wrap")
    def _what_was_asked(self, whole: SerializerFunctionWrapHandler) -> dict[str, Any]:
        answer: dict[str, Any] = whole(self)
        return {name: each for name, each in answer.items() if name in self.model_fields_set}


class FactDeleted(Answer):
    deleted: bool
    scope: Annotated[str | None, Field(exclude_if=absent)] = None
    restored: Annotated[FactRead | None, Field(exclude_if=absent)] = None


class ResumeContext(Answer):
    project: dict[str, JsonValue]
    current: dict[str, JsonValue]
    shared: dict[str, JsonValue]


class Resume(Answer):
    briefing: str
    context: ResumeContext
    token_count: int

    @classmethod
    def from_domain(cls, resumed: Resumed) -> Self:
        context = ResumeContext(project=resumed.project, current=resumed.current, shared=resumed.shared)
        return cls(briefing=resumed.briefing.text, context=context, token_count=resumed.briefing.token_count)
