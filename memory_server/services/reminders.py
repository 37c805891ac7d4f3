"""Sets reminders in words: a long-term memory whose trigger is tried before it is kept."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from memory_server.domain import reminders
from memory_server.domain.caller import Caller
from memory_server.domain.long_term import LongTermChange, LongTermDraft
from memory_server.domain.message import Message
from memory_server.domain.project import DEFAULT_CONVERSATION
from memory_server.errors import Conflict, Invalid
from memory_server.language import schedules, sentences, topics
from memory_server.language.schedules import Due
from memory_server.language.topics import Segment, Topic
from memory_server.services.long_term import LongTermService

NAME = 60
"""Characters of a reminder's name, which is the begin of its text."""

FORMS = (
    "on Friday at 9, tomorrow morning, in 3 weeks, every Monday, when we talk about the Okafor order, "
    "before every release"
)

BEGIN = "Reminder ("
"""How the prompt of a reminder begins, and no other."""

ANOTHER = "What is the weather like today?"
"""A message that is about no topic of a reminder."""


@dataclass(frozen=True, slots=True)
class Reminded:
    """A reminder that was set: when it is told, in words and as a trigger. `moved`: there was one of this text.

    `rule` is how a face says that it could hold acts.
    """

    name: str
    when: str
    trigger: str
    moved: bool
    rule: str | None = None


@dataclass(frozen=True, slots=True)
class Hints:
    """The words of a face: how a reminder is heard again, and how one that repeats is ended; `{name}` is its name."""

    once: str
    repeats: str


@dataclass(frozen=True, slots=True)
class ReminderService:
    """`segment` cuts Chinese topics into words."""

    long_term: LongTermService
    segment: Segment
    month_first: Callable[[], bool]

    def remind(self, text: str, when: str, hints: Hints, caller: Caller) -> Reminded:
        """Keep a reminder for all projects. One of the same text is moved: so it is told again later.

        Raises:
            Invalid: it is not understood when, or that has passed, or it looks like a credential.
        """
        name = sentences.line(text)[:NAME].strip()
        dues = schedules.read(when, self._now(), month_first=self.month_first())
        if dues:
            trigger, words = reminders.when_due(dues), reminders.due_in_words(dues)
            works = self._is_due_in_time(trigger, dues)
            repeats = dues[0].every is not None
            cooldown = 0
        else:
            topic = topics.read(when, self.segment)
            if topic is None:
                raise Invalid(f"`{when}` is no moment ahead and no topic. Write for example: {FORMS}.")
            trigger, words = reminders.when_said(topic), reminders.topic_in_words(topic)
            works = self._wakes(trigger, topic)
            repeats = topic.repeats
            cooldown = reminders.AGAIN if topic.repeats else 0
        if not works:
            raise Invalid(f"`{when}` gives no trigger that works. Write for example: {FORMS}.")
        hint = (hints.repeats if repeats else hints.once).format(name=name)
        prompt = f"{BEGIN}{when.strip()}): {text} ({hint})"
        return Reminded(
            name, words, trigger, self._keep(name, prompt, trigger, f"{when}: {words}", cooldown, caller)
        )

    def _keep(
        self, name: str, prompt: str, trigger: str, context: str, cooldown: int, caller: Caller
    ) -> bool:
        """Return True if there was a reminder of this name, which is moved."""
        draft = LongTermDraft(name, prompt, trigger, context, cooldown)
        try:
            self.long_term.add(draft, DEFAULT_CONVERSATION, caller)
        except Conflict:
            memory, _ = self.long_term.context(name, DEFAULT_CONVERSATION, caller)
            if not memory.prompt.startswith(BEGIN):
                raise
            change = LongTermChange(prompt, trigger, context, cooldown)
            self.long_term.update(name, change, DEFAULT_CONVERSATION, caller)
            return True
        return False

    def _now(self) -> datetime:
        """Return the local time now, without its zone."""
        with self.long_term.database.read() as tx:
            now = datetime.fromisoformat(tx.now)
        return now.astimezone(self.long_term.zone).replace(tzinfo=None)

    def _is_due_in_time(self, trigger: str, dues: Sequence[Due]) -> bool:
        """Try a trigger a minute before and when it is due first."""
        first = min(due.first for due in dues)
        before = self.long_term.holds(trigger, [], first - timedelta(minutes=1))
        return (before, self.long_term.holds(trigger, [], first)) in ((False, True), (None, None))

    def _wakes(self, trigger: str, topic: Topic) -> bool:
        """Try a trigger on a message of each alternative and on one about something else."""
        values = {
            self.long_term.holds(trigger, [Message("user", " ".join(words))]) for words in topic.alternatives
        }
        another = self.long_term.holds(trigger, [Message("user", ANOTHER)])
        return (values, another) in (({True}, False), ({None}, None))
