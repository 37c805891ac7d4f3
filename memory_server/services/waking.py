"""Judges the triggers of long-term memories, and records which memories woke."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from functools import partial
from typing import Any

from memory_server.call import tally
from memory_server.domain.caller import Caller
from memory_server.domain.long_term import LongTermId, Watch
from memory_server.domain.message import Message
from memory_server.domain.secrets import find_secret
from memory_server.domain.situation import Situation
from memory_server.errors import Problem
from memory_server.services import projects
from memory_server.storage.database import Database
from memory_server.storage.short_term import ConversationId
from memory_server.storage.tx import Tx, WriteTx
from memory_server.triggers import Failure, FailureKind, Outcome, Skipped, Value

MAX_WHY = 200
"""Characters of a reason that are kept with a wake."""

Judge = Callable[[Sequence[str], Situation, int], list[Outcome]]
"""Evaluates triggers, the last so many of them doubtful, as `TriggerEngine.judge` does."""


@dataclass(frozen=True, slots=True)
class Judged:
    """All memories that belong to a search, the outcome of each trigger that was evaluated, and the problems met.

    `cooling` were woken in this session a shorter while ago than their cooldown.
    """

    now: str
    watched: tuple[Watch, ...]
    cooling: frozenset[LongTermId]
    outcomes: tuple[tuple[Watch, Outcome], ...]
    skipped: tuple[Problem, ...]

    @property
    def awake(self) -> list[tuple[Watch, Value]]:
        """Return the memories whose trigger holds; the one that woke last comes at the end."""
        holding = [
            (watch, outcome)
            for watch, outcome in self.outcomes
            if isinstance(outcome, Value) and outcome.holds
        ]
        return sorted(holding, key=lambda pair: (pair[0].fired_at or "", pair[0].id))


@dataclass(frozen=True, slots=True)
class Woken:
    """A memory that comes back, and why: what its trigger found, or nothing when it comes by chance.

    `reason` is that without anything that was said.
    """

    id: LongTermId
    name: str
    prompt: str
    why: str | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class WakingService:
    """`chance` gives numbers of [0, 1); a trigger's local time is that of `zone`, by default this machine's."""

    database: Database
    judge: Judge
    chance: Callable[[], float]
    zone: tzinfo | None = None
    allow_secrets: bool = False

    def judged(
        self,
        messages: Sequence[Message],
        conversation: str | None,
        participants: Mapping[str, Any],
        caller: Caller,
        told_ids: frozenset[LongTermId] = frozenset(),
        *,
        only_reminders: bool = False,
    ) -> Judged:
        """Judge the triggers of a conversation, of the caller's project and of no project; not those in `told_ids`,
        those in quarantine and those that are cooling down. A reminder knows itself when it was told."""
        with self.database.read() as tx:
            where = projects.conversation(tx, conversation, caller)
            conversation_ids = places(tx, [conversation, None], caller)
            watch_lists = tx.each([partial(tx.long_term.watches, place) for place in conversation_ids])
            watched = tuple(
                watch
                for watches in watch_lists
                for watch in watches
                if watch.is_reminder or not only_reminders
            )
            now, skipped = tx.now, tuple(tx.skipped)
            cooling = _cooling(tx, watched, caller)
        asleep = cooling | told_ids.difference(watch.id for watch in watched if watch.is_reminder)
        judged = [watch for watch in watched if not rests(watch, now) and watch.id not in asleep]
        situation = self.situation(messages, where, datetime.fromisoformat(now), participants)
        doubtful = sum(watch.doubtful for watch in judged)
        outcomes = self.judge([_script(watch) for watch in judged], situation, doubtful) if judged else []
        tally.time_out(sum(map(_is_late, outcomes)))
        return Judged(now, watched, cooling, tuple(zip(judged, outcomes, strict=True)), skipped)

    def due(
        self,
        messages: Sequence[Message],
        told_ids: frozenset[LongTermId],
        caller: Caller,
        *,
        only_reminders: bool = False,
    ) -> list[Woken]:
        """Return the memories that messages of a session wake; the client's session may be a conversation of the file.

        Nothing is recorded: `mark_woken` does that for those that are said.
        """
        with self.database.read() as tx:
            session = caller.session
            conversation = session if session and tx.conversations.find(session) else None
        judged = self.judged(messages, conversation, {}, caller, told_ids, only_reminders=only_reminders)
        awake = judged.awake
        if not awake:
            return []
        with self.database.read() as tx:
            return self.woken(awake, tx.long_term.prompts([watch.id for watch, _ in awake]))

    def reminders(self, records: bool) -> "Reminders":
        """Return the reminders that a session begins with; `records`: what was told of them is recorded."""
        return Reminders(self, records)

    def situation(
        self, messages: Sequence[Message], conversation: str, now: datetime, participants: Mapping[str, Any]
    ) -> Situation:
        if now.tzinfo is None and self.zone is not None:
            now = now.replace(tzinfo=self.zone)
        seed = int(self.chance() * 2**53)
        return Situation(tuple(messages), conversation, now.astimezone(self.zone), seed, participants)

    def woken(self, awake: Sequence[tuple[Watch, Value]], prompts: Mapping[LongTermId, str]) -> list[Woken]:
        """Return those that still have a prompt. A reason may tell a participant's value, which may be a secret."""
        reasons = [value.kept for _, value in awake]
        if not self.allow_secrets and find_secret("\n".join(dict.fromkeys(reasons))) is not None:
            reasons = ["" if find_secret(reason) else reason for reason in reasons]
        return [
            Woken(watch.id, watch.name, prompts[watch.id], value.why, reason[:MAX_WHY])
            for (watch, value), reason in zip(awake, reasons, strict=True)
            if watch.id in prompts
        ]


