"""The toolset `long_term`."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue, WithJsonSchema

from memory_server.domain.caller import Caller
from memory_server.domain.long_term import DEFAULT_CONVERSATION, LongTermChange, LongTermDraft, LongTermMemory
from memory_server.domain.moment import parse
from memory_server.domain.short_term import snapshot
from memory_server.language.text import visible
from memory_server.mcp.tool import DESTROYS, READS, WRITES, Tool
from memory_server.mcp.tools.answers import (
    OPTIONAL,
    Answer,
    Degraded,
    Deletion,
    Number,
    Text,
    degraded,
    elsewhere,
    shortened,
)
from memory_server.mcp.tools.fields import Purge, Undo, not_blank, small
from memory_server.mcp.tools.message_fields import Conversation, GivenMessage, Messages, said
from memory_server.services.long_term import Awakening, LongTermService
from memory_server.triggers import MOST_BYTES, Failure, Value

MAX_PROMPT = 5_000
MAX_CONTEXT = 20_000
MAX_PARTICIPANTS = 50_000
"""Characters of JSON: each trigger that needs JavaScript holds them in its memory."""

SHOWN = 300
"""Characters of a trigger that a list shows."""


def _source(given: object) -> object:
    """A condition may come as the JSON object that it is."""
    return json.dumps(given, ensure_ascii=False) if isinstance(given, dict) else given


def _not_blank_source(text: str) -> str:
    text = visible(text)
    if not text.strip():
        raise ValueError("holds no visible character")
    if len(text) > MOST_BYTES:
        raise ValueError(f"has {len(text):,} characters, at most {MOST_BYTES} fit")
    return text


def _local(given: object) -> object:
    return parse(str(given), zone=None)


_TEXT = WithJsonSchema({"type": "string"})
MemoryName = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(not_blank), _TEXT]
Prompt = Annotated[str, Field(min_length=1, max_length=MAX_PROMPT), AfterValidator(not_blank), _TEXT]
Trigger = Annotated[
    str,
    BeforeValidator(_source),
    AfterValidator(_not_blank_source),
    _TEXT,
]
_Context = Annotated[str, Field(max_length=MAX_CONTEXT), AfterValidator(not_blank), _TEXT]
CreatedContext = Annotated[_Context | None, Field(alias="createdContext")]
UpdatedContext = Annotated[_Context | None, Field(alias="updatedContext")]
Recent = Annotated[Messages | None, Field(alias="recentMessages")]
Participants = Annotated[
    dict[str, JsonValue],
    Field(max_length=100),
    AfterValidator(small(MAX_PARTICIPANTS)),
    WithJsonSchema({"type": "object"}),
]
At = Annotated[
    datetime, BeforeValidator(_local), WithJsonSchema({"type": "string", "description": "local ISO time"})
]


class AddedLongTerm(Answer):
    name: str
    dry_run: bool
    warnings: list[str]


class UpdatedLongTerm(Answer):
    name: str
    dry_run: Annotated[bool | None, OPTIONAL] = None
    warnings: list[str]


class DeletedLongTerm(Deletion):
    restored: Text = None


class ListedLongTerm(Answer):
    name: str
    trigger: str
    state: str
    fired: int
    fired_at: Text = None

    @classmethod
    def as_of(cls, now: str, memory: LongTermMemory) -> Self:
        return cls(
            name=memory.name,
            trigger=shortened(memory.trigger, SHOWN),
            state=_state(memory, now),
            fired=memory.fired_count,
            fired_at=memory.fired_at,
        )


class ListedLongTerms(Answer):
    memories: list[ListedLongTerm]
    more: Number = None
    degraded: Degraded = None


class WokenMemory(Answer):
    name: str
    prompt: str
    why: Text = None


class NamedReason(Answer):
    name: str
    reason: str


class AwakenedMemories(Answer):
    activated: list[WokenMemory]
    random: list[WokenMemory]
    errors: list[NamedReason]
    skipped: list[NamedReason]
    note: Text = None
    degraded: Degraded = None

    @classmethod
    def of(cls, found: Awakening) -> Self:
        return cls(
            activated=[WokenMemory.of(each) for each in found.activated],
            random=[WokenMemory.of(each) for each in found.random],
            errors=[NamedReason(name=name, reason=reason) for name, reason in found.errors],
            skipped=[NamedReason(name=name, reason=reason) for name, reason in found.skipped],
            note=elsewhere(found.elsewhere),
            degraded=degraded(found.degraded),
        )


class MemoryContext(Answer):
    name: str
    prompt: str
    trigger: str
    created_at: str
    created_context: Text = None
    updated_at: Text = None
    updated_context: Text = None


class TriggerTest(Answer):
    value: bool | None
    why: str
    tier: int
    milliseconds: float
    warnings: list[str]


@dataclass(frozen=True, slots=True)
class LongTermTools:
    """What wakes by itself when its trigger holds."""

    long_term: LongTermService

    def tools(self) -> list[Tool]:
        return [
            Tool(self.add_long_term_memory, WRITES, judges=True),
            Tool(self.update_long_term_memory, DESTROYS, judges=True),
            Tool(self.delete_long_term_memory, DESTROYS),
            Tool(self.list_long_term_memories, READS),
            Tool(self.search_long_term_memories, READS, judges=True),
            Tool(self.get_memory_context, READS),
            Tool(self.test_trigger, READS, judges=True),
        ]

    def add_long_term_memory(
        self,
        name: MemoryName,
        prompt: Prompt,
        trigger: Trigger,
        conversation_id: Conversation = DEFAULT_CONVERSATION,
        created_context: CreatedContext = None,
        recent_messages: Recent = None,
        *,
        caller: Caller,
    ) -> AddedLongTerm:
        """Keep a prompt that search_long_term_memories returns whenever its JavaScript trigger is true, e.g. match_keys(messages, ['birthday', /生日/], 'user') || new Date().getMonth() === 6; also match_keys_all(...), similar(messages, 'I am lost'). A key matches whole words."""
        context = _context(created_context, recent_messages)
        draft = LongTermDraft(name, prompt, trigger, context)
        checked = self.long_term.add(draft, conversation_id, caller, said(recent_messages or []))
        return AddedLongTerm(name=name, dry_run=checked.dry_run, warnings=list(checked.warnings))

    def update_long_term_memory(
        self,
        name: MemoryName,
        trigger: Trigger | None = None,
        prompt: Prompt | None = None,
        conversation_id: Conversation = DEFAULT_CONVERSATION,
        updated_context: UpdatedContext = None,
        recent_messages: Recent = None,
    ) -> UpdatedLongTerm:
        """Replace the given fields of a long-term memory."""
        wanted = LongTermChange(prompt, trigger, _context(updated_context, recent_messages))
        checked = self.long_term.update(name, wanted, conversation_id, said(recent_messages or []))
        return UpdatedLongTerm(
            name=name,
            dry_run=checked.dry_run if checked else None,
            warnings=list(checked.warnings) if checked else [],
        )

    def delete_long_term_memory(
        self,
        name: MemoryName,
        conversation_id: Conversation = DEFAULT_CONVERSATION,
        undo: Undo = False,
        purge: Purge = False,
        *,
        caller: Caller,
    ) -> DeletedLongTerm:
        """Delete a long-term memory. It can be restored for 30 days; purge erases it."""
        if undo:
            restored = self.long_term.restore(name, conversation_id)
            return DeletedLongTerm(deleted=False, restored=restored.name)
        return DeletedLongTerm(
            **Deletion.told(self.long_term.delete(name, conversation_id, purge, caller), purge)
        )

    def list_long_term_memories(
        self, conversation_id: Conversation = DEFAULT_CONVERSATION
    ) -> ListedLongTerms:
        """List the name, trigger and state of each long-term memory."""
        listed = self.long_term.select(conversation_id)
        return ListedLongTerms(
            memories=[ListedLongTerm.as_of(listed.now, each) for each in listed.memories],
            more=listed.more or None,
            degraded=degraded(listed.degraded),
        )

    def search_long_term_memories(
        self,
        messages: Messages,
        conversation_id: Conversation = DEFAULT_CONVERSATION,
        participants: Participants | None = None,
    ) -> AwakenedMemories:
        """Evaluate all triggers and return the memories whose trigger is true, plus two random others."""
        found = self.long_term.search(said(messages), conversation_id, participants or {})
        return AwakenedMemories.of(found)

    def get_memory_context(
        self, name: MemoryName, conversation_id: Conversation = DEFAULT_CONVERSATION
    ) -> MemoryContext:
        """Read a whole long-term memory, with the contexts in which it was created and updated."""
        return MemoryContext.of(self.long_term.get(name, conversation_id))

    def test_trigger(
        self, trigger: Trigger, messages: Messages | None = None, at: At | None = None
    ) -> TriggerTest:
        """Evaluate a trigger on these messages, at this moment, without keeping it."""
        checked, outcome = self.long_term.try_out(trigger, said(messages or []), at)
        match outcome:
            case Value(holds, why, tier, milliseconds):
                value: bool | None = holds
            case Failure(_, why, tier, milliseconds):
                value = None
            case _:
                value, why, tier, milliseconds = None, "no time was left", checked.tier, 0.0
        return TriggerTest(
            value=value,
            why=why if messages else f"{why} (no messages given)",
            tier=tier,
            milliseconds=round(milliseconds, 2),
            warnings=list(checked.warnings),
        )


def _context(given: str | None, recent: list[GivenMessage] | None) -> str | None:
    """What the author says of the circumstances, else the latest messages."""
    return given or snapshot(said(recent or []))[-MAX_CONTEXT:] or None


def _state(memory: LongTermMemory, now: str) -> str:
    if memory.quarantined_until is not None and memory.quarantined_until > now:
        return f"quarantined until {memory.quarantined_until}: {memory.error}"
    return f"error: {memory.error}" if memory.error else "ready"
