"""The toolset `long_term`."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue, WithJsonSchema

from memory_server.domain.caller import Caller
from memory_server.domain.long_term import LongTermChange, LongTermDraft, LongTermMemory, Order, Wake
from memory_server.domain.moment import parse
from memory_server.domain.short_term import snapshot
from memory_server.language.text import visible
from memory_server.mcp.tool import DESTROYS, READS, WRITES, Tool
from memory_server.mcp.tools.answers import (
    OPTIONAL,
    Answer,
    Degraded,
    Deletion,
    OptionalNumber,
    OptionalText,
    degraded,
    elsewhere,
    refuse_both,
    shortened,
)
from memory_server.mcp.tools.fields import INTEGER, OBJECT, TEXT, Purge, Undo, not_blank, small
from memory_server.mcp.tools.message_fields import Conversation, GivenMessage, Messages, as_messages
from memory_server.services.long_term import Awakening, Example, LongTermService
from memory_server.triggers import MOST_BYTES, Failure, Value
from memory_server.triggers.wrapping import unwrapped

MAX_PROMPT = 5_000
"""Characters of a prompt. A search returns it whole."""

MAX_CONTEXT = 20_000
"""Characters of a context. Of longer messages the last characters are stored."""

MAX_PARTICIPANTS = 50_000
"""Characters of the participants as JSON: each trigger that needs JavaScript has its own copy in memory."""

SHOWN = 300
"""Characters of a trigger that a list shows, so that a long list stays readable."""

SHOWN_PROMPT = 100
"""Characters of a prompt that a list shows: enough to recognise it."""


def _source(given: object) -> object:
    """A trigger that is true or false may come as such; an object comes as its text, to be refused like that."""
    if isinstance(given, dict | bool):
        return json.dumps(given, ensure_ascii=False)
    return unwrapped(given) if isinstance(given, str) else given


def _not_blank_source(text: str) -> str:
    text = visible(text)
    if not text.strip():
        raise ValueError("has no visible character")
    if len(text) > MOST_BYTES:
        raise ValueError(f"has {len(text):,} characters, at most {MOST_BYTES} are allowed")
    return text


def _local(given: object) -> object:
    return parse(str(given), zone=None)


MemoryName = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(not_blank), TEXT]
Prompt = Annotated[str, Field(min_length=1, max_length=MAX_PROMPT), AfterValidator(not_blank), TEXT]
Trigger = Annotated[str, BeforeValidator(_source), AfterValidator(_not_blank_source), TEXT]
_Context = Annotated[str, Field(max_length=MAX_CONTEXT), AfterValidator(not_blank), TEXT]
CreatedContext = Annotated[_Context | None, Field(alias="createdContext")]
UpdatedContext = Annotated[_Context | None, Field(alias="updatedContext")]
Recent = Annotated[Messages | None, Field(alias="recentMessages")]
Participants = Annotated[
    dict[str, JsonValue], Field(max_length=100), AfterValidator(small(MAX_PARTICIPANTS)), OBJECT
]
Cooldown = Annotated[int, Field(ge=0, le=525_600, strict=True), INTEGER]
CooldownMinutes = Annotated[Cooldown, WithJsonSchema({"type": "integer", "description": "minutes"})]
Examples = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=2_000), AfterValidator(not_blank)]],
    Field(max_length=20),
    WithJsonSchema({"type": "array", "items": {"type": "string"}}),
]
Offset = Annotated[int, Field(ge=0, le=100_000, strict=True), INTEGER]
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
    restored: OptionalText = None


class ListedLongTerm(Answer):
    name: str
    prompt: str
    trigger: str
    state: str
    fired: int
    fired_at: OptionalText = None

    @classmethod
    def as_of(cls, now: str, memory: LongTermMemory) -> Self:
        return cls(
            name=memory.name,
            prompt=shortened(memory.prompt, SHOWN_PROMPT),
            trigger=shortened(memory.trigger, SHOWN),
            state=_state(memory, now),
            fired=memory.fired_count,
            fired_at=memory.fired_at,
        )


class ListedLongTerms(Answer):
    memories: list[ListedLongTerm]
    more: OptionalNumber = None
    degraded: Degraded = None


class ReturnedLongTerm(Answer):
    name: str
    prompt: str
    why: OptionalText = None


class NamedReason(Answer):
    name: str
    reason: str


class ReturnedLongTerms(Answer):
    activated: list[ReturnedLongTerm]
    random: list[ReturnedLongTerm]
    errors: list[NamedReason]
    skipped: list[NamedReason]
    note: OptionalText = None
    degraded: Degraded = None

    @classmethod
    def of(cls, found: Awakening) -> Self:
        return cls(
            activated=[ReturnedLongTerm.of(each) for each in found.activated],
            random=[ReturnedLongTerm.of(each) for each in found.random],
            errors=[NamedReason(name=name, reason=reason) for name, reason in found.errors],
            skipped=[NamedReason(name=name, reason=reason) for name, reason in found.skipped],
            note=elsewhere(found.elsewhere),
            degraded=degraded(found.degraded),
        )


class ShownWake(Answer):
    at: str
    client: OptionalText = None
    why: str


class MemoryContext(Answer):
    name: str
    prompt: str
    trigger: str
    created_at: str
    created_context: OptionalText = None
    updated_at: OptionalText = None
    updated_context: OptionalText = None
    cooldown: OptionalNumber = None
    fired: int
    woken: Annotated[list[ShownWake] | None, OPTIONAL] = None

    @classmethod
    def told(cls, memory: LongTermMemory, woken: list[Wake]) -> Self:
        return cls(
            name=memory.name,
            prompt=memory.prompt,
            trigger=memory.trigger,
            created_at=memory.created_at,
            created_context=memory.created_context,
            updated_at=memory.updated_at,
            updated_context=memory.updated_context,
            cooldown=memory.cooldown or None,
            fired=memory.fired_count,
            woken=[ShownWake.of(each) for each in woken],
        )


class TriedExample(Answer):
    text: str
    expected: bool
    value: bool | None
    score: Annotated[float | None, OPTIONAL] = None

    @classmethod
    def told(cls, example: Example) -> Self:
        score = None if example.score is None else round(example.score, 2)
        return cls(
            text=shortened(example.text, SHOWN_PROMPT),
            expected=example.expected,
            value=example.value,
            score=score,
        )


class TriggerTest(Answer):
    value: bool | None
    why: str
    tier: int
    milliseconds: float
    warnings: list[str]
    examples: Annotated[list[TriedExample] | None, OPTIONAL] = None
    threshold: Annotated[float | None, OPTIONAL] = None


@dataclass(frozen=True, slots=True)
class LongTermTools:
    """Prompts that are returned when their trigger is true."""

    long_term: LongTermService

    def tools(self) -> list[Tool]:
        return [
            Tool(self.add_long_term_memory, WRITES, evaluates=True),
            Tool(self.update_long_term_memory, DESTROYS, evaluates=True),
            Tool(self.delete_long_term_memory, DESTROYS),
            Tool(self.list_long_term_memories, READS),
            Tool(self.search_long_term_memories, READS, evaluates=True),
            Tool(self.get_memory_context, READS),
            Tool(self.test_trigger, READS, evaluates=True),
        ]

    def add_long_term_memory(
        self,
        name: MemoryName,
        prompt: Prompt,
        trigger: Trigger,
        conversation_id: Annotated[
            Conversation | None, Field(description="default: this project; 'default' = all projects")
        ] = None,
        created_context: CreatedContext = None,
        recent_messages: Recent = None,
        cooldown: CooldownMinutes | None = None,
        *,
        caller: Caller,
    ) -> AddedLongTerm:
        """Store a prompt that search_long_term_memories returns whenever its JavaScript trigger is true, e.g. match_keys(messages, ['birthday', /生日/], 'user') || new Date().getMonth() === 6; also match_keys_all(...), similar(messages, 'I am lost'). Keys match whole words."""
        context = _context(created_context, recent_messages)
        draft = LongTermDraft(name, prompt, trigger, context, cooldown or 0)
        checked = self.long_term.add(draft, conversation_id, caller, as_messages(recent_messages or []))
        return AddedLongTerm(name=name, dry_run=checked.dry_run, warnings=list(checked.warnings))

    def update_long_term_memory(
        self,
        name: MemoryName,
        trigger: Trigger | None = None,
        prompt: Prompt | None = None,
        conversation_id: Conversation | None = None,
        updated_context: UpdatedContext = None,
        recent_messages: Recent = None,
        cooldown: Cooldown | None = None,
        *,
        caller: Caller,
    ) -> UpdatedLongTerm:
        """Replace the given fields of a long-term memory."""
        wanted = LongTermChange(prompt, trigger, _context(updated_context, recent_messages), cooldown)
        checked = self.long_term.update(
            name, wanted, conversation_id, as_messages(recent_messages or []), caller
        )
        return UpdatedLongTerm(
            name=name,
            dry_run=checked.dry_run if checked else None,
            warnings=list(checked.warnings) if checked else [],
        )

    def delete_long_term_memory(
        self,
        name: MemoryName,
        conversation_id: Conversation | None = None,
        undo: Undo = False,
        purge: Purge = False,
        *,
        caller: Caller,
    ) -> DeletedLongTerm:
        """Delete a long-term memory. It can be restored for 30 days; purge erases it."""
        refuse_both(undo=undo, purge=purge)
        if undo:
            restored = self.long_term.restore(name, conversation_id, caller)
            return DeletedLongTerm(deleted=False, restored=restored.name)
        return DeletedLongTerm(
            **Deletion.told(self.long_term.delete(name, conversation_id, purge, caller), purge)
        )

    def list_long_term_memories(
        self,
        conversation_id: Conversation | None = None,
        order: Order | None = None,
        offset: Offset | None = None,
        *,
        caller: Caller,
    ) -> ListedLongTerms:
        """List long-term memories: name, prompt, trigger, state."""
        listed = self.long_term.select(conversation_id, caller, order or Order.NAME, offset or 0)
        return ListedLongTerms(
            memories=[ListedLongTerm.as_of(listed.now, each) for each in listed.memories],
            more=listed.more or None,
            degraded=degraded(listed.degraded),
        )

    def search_long_term_memories(
        self,
        messages: Messages,
        conversation_id: Conversation | None = None,
        participants: Participants | None = None,
        *,
        caller: Caller,
    ) -> ReturnedLongTerms:
        """Evaluate all triggers and return the memories whose trigger is true, plus two random others."""
        found = self.long_term.search(as_messages(messages), conversation_id, participants or {}, caller)
        return ReturnedLongTerms.of(found)

    def get_memory_context(
        self, name: MemoryName, conversation_id: Conversation | None = None, *, caller: Caller
    ) -> MemoryContext:
        """Read a whole long-term memory and when it woke last."""
        return MemoryContext.told(*self.long_term.context(name, conversation_id, caller))

    def test_trigger(
        self,
        trigger: Trigger,
        messages: Messages | None = None,
        at: At | None = None,
        wakes: Examples | None = None,
        sleeps: Examples | None = None,
    ) -> TriggerTest:
        """Evaluate a trigger without storing it, on messages, and on texts for which it should wake or sleep."""
        checked, outcome = self.long_term.try_out(trigger, as_messages(messages or []), at)
        examples, threshold = self.long_term.try_examples(trigger, wakes or [], sleeps or [], at)
        match outcome:
            case Value(is_true, why, tier, milliseconds):
                value: bool | None = is_true
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
            examples=[TriedExample.told(each) for each in examples],
            threshold=threshold,
        )


def _context(given: str | None, recent: list[GivenMessage] | None) -> str | None:
    """The context that the author gives, else the latest messages."""
    return given or snapshot(as_messages(recent or []))[-MAX_CONTEXT:] or None


def _state(memory: LongTermMemory, now: str) -> str:
    if memory.quarantined_until is not None and memory.quarantined_until > now:
        return f"quarantined until {memory.quarantined_until}: {memory.error}"
    return f"error: {memory.error}" if memory.error else "ready"
