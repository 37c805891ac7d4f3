"""What reads have to write, kept until somebody writes anyway: so no read waits for a lock."""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from memory_server.domain.caller import Person
from memory_server.storage.tx import WriteTx

MOST = 10_000
"""Marks that are kept while the database cannot be written, the latest: some 10 MB."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Something to write, the moment that it is about, and for whom it is written."""

    write: Callable[[WriteTx], object]
    at: str
    person: Person | None = None


@dataclass(slots=True)
class Later:
    """The marks of this process that are in no database yet, the oldest first."""

    _marks: deque[Mark] = field(default_factory=lambda: deque(maxlen=MOST))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __bool__(self) -> bool:
        return bool(self._marks)

    def add(self, mark: Mark) -> None:
        with self._lock:
            self._marks.append(mark)

    def persons(self) -> list[Person | None]:
        """For whom there is something to write."""
        with self._lock:
            return list(dict.fromkeys(mark.person for mark in self._marks))

    def has(self, person: Person | None) -> bool:
        return person in self.persons()

    def take(self, person: Person | None = None) -> list[Mark]:
        """All that is written for a person: they are the caller's now."""
        with self._lock:
            marks = [mark for mark in self._marks if mark.person == person]
            self._marks = deque((mark for mark in self._marks if mark.person != person), MOST)
        return marks

    def put_back(self, marks: Sequence[Mark]) -> None:
        """They were not written after all. Where there is not room for all, the latest stay."""
        with self._lock:
            self._marks = deque([*marks, *self._marks], MOST)

    def clear(self) -> None:
        """What they are about has gone away."""
        with self._lock:
            self._marks.clear()
