"""The port through which a trigger is judged."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from memory_server.domain.situation import Situation

MOST_BYTES = 16 * 1024
"""Of a trigger, in UTF-8."""


def size(trigger: str) -> int:
    """Bytes of a trigger, which may hold half of a surrogate pair."""
    return len(trigger.encode(errors="surrogatepass"))


class FailureKind(StrEnum):
    """Why a trigger gave no value."""

    ERROR = "error"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class Value:
    """Whether the trigger holds, and what decided it: which keys were found in whose message, which date it is."""

    holds: bool
    why: str
    tier: int
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Failure:
    """It gave no value; `message` is for the author."""

    kind: FailureKind
    message: str
    tier: int
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Skipped:
    """The time for one search was over before its turn came."""


Outcome = Value | Failure | Skipped


@dataclass(frozen=True, slots=True)
class Checked:
    """A trigger that may be kept: its tier, its value on the sample conversation, what its author should know."""

    tier: int
    dry_run: bool
    warnings: tuple[str, ...]


class TriggerEngine(Protocol):
    """Judges triggers, which are hostile until proved otherwise. Safe to call from several threads."""

    def check(self, trigger: str) -> Checked:
        """Compile a trigger and run it dry.

        Raises:
            TriggerRejected: it does not compile, or gives no value.
        """
        ...

    def judge(self, triggers: Sequence[str], situation: Situation) -> list[Outcome]:
        """The outcome of each, in their order; those that need JavaScript share one budget of time."""
        ...

    def close(self) -> None:
        """End what runs."""
        ...
