"""The toolset `long_term`."""

import json
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, WithJsonSchema

from memory_server.answers.answer import Answer, field, rounded
from memory_server.domain import plain_rules, rules, trust
from memory_server.domain.caller import Caller
from memory_server.domain.effect import Effect, RuleDraft
from memory_server.domain.long_term import LongTermChange, LongTermDraft, LongTermMemory, Order, Wake
from memory_server.domain.moment import parse
from memory_server.domain.short_term import snapshot
from memory_server.language.text import visible
from memory_server.language.when import Use
from memory_server.mcp.tool import DESTROYS, READS, WRITES, Tool
from memory_server.mcp.tools.answers import (
    DELETION,
    ORIGIN,
    Deletion,
    degraded,
    elsewhere,
    refuse_both,
    shortened,
)
from memory_server.mcp.tools.fields import INTEGER, NO_MOMENT, OBJECT, TEXT, Purge, Undo, not_blank, small
from memory_server.mcp.tools.message_fields import Conversation, GivenMessage, Messages, as_messages
from memory_server.services.long_term import Awakening, Example, LongTermService
from memory_server.services.reminders import Hints, Reminded, ReminderService
from memory_server.services.rules import RuleService
from memory_server.services.waking import Woken
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


def _source(value: object) -> object:
    """A trigger that is true or false may come as such; an object comes as its text, to be refused like that."""
    if isinstance(value, dict | bool):
        return json.dumps(value, ensure_ascii=False)
    return unwrapped(value) if isinstance(value, str) else value


def _not_blank_source(text: str) -> str:
    text = visible(text)
    if not text.strip():
        raise ValueError("has no visible character")
    if len(text) > MOST_BYTES:
        raise ValueError(f"has {len(text):,} characters, at most {MOST_BYTES} are allowed")
    return text


def _local(value: object) -> object:
    try:
        return parse(str(value), zone=None)
    except ValueError:
        raise ValueError(NO_MOMENT) from None


_TRIGGER = WithJsonSchema({"type": "string", "x-read": "trigger"})
MemoryName = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(not_blank), TEXT]
Prompt = Annotated[str, Field(min_length=1, max_length=MAX_PROMPT), AfterValidator(not_blank), TEXT]
Trigger = Annotated[str, BeforeValidator(_source), AfterValidator(_not_blank_source), _TRIGGER]
_Context = Annotated[str, Field(max_length=MAX_CONTEXT), AfterValidator(not_blank), TEXT]
CreatedContext = Annotated[_Context | None, Field(alias="createdContext")]
UpdatedContext = Annotated[_Context | None, Field(alias="updatedContext")]
Recent = Annotated[Messages | None, Field(alias="recentMessages")]
Participants = Annotated[
    dict[str, JsonValue], Field(max_length=100), AfterValidator(small(MAX_PARTICIPANTS)), OBJECT
]
Cooldown = Annotated[
    int,
    Field(ge=0, le=525_600, strict=True),
    WithJsonSchema({"type": "integer", "x-time": "minutes"}),
]
CooldownMinutes = Annotated[
    Cooldown, WithJsonSchema({"type": "integer", "description": "minutes", "x-time": "minutes"})
]
ReminderText = Annotated[str, Field(min_length=1, max_length=2_000), AfterValidator(not_blank), TEXT]
When = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(not_blank), TEXT]
Examples = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=2_000), AfterValidator(not_blank)]],
    Field(max_length=20),
    WithJsonSchema({"type": "array", "items": {"type": "string"}}),
]
Acts = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=2_000), AfterValidator(not_blank)]],
    Field(min_length=1, max_length=20),
]


class GivenRule(BaseModel):
    """A rule: its effect, and acts on which it is tried."""

    model_config = ConfigDict(extra="forbid")

    effect: Effect
    holds: Acts
    passes: Acts

    def draft(self) -> RuleDraft:
        return RuleDraft(self.effect, tuple(self.holds), tuple(self.passes))


GivenRuleField = Annotated[
    GivenRule,
    WithJsonSchema(
        {
            "type": "object",
            "description": "effect: say|ask|deny; holds, passes: acts; trigger runs(act, 'git push')",
        }
    ),
]
Offset = Annotated[int, Field(ge=0, le=100_000, strict=True), INTEGER]
At = Annotated[
    datetime,
    BeforeValidator(_local),
    WithJsonSchema({"type": "string", "description": "local time", "x-time": Use.STARTS.value}),
]


@dataclass(frozen=True, slots=True)
class AddedLongTerm:
    """`rule` says in words what a rule holds, and what it does until a person confirms it."""

    name: str
    dry_run: bool
    warnings: tuple[str, ...]
    rule: str | None = None


UNCONFIRMED = (
    "{effect}: {words}. Until the user confirms it, it only says so: `memory-server rules confirm '{name}'`"
)

