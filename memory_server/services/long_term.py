"""Long-term memories: kept with a trigger, judged at each search, woken when it holds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import Any

from memory_server.domain import forgetting, trust
from memory_server.domain.caller import Caller
from memory_server.domain.forgetting import Forgotten, Kind
from memory_server.domain.long_term import (
    RANDOM,
    LongTermChange,
    LongTermDraft,
    LongTermMemory,
    Order,
    Wake,
    Watch,
    draw,
)
from memory_server.domain.message import Message
from memory_server.domain.project import conversation_in_words
from memory_server.domain.secrets import find_secret, refuse_secrets
from memory_server.domain.short_term import spoken
from memory_server.domain.threshold import proposed
from memory_server.errors import Conflict, Hint, Invalid, Mend, NotFound, Problem
from memory_server.services import deleting, projects
from memory_server.services.outcomes import record
from memory_server.services.trusting import refuse_replacing
from memory_server.services.waking import Judged, WakingService, Woken, places, rests
from memory_server.storage.database import Database
from memory_server.storage.short_term import ConversationId, Held
from memory_server.storage.trash import Trashed
from memory_server.storage.tx import Tx
from memory_server.triggers import (
    Checked,
    Failure,
    FailureKind,
    Outcome,
    Skipped,
    TriggerEngine,
    Value,
    unavailable,
)

LISTED = 50
"""Memories that a page of a list holds; the others are counted."""

NAMED = 10
"""Names that an error suggests."""

SHOWN_WAKES = 5
"""Wakes that are shown with a memory."""

NO_TIME = "no time was left for it"


@dataclass(frozen=True, slots=True)
class Awakening:
    """The result of a search: the woken memories, and the triggers that failed or were not judged, with reasons.

    Where none could be judged, because the engine cannot run, `degraded` says so once.

    `elsewhere` are the conversations that have memories, and how many, where this one has none.
    """

    activated: list[Woken]
    random: list[Woken]
    errors: list[tuple[str, str]]
    skipped: list[tuple[str, str]]
    elsewhere: list[tuple[str, int]]
    degraded: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class ListedPrompts:
    """The memories of a conversation, and how many more there are; `now` tells which are in quarantine."""

    memories: list[LongTermMemory]
    more: int
    now: str
    degraded: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Example:
    """A message on which a trigger is tried: whether it should wake, whether it does, and how similar it is."""

    text: str
    expected: bool
    value: bool | None
    score: float | None


@dataclass(frozen=True, slots=True)
class LongTermService:
    """`chance` gives numbers of [0, 1); a trigger's local time is that of `zone`, by default this machine's."""

    database: Database
    engine: TriggerEngine
    chance: Callable[[], float]
    zone: tzinfo | None = None
    allow_secrets: bool = False
    count_access: bool = True

    @property
    def _waking(self) -> WakingService:
        return WakingService(self.database, self.engine.judge, self.chance, self.zone, self.allow_secrets)

    def add(
        self,
        draft: LongTermDraft,
        conversation: str | None,
        caller: Caller,
        messages: Sequence[Message] = (),
    ) -> Checked:
        """Keep a memory whose trigger compiles and gives a value; the dry run is on the messages, if there are any.

        Without a conversation it is kept in that of the caller's project.

        Raises:
            TriggerRejected: it does not.
            Conflict: the name is taken.
            Invalid: something looks like a credential.
        """
        if not self.allow_secrets:
            context = _read(draft.created_context)
            examples = (*draft.rule.holds, *draft.rule.passes) if draft.rule is not None else ()
            refuse_secrets(conversation, draft.name, draft.prompt, draft.trigger, *context, *examples)
        with self.database.read() as tx:
            where = projects.conversation(tx, conversation, caller)
            place = tx.conversations.find(where)
            if place is not None:
                _refuse_taken(tx, place, draft.name, where)
        checked = self.engine.check(draft.trigger)
        with self.database.write() as tx:
            where = projects.settled_conversation(tx, conversation, caller)
            place = tx.conversations.find_or_insert(where)
            _refuse_taken(tx, place, draft.name, where)
            tx.long_term.insert(place, draft, caller)
            if draft.rule is not None:
                tx.rules.put(_get(tx, where, draft.name).id, draft.rule, trust.is_person(caller.stamp))
        return self._on(messages, draft.trigger, where, checked)

    def update(
        self,
        name: str,
        change: LongTermChange,
        conversation: str | None,
        caller: Caller,
        messages: Sequence[Message] = (),
    ) -> Checked | None:
        """Change a memory; what its new trigger gives, if it has one.

        Raises:
            NotFound: there is no such memory.
            TriggerRejected: the trigger does not compile or gives no value.
            Invalid: there is nothing to change, or it looks like a credential.
            Conflict: somebody outside says it, and somebody else said what the memory says.
        """
        if change == LongTermChange():
            raise Invalid("Nothing to change.", Mend.NAME_LONG_TERM_FIELDS)
        if not self.allow_secrets:
            refuse_secrets(change.prompt, change.trigger, *_read(change.updated_context))
        with self.database.read() as tx:
            _get(tx, _home(tx, conversation, name, caller), name)
        checked = None if change.trigger is None else self.engine.check(change.trigger)
        with self.database.write() as tx:
            where = _home(tx, conversation, name, caller)
            before = _get(tx, where, name)
            deleting.refuse_models(tx, [before.id], caller)
            stamp = change.stamped(before.origin, caller.stamp)
            refuse_replacing(stamp, before)
            if change.prompt is not None or stamp != before.origin:
                change = replace(change, origin=trust.joined(stamp, [before.origin]))
            tx.changes.keep_long_term(before, caller)
            tx.long_term.replace(before.id, change)
        if checked is None or change.trigger is None:
            return None
        return self._on(messages, change.trigger, where, checked)

    def delete(self, name: str, conversation: str | None, purge: bool, caller: Caller) -> Forgotten:
        """Delete a memory: it can be brought back for 30 days. Or erase it for good.

        Raises:
            NotFound: there is no such memory; to erase, also none that was deleted.
        """
        with self.database.write() as tx:
            where = _home(tx, conversation, name, caller, deleted=purge)
            deleted = _in_trash(tx, where, name)
            if not (purge and deleted) or _find(tx, where, name):
                memory = _get(tx, where, name)
                deleting.refuse_models(tx, [memory.id], caller)
                tx.trash.put(Kind.LONG_TERM, [memory.id], caller)
            if not purge:
                return forgetting.deleted(1, tx.now)
            deleted = _in_trash(tx, where, name)
            tx.trash.erase([trashed.id for trashed in deleted])
        first = min(trashed.item_id for trashed in deleted)
        return forgetting.erased(1, self.database.files.drop_copies({deleting.TABLES[Kind.LONG_TERM]: first}))

    def restore(self, name: str, conversation: str | None, caller: Caller) -> LongTermMemory:
        """Bring back what was deleted last under a name.

        Raises:
            NotFound: nothing was, in the last 30 days.
            Conflict: the name is taken again.
        """
        with self.database.write() as tx:
            conversations = projects.conversations(tx, conversation, caller)
            where = next((home for home in conversations if _in_trash(tx, home, name)), conversations[0])
            deleted = _in_trash(tx, where, name)
            if not deleted:
                raise NotFound(
                    f"No long-term memory `{name}` of the conversation `{where}` was deleted in the last 30 days. "
                    "Nothing was restored."
                )
            deleting.bring_back(tx, deleted[0])
            return _get(tx, where, name)

    def context(
        self,
        name: str,
        conversation: str | None,
        caller: Caller,
    ) -> tuple[LongTermMemory, list[Wake]]:
        """Return a memory whole, and its latest wakes, the last one first.

        Raises:
            NotFound: there is no such memory.
        """
        with self.database.read() as tx:
            memory = _get(tx, _home(tx, conversation, name, caller), name)
            return memory, tx.wakes.select(memory.id, SHOWN_WAKES)

    def select(
        self,
        conversation: str | None,
        caller: Caller,
        order: Order = Order.NAME,
        offset: int = 0,
    ) -> ListedPrompts:
        """Return a page of a conversation's memories. Without one: those of the caller's project and of no project."""
        with self.database.read() as tx:
            conversation_ids = places(tx, [conversation], caller)
            memories = tx.long_term.select(conversation_ids, order, LISTED, offset)
            more = sum(tx.long_term.count(place) for place in conversation_ids) - offset - len(memories)
            return ListedPrompts(memories, max(0, more), tx.now, tuple(tx.skipped))

    def search(
        self,
        messages: Sequence[Message],
        conversation: str | None,
        participants: Mapping[str, Any],
        caller: Caller,
        *,
        draws: int = RANDOM,
        marks: bool = True,
    ) -> Awakening:
        """Judge the triggers of a conversation, of the caller's project and of no project: the memories that wake.

        The one that woke last comes at the end. One whose last wake in this session is not as long ago as its cooldown
        rests. `draws` of the others are drawn at random. Without `marks` the caller calls `mark` for what it tells.
        """
        judged = self._waking.judged(messages, conversation, participants, caller)
        outcomes = [(watch, self._without_secrets(outcome)) for watch, outcome in judged.outcomes]
        skipped = judged.skipped
        woken = {watch.id for watch, _ in judged.awake}
        not_drawn = woken | judged.cooling
        drawn = draw([watch for watch in judged.watched if watch.id not in not_drawn], draws, self.chance)
        if not (draws or woken or outcomes):
            return Awakening([], [], [], [], [], skipped)
        with self.database.read() as tx:
            elsewhere = [] if judged.watched else tx.conversations.largest(Held.LONG_TERM, NAMED)
            prompts = tx.long_term.prompts([*woken, *(watch.id for watch in drawn)])
            skipped += tuple(tx.skipped)
        activated = self._waking.woken(judged.awake, prompts)
        if self.count_access:
            told = [(memory.id, memory.reason) for memory in activated] if marks else []
            record(self.database, outcomes, told, caller)
        return Awakening(
            activated,
            [Woken(watch.id, watch.name, prompts[watch.id]) for watch in drawn if watch.id in prompts],
            _failed(outcomes),
            _not_judged(judged, outcomes),
            elsewhere,
            tuple(filter(None, [unavailable(outcome for _, outcome in outcomes), *skipped])),
        )

    def due(self, caller: Caller) -> list[Woken]:
        """Return the memories that wake without any message, such as reminders; `mark` records those that are told."""
        return self.search([], None, {}, caller, draws=0, marks=False).activated

    def mark(self, prompts: Sequence[Woken], caller: Caller) -> None:
        """Record that these memories were told."""
        if prompts and self.count_access:
            record(self.database, [], [(woken.id, woken.reason) for woken in prompts], caller)

    def holds(self, trigger: str, messages: Sequence[Message], at: datetime | None = None) -> bool | None:
        """Return the value of a trigger that was never told; None where it has none."""
        outcome = self._judge(trigger, messages, "test", at)
        return outcome.holds if isinstance(outcome, Value) else None

    def try_out(
        self, trigger: str, messages: Sequence[Message], at: datetime | None
    ) -> tuple[Checked, Outcome]:
        """Judge a trigger without keeping it: its check and its outcome. A moment without a zone is local.

        Raises:
            TriggerRejected: it does not compile or gives no value.
        """
        return self.engine.check(trigger), self._judge(trigger, messages, "test", at)

    def try_parts(
        self, trigger: str, messages: Sequence[Message], at: datetime | None
    ) -> list[tuple[str, Outcome]]:
        """Judge each part of a trigger between its outermost `&&` and `||`; return each as written with its outcome."""
        parts = self.engine.parts(trigger)
        situation = self._waking.situation(messages, "test", self._now(at), {})
        outcomes = [self.engine.judge([script], situation)[0] for _, script in parts]
        return [(source, outcome) for (source, _), outcome in zip(parts, outcomes, strict=True)]

    def try_examples(
        self, trigger: str, waking_texts: Sequence[str], sleeping_texts: Sequence[str], at: datetime | None
    ) -> tuple[list[Example], float | None]:
        """Try a trigger on messages of a user that should wake it, and on others that should not.

        Also return the threshold of its `similar` that parts them best; None where it has none.
        """
        examples = [
            self._example(trigger, text, expected, at)
            for texts, expected in ((waking_texts, True), (sleeping_texts, False))
            for text in texts
        ]
        scores = {
            expected: [
                example.score
                for example in examples
                if example.expected is expected and example.score is not None
            ]
            for expected in (True, False)
        }
        return examples, proposed(scores[True], scores[False])

    def _example(self, trigger: str, text: str, expected: bool, at: datetime | None) -> Example:
        messages = [Message("user", text)]
        value = self.holds(trigger, messages, at)
        score = self.engine.similarity(trigger, self._waking.situation(messages, "test", self._now(at), {}))
        return Example(text, expected, value, score)

    def _now(self, at: datetime | None) -> datetime:
        if at is not None:
            return at
        with self.database.read() as tx:
            return datetime.fromisoformat(tx.now)

    def _on(self, messages: Sequence[Message], trigger: str, conversation: str, checked: Checked) -> Checked:
        """Make the dry run on what was said instead of on the sample."""
        if not messages:
            return checked
        outcome = self._judge(trigger, messages, conversation)
        return replace(checked, dry_run=isinstance(outcome, Value) and outcome.holds)

    def _judge(
        self, trigger: str, messages: Sequence[Message], conversation: str, at: datetime | None = None
    ) -> Outcome:
        """Return the outcome of one trigger, now unless a moment is given."""
        (outcome,) = self.engine.judge(
            [trigger], self._waking.situation(messages, conversation, self._now(at), {})
        )
        return outcome

    def _without_secrets(self, outcome: Outcome) -> Outcome:
        """Hide what looks like a credential in an outcome: a trigger can throw what it was shown, and that is kept."""
        if self.allow_secrets or not isinstance(outcome, Failure):
            return outcome
        kind = find_secret(outcome.message)
        return outcome if kind is None else replace(outcome, message=f"its message seems to hold {kind}")


def _failed(outcomes: Sequence[tuple[Watch, Outcome]]) -> list[tuple[str, str]]:
    """Return the triggers that failed by themselves, each with what it said."""
    return [
        (watch.name, outcome.message)
        for watch, outcome in outcomes
        if isinstance(outcome, Failure) and outcome.kind is not FailureKind.UNAVAILABLE
    ]


def _not_judged(judged: Judged, outcomes: Sequence[tuple[Watch, Outcome]]) -> list[tuple[str, str]]:
    """Return the triggers that were not judged, each with the reason."""
    late = [(watch.name, NO_TIME) for watch, outcome in outcomes if isinstance(outcome, Skipped)]
    return late + [
        (watch.name, f"in quarantine until {watch.quarantined_until}: {watch.error}")
        for watch in judged.watched
        if rests(watch, judged.now)
    ]


def _read(context: str | None) -> list[str]:
    """Return a context as it is, then what was said in it: a secret may be cut over its messages."""
    return [] if context is None else [context, *spoken(context).splitlines()]


def _home(tx: Tx, conversation: str | None, name: str, caller: Caller, deleted: bool = False) -> str:
    """Return the first of the conversations meant that has a memory of this name, or had one that was deleted."""
    conversations = projects.conversations(tx, conversation, caller)
    homes = [home for home in conversations if _find(tx, home, name)]
    homes += [home for home in conversations if deleted and _in_trash(tx, home, name)]
    return homes[0] if homes else conversations[0]


def _in_trash(tx: Tx, conversation: str, name: str) -> list[Trashed]:
    deleted = tx.trash.select(Kind.LONG_TERM, conversation=conversation)
    return [trashed for trashed in deleted if trashed.parts["long_term_memories"][0]["name"] == name]


def _find(tx: Tx, conversation: str, name: str) -> LongTermMemory | None:
    place = tx.conversations.find(conversation)
    return None if place is None else tx.long_term.find(place, name)


def _get(tx: Tx, conversation: str, name: str) -> LongTermMemory:
    place, memory = tx.conversations.find(conversation), _find(tx, conversation, name)
    if memory is None:
        names = [] if place is None else tx.long_term.names(place, NAMED)
        suggestion = f"There are: {', '.join(names)}." if names else "It has none."
        raise NotFound(
            f"No long-term memory `{name}` in {conversation_in_words(conversation)}. {suggestion}",
            Hint(Mend.LIST_LONG_TERM, {"conversation": conversation}),
        )
    return memory


def _refuse_taken(tx: Tx, place: ConversationId, name: str, conversation: str) -> None:
    namesake = tx.long_term.find(place, name)
    if namesake is not None:
        raise Conflict(
            f"The conversation `{conversation}` has a long-term memory `{name}` already. Nothing was kept.",
            Mend.UPDATE_LONG_TERM,
        )
