"""The time limit of a call, every wait in it included. A face sets the end when the call arrives."""

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
    """Lets the block wait for so many seconds in all, or less where an earlier end is set already."""
    token = _end.set(min(_end.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _end.reset(token)


@contextmanager
def anew(seconds: float = CALL) -> Iterator[None]:
    """Lets the block wait for so many seconds, whatever was left: a person has answered meanwhile."""
    token = _end.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _end.reset(token)


def is_set() -> bool:
    """True inside a call with a deadline; false in background jobs."""
    return _end.get() < inf


def left(most: float = CALL) -> float:
    """Seconds that the call may still wait, at most `most`; 0 after its end."""
    return max(0.0, min(most, _end.get() - time.monotonic()))
