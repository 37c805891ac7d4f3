"""Whose turn it is to use the worker. Between two triggers of one person the others get theirs."""

import threading
import time
from dataclasses import dataclass, field

QUANTUM = 0.1
"""Seconds for which a person keeps the worker while others wait: an ordinary trigger takes 0.001, and to tell the
worker another situation about as much."""


@dataclass(eq=False, slots=True)
class WorkerTurn:
    """One use of the worker."""

    who: str
    number: int
    waited: bool = False
    """True if somebody else had the worker since this was asked for."""
    holds: bool = False
    since: float = 0.0
    come: threading.Event = field(default_factory=threading.Event)


class WorkerTurns:
    """One turn has the worker, the others wait. The worker goes to the person whose last turn ended longest ago; if
    that person has several turns, to the one that came first. So a new person waits for one trigger at most."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holder: WorkerTurn | None = None
        self._waiting: list[WorkerTurn] = []
        self._number = 0
        self._served: dict[str, int] = {}
        """The number of the last turn of each person; of those who were served since somebody has waited."""

    def take(self, who: str, seconds: float | None) -> WorkerTurn | None:
        """Wait for a turn of a person, None for ever; None where it did not come in time."""
        with self._lock:
            self._number += 1
            turn = WorkerTurn(who, self._number)
            self._waiting.append(turn)
            self._next()
        return turn if self._wait(turn, seconds) else None

    def pass_on(self, turn: WorkerTurn, seconds: float, *, slow: bool) -> bool:
        """Let other people go first, if any wait, and wait for the turn to come back: false where it did not.

        Before what is not `slow`, that is only after its QUANTUM.
        """
        with self._lock:
            if not turn.holds:
                return False
            if not self._others(turn) or (not slow and time.monotonic() - turn.since < QUANTUM):
                return True
            self._release(turn)
            self._waiting.append(turn)
            self._next()
        return self._wait(turn, seconds)

    def are_awaited(self, turn: WorkerTurn) -> bool:
        """Return True if another person waits."""
        with self._lock:
            return self._others(turn)

    def give_back(self, turn: WorkerTurn) -> None:
        """Its work is done."""
        with self._lock:
            if turn.holds:
                self._release(turn)
                self._next()

    def _others(self, turn: WorkerTurn) -> bool:
        return any(waiting.who != turn.who for waiting in self._waiting)

    def _release(self, turn: WorkerTurn) -> None:
        turn.holds, self._holder = False, None
        turn.come.clear()
        self._number += 1
        self._served[turn.who] = self._number

    def _next(self) -> None:
        if self._holder is not None:
            return
        if not self._waiting:
            self._served.clear()
            return
        turn = min(self._waiting, key=lambda waiting: (self._served.get(waiting.who, 0), waiting.number))
        self._waiting.remove(turn)
        turn.holds, turn.since, self._holder = True, time.monotonic(), turn
        turn.come.set()

    def _wait(self, turn: WorkerTurn, seconds: float | None) -> bool:
        if turn.come.is_set():
            return True
        turn.waited = True
        if turn.come.wait(None if seconds is None else max(0.0, seconds)):
            return True
        with self._lock:
            if turn.holds:  # it came at the last moment
                return True
            self._waiting.remove(turn)
            return False