OFFERED = "To hold it before acts, the user runs: memory-server rules add '{text}'"
"""What is said of a reminder that could be a rule."""


@dataclass(frozen=True, slots=True)
class UpdatedLongTerm:
    name: str
    dry_run: bool | None
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DeletedLongTerm(Deletion):
    restored: str | None = None


@dataclass(frozen=True, slots=True)
class ListedLongTerm:
    memory: LongTermMemory
    status: str


@dataclass(frozen=True, slots=True)
class ListedLongTerms:
    memories: list[ListedLongTerm]
    more: int
    degraded: str | None


@dataclass(frozen=True, slots=True)
class NamedReason:
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class WholeLongTerm:
    """A long-term memory and its latest wakes, the last one first."""

    memory: LongTermMemory
    woken: list[Wake] | None


@dataclass(frozen=True, slots=True)
class TriggerTest:
    value: bool | None
    why: str
    milliseconds: float
    warnings: tuple[str, ...]
    examples: list[Example] | None
    threshold: float | None


def _short(text: str) -> str:
    return shortened(text, SHOWN)


def _shortest(text: str) -> str:
    return shortened(text, SHOWN_PROMPT)


def _reasons(reasons: list[tuple[str, str]]) -> list[NamedReason]:
    return [NamedReason(*reason) for reason in reasons]


REMINDED = Answer(Reminded, "name when trigger", field("moved?", usual=False), "rule?")
ADDED = Answer(AddedLongTerm, "name dry_run warnings rule?")
UPDATED = Answer(UpdatedLongTerm, "name dry_run? warnings")
DELETED = Answer(DeletedLongTerm, *DELETION, "restored?")
LISTED = Answer(
    ListedLongTerm,
    "memory.name",
    field("memory.prompt", _shortest),
    field("memory.trigger", _short),
    "state=status fired=memory.fired_count memory.fired_at?",
    ORIGIN,
)
LISTED_ALL = Answer(ListedLongTerms, field("memories", LISTED), field("more?", usual=0), "degraded?")
WOKEN = Answer(Woken, "name prompt why?")
AWAKENING = Answer(
    Awakening,
    field("activated", WOKEN),
    field("random", WOKEN),
    field("errors", _reasons),
    field("skipped", _reasons),
    field("note?=elsewhere", elsewhere),
    field("degraded?", degraded),
)
WAKE = Answer(Wake, "at client? why")
WHOLE = Answer(
    WholeLongTerm,
    "memory.name memory.prompt memory.trigger memory.created_at memory.created_context?",
    "memory.updated_at? memory.updated_context?",
    field("memory.cooldown?", usual=0),
    "fired=memory.fired_count",
    field("origin?=memory.origin", trust.told_origin),
    field("woken?", WAKE),
)
EXAMPLE = Answer(Example, field("text", _shortest), "expected value", field("score?", rounded))
TRIGGER_TEST = Answer(
    TriggerTest,
    "value why",
    field("milliseconds", rounded),
    "warnings",
    field("examples?", EXAMPLE),
    "threshold?",
)


HINTS = Hints(
    "told once; for later, call remind again with this text", "told each time; to end it, forget w:{name}"
)
"""How a reminder says what can be done with it."""


