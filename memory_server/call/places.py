"""A queue of threads: they enter in the order in which they came, and wait no longer than their calls may take."""

import threading
from collections import deque

from memory_server.call import deadline
from memory_server.call.deadline import CALL


class Places:
    """So many threads may enter at the same time; the others enter in the order in which they came."""

    def __init__(self, number: int) -> None:
        self._free = number
        self._waiting: deque[threading.Event] = deque()
        self._lock = threading.Lock()

    def enter(self, seconds: float = CALL) -> bool:
        """Wait for a place so many seconds, or what the call has left; false where none was free in time."""
        with self._lock:
            if self._free and not self._waiting:
                self._free -= 1
                return True
            turn = threading.Event()
            self._waiting.append(turn)
        if turn.wait(deadline.left(seconds)):
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
