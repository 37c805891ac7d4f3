"""Counts of tool calls, their outcomes and their times. Numbers only: nothing of what is said."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

BOUNDS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000)
"""Milliseconds: calls are counted by the smallest of these that they did not exceed, or as longer than all."""


class CallOutcome(StrEnum):
    DONE = "done"
    REFUSED = "refused"
    """Answered with an error that says what mends it."""
    FAILED = "failed"
    """A bug of the server."""
    LEFT = "left"
    """Broken off: the client went away, or the server ended."""


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls of one tool. `times` has a number for each of BOUNDS and one for what took longer.

    `degraded` answers lacked something that they should have used; `timed_out` triggers exceeded their time.
    """

    calls: int = 0
    refused: int = 0
    failed: int = 0
    degraded: int = 0
    timed_out: int = 0
    milliseconds: int = 0
    times: tuple[int, ...] = (0,) * (len(BOUNDS) + 1)

    @classmethod
    def one(
        cls, outcome: CallOutcome, milliseconds: float, degraded: bool = False, timed_out: int = 0
    ) -> "Calls":
        place = next((i for i, bound in enumerate(BOUNDS) if milliseconds <= bound), len(BOUNDS))
        return cls(
            1,
            int(outcome is CallOutcome.REFUSED),
            int(outcome is CallOutcome.FAILED),
            int(degraded),
            timed_out,
            round(milliseconds),
            tuple(int(i == place) for i in range(len(BOUNDS) + 1)),
        )

    def __add__(self, other: "Calls") -> "Calls":
        return Calls(
            self.calls + other.calls,
            self.refused + other.refused,
            self.failed + other.failed,
            self.degraded + other.degraded,
            self.timed_out + other.timed_out,
            self.milliseconds + other.milliseconds,
            tuple(a + b for a, b in zip(self.times, other.times, strict=True)),
        )

    def without(self, before: "Calls") -> "Calls":
        """Return what has come to the calls and their milliseconds since they were `before`."""
        return Calls(self.calls - before.calls, milliseconds=self.milliseconds - before.milliseconds)

    def quantile(self, share: float) -> float | None:
        """Milliseconds that this share of the calls did not exceed, interpolated between bounds; None without calls."""
        rank, before = share * sum(self.times), 0.0
        for i, number in enumerate(self.times[:-1]):
            if number and before + number >= rank:
                least = BOUNDS[i - 1] if i else 0
                return least + (BOUNDS[i] - least) * (rank - before) / number
            before += number
        return float(BOUNDS[-1]) if self.times[-1] else None


def times_of(stored: object) -> tuple[int, ...]:
    """Read `times` as the file has them, also where somebody has edited them or an earlier program had other bounds."""
    numbers = (
        [number if type(number) is int and number >= 0 else 0 for number in stored]
        if isinstance(stored, Sequence)
        else []
    )
    return tuple([*numbers, *Calls().times][: len(BOUNDS) + 1])