def _script(watch: Watch) -> str:
    """Return a trigger that can be evaluated: a reminder is told in milliseconds when it was told last."""
    if not watch.is_reminder:
        return watch.trigger
    milliseconds = datetime.fromisoformat(watch.told).timestamp() * 1000 if watch.told else 0
    return f"var told={milliseconds:.0f};{watch.trigger}"


@dataclass(frozen=True, slots=True)
class Reminders:
    """The reminders that are due at the start of a session; `records`: what was told of them is recorded."""

    waking: WakingService
    records: bool

    def due(self, caller: Caller) -> list[Woken]:
        return self.waking.due([], frozenset(), caller, only_reminders=True)

    def mark(self, prompts: Sequence[Woken], caller: Caller) -> None:
        """Record that these were told."""
        if prompts and self.records:
            self.waking.database.record(
                lambda tx: mark_woken(tx, [(due.id, due.reason) for due in prompts], caller)
            )


def _is_late(outcome: Outcome) -> bool:
    match outcome:
        case Skipped() | Failure(kind=FailureKind.TIMEOUT):
            return True
    return False


def mark_woken(tx: WriteTx, woken: Sequence[tuple[LongTermId, str]], caller: Caller) -> None:
    """Record that these memories woke now, each with its reason."""
    tx.long_term.mark_fired([id for id, _ in woken])
    tx.wakes.insert(woken, caller)


def places(tx: Tx, conversations: Sequence[str | None], caller: Caller) -> list[ConversationId]:
    """Return the ids of the conversations that are meant and that exist, each once."""
    names = dict.fromkeys(
        name for meant in conversations for name in projects.conversations(tx, meant, caller)
    )
    place_ids = tx.each([partial(tx.conversations.find, name) for name in names])
    return [place for place in place_ids if place is not None]


def rests(watch: Watch, now: str) -> bool:
    """True if a trigger is in quarantine."""
    return watch.quarantined_until is not None and watch.quarantined_until > now


def _cooling(tx: Tx, watched: Sequence[Watch], caller: Caller) -> frozenset[LongTermId]:
    """Return the memories that were woken in the caller's session a while ago which is shorter than their cooldown."""
    spaced = {watch.id: watch.cooldown for watch in watched if watch.cooldown}
    if not spaced:
        return frozenset()
    now = datetime.fromisoformat(tx.now)
    woken = tx.wakes.last(list(spaced), caller.session)
    return frozenset(
        id for id, at in woken.items() if now - datetime.fromisoformat(at) < timedelta(minutes=spaced[id])
    )
