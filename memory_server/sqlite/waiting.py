"""Bounds the time for which connections wait for another process: until the end of the call."""

import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from memory_server.call import deadline

_local = threading.local()


@contextmanager
def until_the_end(most: float) -> Iterator[None]:
    """Let transactions in the block wait for others so many seconds in all, or as long as the call has left."""
    before = getattr(_local, "end", None)
    _local.end = time.monotonic() + deadline.left(most)
    try:
        yield
    finally:
        _local.end = before


def left() -> float:
    """Return the seconds that the transaction may still wait; 0 outside `until_the_end`."""
    return max(0.0, getattr(_local, "end", 0.0) - time.monotonic())


def nap(_tries: int) -> bool:
    """The driver's busy handler: wait 1-10 ms at random, so that two waiting processes do not keep step."""
    if not left():
        return False
    time.sleep(random.uniform(0.001, 0.010))
    return True
