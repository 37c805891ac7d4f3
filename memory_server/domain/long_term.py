"""Long-term memories: prompts that are returned when their trigger is true; and the quarantine of failing triggers."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import NamedTuple, NewType, TypeVar

from memory_server.domain import trust
from memory_server.domain.effect import RuleDraft

LongTermId = NewType("LongTermId", int)
Drawn = TypeVar("Drawn")

RANDOM = 2
"""Number of random memories that a search returns besides those whose trigger is true. The tool promises two."""

TOLERATED = 3
"""Number of timeouts or memory errors in a row that put a trigger in quarantine: one or two may come from a busy
machine, and each may cost a search a second."""

MOST_COUNTED = 1000
"""Largest number of failures that is counted. A person may write the largest integer into the file: it cannot grow."""

SHORTEST = timedelta(hours=1)
"""Length of the first quarantine. Each further failure doubles it."""

LONGEST = timedelta(hours=24)
"""The longest quarantine: each trigger is evaluated again after a day at most."""


_BETWEEN_SIGNS = re.compile(r"[^'\"`(){}\[\];/*\n]+")
_TOLD = re.compile(r"(?<![\w.$'\"])told\b(?!['\"])")


class Order(StrEnum):
    """Orders of a list of memories: by name, those that failed first; woken last; stored last."""

    NAME = "name"
    WOKEN = "woken"
    NEW = "new"


@dataclass(frozen=True, slots=True)
class LongTermDraft:
    """A long-term memory before it is stored. `cooldown` is in minutes; one with a `rule` looks at acts."""

    name: str
    prompt: str
    trigger: str
    created_context: str | None
    cooldown: int = 0
    rule: RuleDraft | None = None

    def stamped(self, stamp: trust.Stamp) -> str:
        """Return who said first what it shows: its prompt, its name or a text in its trigger."""
        return trust.with_names(stamp(self.prompt), (self.name, *texts_in(self.trigger)), stamp)


@dataclass(frozen=True, slots=True)
class LongTermChange:
    """The fields to change; None leaves one as it is."""

    prompt: str | None = None
    trigger: str | None = None
    updated_context: str | None = None
    cooldown: int | None = None
    origin: str | None = None

    def stamped(self, origin: str, stamp: trust.Stamp) -> str:
        """Return who said first what a memory of this origin shows after the change."""
        text = origin if self.prompt is None else stamp(self.prompt)
        return trust.with_names(text, texts_in(self.trigger or ""), stamp)


@dataclass(frozen=True, slots=True)
class LongTermMemory:
    """`error` says why the trigger gave no value last time; it is not evaluated until `quarantined_until`.

    `cooldown` is how many minutes it is not woken again in the same session.
    """

    id: LongTermId
    name: str
    prompt: str
    trigger: str
    created_context: str | None
    updated_context: str | None
    created_at: str
    updated_at: str | None
    fired_at: str | None
    fired_count: int
    error: str | None
    failures: int
    quarantined_until: str | None
    cooldown: int
    origin: str = trust.UNKNOWN

    def state(self, now: str) -> str:
        """`ready`, `failing` or `quarantined` at a moment."""
        if self.quarantined_until is not None and self.quarantined_until > now:
            return "quarantined"
        return "failing" if self.error else "ready"

    def status(self, now: str) -> str:
        """The state in words, with the reason: `failing: REASON`, `quarantined until MOMENT: REASON`."""
        state = self.state(now)
        until = f" until {self.quarantined_until}" if state == "quarantined" else ""
        return f"{state}{until}: {self.error}" if self.error else state + until


@dataclass(frozen=True, slots=True)
class Wake:
    """The moment at which a memory was woken, the client, and the reason."""

    at: str
    client: str | None
    why: str


class Watch(NamedTuple):
    """The parts of a long-term memory that a search needs to evaluate its trigger."""

    id: LongTermId
    name: str
    trigger: str
    fired_at: str | None
    error: str | None
    failures: int
    quarantined_until: str | None
    slow: bool
    cooldown: int
    changed_at: str

    @property
    def is_reminder(self) -> bool:
        """True if its trigger looks at when it was told: then it is told once for each time that it is due."""
        return _TOLD.search(self.trigger) is not None

    @property
    def told(self) -> str | None:
        """Return when it was woken last, if it has not been changed since."""
        return self.fired_at if self.fired_at and self.fired_at > self.changed_at else None

    @property
    def doubtful(self) -> bool:
        """True if its trigger was slow or failed when it was evaluated last: then it must not take others' time."""
        return self.slow or self.failures > 0


def texts_in(trigger: str) -> list[str]:
    """Return what stands between the signs of a trigger: the texts in it, its comments, and some code."""
    return _BETWEEN_SIGNS.findall(trigger)


def quarantine(failures: int) -> timedelta | None:
    """The length of the quarantine after so many timeouts or memory errors in a row: 1 h, doubled up to 24 h."""
    if failures < TOLERATED:
        return None
    return min(LONGEST, SHORTEST * float(2 ** min(failures - TOLERATED, 5)))


def draw(items: Sequence[Drawn], number: int, chance: Callable[[], float]) -> list[Drawn]:
    """At most `number` items in random order; each is equally likely, and none is drawn twice."""
    left = list(items)
    return [left.pop(int(chance() * len(left))) for _ in range(min(number, len(left)))]
