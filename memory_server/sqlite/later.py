"""What reads have to write, kept until somebody writes anyway: so no read waits for a lock."""

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from memory_server.sqlite.tx import WriteTx

MOST = 10_000
"""Marks that are kept while the file cannot be written, the latest: some 10 MB."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Mark:
    """Something to write, and the moment that it is about."""

    write: Callable[[WriteTx], object]
    at: str


@dataclass(slots=True)
class Later:
    """The marks of this process that are in no file yet, the oldest first."""

    _marks: deque[Mark] = field(default_factory=lambda: deque(maxlen=MOST))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __bool__(self) -> bool:
        return bool(self._marks)

    def add(self, mark: Mark) -> None:
        with self._lock:
            self._marks.append(mark)

    def take(self) -> list[Mark]:
        """All of them: they are the caller's now."""
        with self._lock:
            marks = list(self._marks)
            self._marks.clear()
        return marks

    def put_back(self, marks: Sequence[Mark]) -> None:
        """They were not written after all. Where there is not room for all, the latest stay."""
        with self._lock:
            self._marks = deque([*marks, *self._marks], MOST)

    def clear(self) -> None:
        """What they are about has gone away."""
        with self._lock:
            self._marks.clear()


def write(tx: WriteTx, marks: Sequence[Mark]) -> None:
    """Write marks, each as of its moment. One that fails is left out: a count must not undo what it is written with."""
    for mark in marks:
        try:
            with tx.connection:  # a savepoint
                mark.write(replace(tx, now=mark.at))
        except Exception:
            if not tx.connection.in_transaction:  # SQLite has undone the whole write, as on a full disk
                raise
            logger.exception("what a read has to write was left out")
