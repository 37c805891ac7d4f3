"""The port through which triggers are evaluated."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from memory_server.domain.situation import Situation
from memory_server.errors import Hint, Mend, Problem

MOST_BYTES = 16 * 1024
"""The longest trigger, in bytes of UTF-8; a longer one is rejected. A choice: it bounds what parsing and compiling one
trigger may cost."""

TRUE = "the condition is true"
FALSE = "the condition is false"
"""What is said of a value if there is no better reason."""

NO_ENGINE = "the package quickjs-ng is not installed"
"""Why no trigger can be evaluated where there is no wheel of the engine: macOS on Intel."""

UNLOADABLE = "the package quickjs-ng cannot be loaded"
"""Why no trigger can be evaluated where the wheel does not fit the machine."""


def size(trigger: str) -> int:
    """Bytes of a trigger in UTF-8; a lone surrogate in it is counted too, as three."""
    return len(trigger.encode(errors="surrogatepass"))


class FailureKind(StrEnum):
    """The reasons for which a trigger returned no value."""

    ERROR = "error"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class Value:
    """The value of a trigger (`holds`: it is true), and why: the keys that were found and in whose message, or a date.

    `kept` is the reason without anything that was said. `doubted`: it depends on what is known only at run time.
    """

    holds: bool
    why: str
    milliseconds: float
    kept: str = field(default="", compare=False)
    doubted: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Failure:
    """The trigger returned no value; `message` tells its author why."""

    kind: FailureKind
    message: str
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Skipped:
    """The trigger was not evaluated to its end: the time of the search was over. `late`: it needs more than a slice."""

    late: bool = False


Outcome = Value | Failure | Skipped


def unavailable(outcomes: Iterable[Outcome]) -> Problem | None:
    """Return why the engine cannot run, which is no fault of a trigger; None where each was evaluated or skipped."""
    for outcome in outcomes:
        if isinstance(outcome, Failure) and outcome.kind is FailureKind.UNAVAILABLE:
            mends = {NO_ENGINE: Mend.INSTALL_ENGINE, UNLOADABLE: Mend.REINSTALL_ENGINE}
            hints = tuple(Hint(mend) for reason, mend in mends.items() if reason in outcome.message)
            return Problem(f"No long-term memory can wake: {outcome.message}", hints)
    return None


@dataclass(frozen=True, slots=True)
class Checked:
    """A trigger that may be stored: its value on the sample conversation, and warnings for its author."""

    dry_run: bool
    warnings: tuple[str, ...]


class TriggerEngine(Protocol):
    """Evaluates triggers. Every trigger is treated as hostile code. Safe to call from several threads."""

    def check(self, trigger: str) -> Checked:
        """Compile a trigger and evaluate it on a sample conversation.

        Raises:
            TriggerRejected: it does not compile, or returns no value.
            Unavailable: the worker cannot run.
        """
        ...

    def judge(self, triggers: Sequence[str], situation: Situation, doubtful: int = 0) -> list[Outcome]:
        """Evaluate: the outcome of each, in the same order. All that need JavaScript share one time budget.

        The last `doubtful` ones were slow or failed before: they are evaluated last, and share at most half of it.
        """
        ...

    def similarity(self, trigger: str, situation: Situation) -> float | None:
        """The highest similarity of a recent message to the text of the trigger's first `similar`."""
        ...

    def parts(self, trigger: str) -> list[tuple[str, str]]:
        """The parts of a trigger between its outermost `&&` and `||`: each as written, and as a trigger of its own."""
        ...

    def close(self) -> None:
        """Stop whatever is running."""
        ...
