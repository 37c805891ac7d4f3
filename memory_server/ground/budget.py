"""A budget of CPU time for one thread."""

import time


class Budget:
    """Seconds of CPU of the current thread, from now on: other threads do not use it up."""

    __slots__ = ("_end",)

    def __init__(self, seconds: float) -> None:
        self._end = time.thread_time() + seconds

    @property
    def is_spent(self) -> bool:
        return time.thread_time() >= self._end