@dataclass(frozen=True, slots=True)
class LongTermTools:
    """Prompts that are returned when their trigger is true."""

    long_term: LongTermService
    reminders: ReminderService
    rules: RuleService

    def tools(self) -> list[Tool]:
        return [
            Tool(
                self.remind,
                WRITES,
                "Remind",
                "reminder later tomorrow deadline every week 提醒",
                evaluates=True,
            ),
            Tool(
                self.add_long_term_memory,
                WRITES,
                "Add a reminder",
                "prompt with JavaScript trigger 触发",
                evaluates=True,
            ),
            Tool(self.update_long_term_memory, DESTROYS, "Change a reminder", evaluates=True),
            Tool(self.delete_long_term_memory, DESTROYS, "Delete a reminder", "remove a reminder 删除提醒"),
            Tool(self.list_long_term_memories, READS, "List reminders", "list reminders triggers 列出提醒"),
            Tool(self.search_long_term_memories, READS, "Wake reminders", evaluates=True),
            Tool(self.get_memory_context, READS, "Look at a reminder"),
            Tool(self.test_trigger, READS, "Try a trigger", "try a JavaScript trigger 测试", evaluates=True),
        ]

    def remind(
        self,
        text: ReminderText,
        when: Annotated[When, Field(description="on Friday at 9, every Monday, when we talk about X")],
        *,
        caller: Caller,
    ) -> Annotated[Reminded, REMINDED]:
        """Remind the user at a time or topic, in words."""
        reminded = self.reminders.remind(text, when, HINTS, caller)
        plain = plain_rules.of_words(text)
        return replace(reminded, rule=OFFERED.format(text=plain.reason)) if plain else reminded

    def add_long_term_memory(
        self,
        name: MemoryName,
        prompt: Prompt,
        trigger: Trigger,
        conversation_id: Annotated[Conversation | None, Field(description="'default' = all projects")] = None,
        created_context: CreatedContext = None,
        recent_messages: Recent = None,
        cooldown: CooldownMinutes | None = None,
        rule: GivenRuleField | None = None,
        *,
        caller: Caller,
    ) -> Annotated[AddedLongTerm, ADDED]:
        """A prompt returned whenever its JavaScript trigger is true (in words: remind): match_keys(messages, ['birthday']) || new Date().getMonth() === 6; similar(messages, 'I am lost')."""
        context = _context(created_context, recent_messages)
        draft = LongTermDraft(name, prompt, trigger, context, cooldown or 0, rule.draft() if rule else None)
        if rule is not None or rules.reads_act(trigger):
            stored = self.rules.add(draft, conversation_id, caller)
            words = UNCONFIRMED.format(effect=stored.rule.effect, words=stored.words, name=name)
            return AddedLongTerm(name, stored.checked.dry_run, stored.checked.warnings, words)
        checked = self.long_term.add(draft, conversation_id, caller, as_messages(recent_messages or []))
        return AddedLongTerm(name, checked.dry_run, checked.warnings)

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
    ) -> Annotated[UpdatedLongTerm, UPDATED]:
        """Replace fields of a long-term memory (prompt with trigger)."""
        if trigger is not None:
            self.rules.refuse_change(name, trigger, conversation_id, caller)
        change = LongTermChange(prompt, trigger, _context(updated_context, recent_messages), cooldown)
        checked = self.long_term.update(
            name, change, conversation_id, caller, as_messages(recent_messages or [])
        )
        if checked is None:
            return UpdatedLongTerm(name, None, ())
        return UpdatedLongTerm(name, checked.dry_run, checked.warnings)

    def delete_long_term_memory(
        self,
        name: MemoryName,
        conversation_id: Conversation | None = None,
        undo: Undo = False,
        purge: Purge = False,
        *,
        caller: Caller,
    ) -> Annotated[DeletedLongTerm, DELETED]:
        """Delete a long-term memory. It can be restored for 30 days."""
        refuse_both(undo=undo, purge=purge)
        if undo:
            return DeletedLongTerm(restored=self.long_term.restore(name, conversation_id, caller).name)
        return DeletedLongTerm(self.long_term.delete(name, conversation_id, purge, caller))

    def list_long_term_memories(
        self,
        conversation_id: Conversation | None = None,
        order: Order | None = None,
        offset: Offset | None = None,
        *,
        caller: Caller,
    ) -> Annotated[ListedLongTerms, LISTED_ALL]:
        """List long-term memories: name, prompt, trigger, state."""
        listed = self.long_term.select(conversation_id, caller, order or Order.NAME, offset or 0)
        memories = [ListedLongTerm(memory, memory.status(listed.now)) for memory in listed.memories]
        return ListedLongTerms(memories, listed.more, degraded(listed.degraded))

    def search_long_term_memories(
        self,
        messages: Messages,
        conversation_id: Conversation | None = None,
        participants: Participants | None = None,
        *,
        caller: Caller,
    ) -> Annotated[Awakening, AWAKENING]:
        """Evaluate all triggers; return the prompts whose trigger is true, plus two random others."""
        return self.long_term.search(as_messages(messages), conversation_id, participants or {}, caller)

    def get_memory_context(
        self, name: MemoryName, conversation_id: Conversation | None = None, *, caller: Caller
    ) -> Annotated[WholeLongTerm, WHOLE]:
        """Read a whole long-term memory and when it woke last."""
        return WholeLongTerm(*self.long_term.context(name, conversation_id, caller))

    def test_trigger(
        self,
        trigger: Trigger,
        messages: Messages | None = None,
        at: At | None = None,
        wakes: Examples | None = None,
        sleeps: Examples | None = None,
    ) -> Annotated[TriggerTest, TRIGGER_TEST]:
        """Try a trigger without storing it, on messages, and on texts that should wake it or not."""
        checked, outcome = self.long_term.try_out(trigger, as_messages(messages or []), at)
        examples, threshold = self.long_term.try_examples(trigger, wakes or [], sleeps or [], at)
        match outcome:
            case Value(is_true, why, milliseconds):
                value: bool | None = is_true
            case Failure(_, why, milliseconds):
                value = None
            case _:
                value, why, milliseconds = None, "no time was left", 0.0
        why = why if messages else f"{why} (no messages given)"
        return TriggerTest(value, why, milliseconds, checked.warnings, examples, threshold)


def _context(context: str | None, recent: list[GivenMessage] | None) -> str | None:
    """The context that the author gives, else the latest messages."""
    return context or snapshot(as_messages(recent or []))[-MAX_CONTEXT:] or None
