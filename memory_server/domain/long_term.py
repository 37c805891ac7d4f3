"""Long-term memories: what wakes by itself, and what happens to a trigger that keeps failing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import NewType, TypeVar

LongTermId = NewType("LongTermId", int)
Drawn = TypeVar("Drawn")

DEFAULT_CONVERSATION = "default"

RANDOM = 2
"""So many others come along with those that woke."""

TOLERATED = 3
"""So many timeouts or memory errors in a row put a trigger in quarantine."""

MOST_COUNTED = 1000
"""Failures that are counted: a person may have written more into the file than it can hold."""

SHORTEST = timedelta(hours=1)
LONGEST = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class LongTermDraft:
    """What shall be kept."""

    name: str
    prompt: str
    trigger: str
    created_context: str | None


@dataclass(frozen=True, slots=True)
class LongTermChange:
    """The fields to change; None leaves one as it is."""

    prompt: str | None = None
    trigger: str | None = None
    updated_context: str | None = None


@dataclass(frozen=True, slots=True)
class LongTermMemory:
    """`error` is why its trigger gave no value last; until `quarantined_until` it is not judged."""

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


@dataclass(frozen=True, slots=True)
class Watch:
    """What a search needs of a memory to judge its trigger."""

    id: LongTermId
    name: str
    trigger: str
    fired_at: str | None
    error: str | None
    failures: int
    quarantined_until: str | None
    slow: bool

    @property
    def doubtful(self) -> bool:
        """Whether its trigger was slow or failed when it was evaluated last: then it must not take others' time."""
        return self.slow or self.failures > 0


def quarantine(failures: int) -> timedelta | None:
    """How long a trigger rests after so many timeouts or memory errors in a row: 1 h, doubling to 24 h."""
    if failures < TOLERATED:
        return None
    return min(LONGEST, SHORTEST * float(2 ** min(failures - TOLERATED, 5)))


def draw(items: Sequence[Drawn], number: int, chance: Callable[[], float]) -> list[Drawn]:
    """So many of the items at most, each as likely as the others, none twice."""
    left = list(items)
    return [left.pop(int(chance() * len(left))) for _ in range(min(number, len(left)))]
