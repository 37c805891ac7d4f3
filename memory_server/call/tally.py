"""Counts what happens during a call."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class Tally:
    """Counts made during a call. `timed_out`: triggers that took too long, or were left for the next search."""

    timed_out: int = 0


_tally: ContextVar[Tally | None] = ContextVar("tally", default=None)


@contextmanager
def tallied() -> Iterator[Tally]:
    """Count what happens inside the block as one call."""
    tally = Tally()
    token = _tally.set(tally)
    try:
        yield tally
    finally:
        _tally.reset(token)


def time_out(triggers: int) -> None:
    """Count so many triggers that exceeded their time, or were left for the next search."""
    tally = _tally.get()
    if tally is not None:
        tally.timed_out += triggers
