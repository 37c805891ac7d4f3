"""How threads wait for a connection, and connections for another process: in order, and until the call's end."""

import random
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from memory_server.domain import deadline


class Places:
    """So many threads may enter at the same time; the others enter in the order in which they came."""

    def __init__(self, number: int) -> None:
        self._free = number
        self._waiting: deque[threading.Event] = deque()
        self._lock = threading.Lock()

    def enter(self, seconds: float) -> bool:
        """Wait for a place; false where none was free in time."""
        with self._lock:
            if self._free and not self._waiting:
                self._free -= 1
                return True
            turn = threading.Event()
            self._waiting.append(turn)
        if turn.wait(seconds):
            return True
        with self._lock:
            if turn.is_set():  # it came at the last moment
                return True
            self._waiting.remove(turn)
            return False

    def leave(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._free += 1


_local = threading.local()


@contextmanager
def until_the_end(most: float) -> Iterator[float]:
    """Transactions inside wait for other processes so many seconds, or what the call has left: those it gives."""
    seconds = deadline.left(most)
    before = getattr(_local, "end", None)
    _local.end = time.monotonic() + seconds
    try:
        yield seconds
    finally:
        _local.end = before


def nap(_tries: int) -> bool:
    """The driver's busy handler: wait 1-10 ms at random, so that two waiting processes do not keep step."""
    end = getattr(_local, "end", None)
    if end is None or time.monotonic() > end:
        return False
    time.sleep(random.uniform(0.001, 0.010))
    return True
