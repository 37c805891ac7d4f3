"""Limits the requests of a token: each has a bucket that fills evenly and holds the requests of ten seconds."""

from collections.abc import Callable

BURST = 10.0
"""Seconds of requests that may come at once: a session begins with a handful."""

MOST = 10_000
"""Buckets that are kept. A full one says nothing, and goes first; then the one that was made first."""


class Rates:
    def __init__(self, a_minute: int, now: Callable[[], float], most: int = MOST) -> None:
        """`now` is a clock in seconds; `most` buckets are kept."""
        self._kept = most
        self._a_second = a_minute / 60
        self._most = max(1.0, self._a_second * BURST)
        self._now = now
        self._left: dict[str, tuple[float, float]] = {}

    def take(self, who: str) -> float:
        """Take one request of somebody: 0 where there is one, else the seconds until there is."""
        now = self._now()
        before, at = self._left.get(who, (self._most, now))
        left = min(self._most, before + (now - at) * self._a_second)
        if len(self._left) >= self._kept and who not in self._left:
            self._forget_full(now)
            if len(self._left) >= self._kept:
                del self._left[next(iter(self._left))]
        if left < 1:
            self._left[who] = left, now
            return (1 - left) / self._a_second
        self._left[who] = left - 1, now
        return 0.0

    def _forget_full(self, now: float) -> None:
        self._left = {
            who: (left, at)
            for who, (left, at) in self._left.items()
            if left + (now - at) * self._a_second < self._most
        }
