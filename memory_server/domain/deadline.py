"""How long a call may take, every wait in it included. A face sets the end when the call arrives."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf

CALL = 20.0
"""Seconds that a call may wait in all: clients give up after 30 to 60, and a lock is seldom held for more than one."""

_end: ContextVar[float] = ContextVar("end", default=inf)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """What is done inside may wait for so many seconds in all, or less where an end is set already."""
    token = _end.set(min(_end.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _end.reset(token)


def is_set() -> bool:
    """Whether somebody waits for the answer: background work has no end."""
    return _end.get() < inf


def left(most: float = CALL) -> float:
    """Seconds that may still be waited, at most `most`; 0 where the end is over."""
    return max(0.0, min(most, _end.get() - time.monotonic()))
