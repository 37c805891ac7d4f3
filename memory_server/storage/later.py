"""Keeps the writes of reads, such as access counts, until the next write: so no read waits for a lock."""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from memory_server.domain.caller import Person
from memory_server.storage.tx import WriteTx

MOST = 10_000
"""Marks that are kept while the database cannot be written, the latest ones: some 10 MB."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A deferred write, the moment that it concerns, and the person for whom it is written."""

    write: Callable[[WriteTx], object]
    at: str
    person: Person | None = None


@dataclass(slots=True)
class Later:
    """The marks of this process that are not in the database yet, the oldest first."""

    _marks: deque[Mark] = field(default_factory=lambda: deque(maxlen=MOST))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __bool__(self) -> bool:
        return bool(self._marks)

    def add(self, mark: Mark) -> None:
        with self._lock:
            self._marks.append(mark)

    def persons(self) -> list[Person | None]:
        """Return the persons that have marks."""
        with self._lock:
            return list(dict.fromkeys(mark.person for mark in self._marks))

    def has(self, person: Person | None) -> bool:
        return person in self.persons()

    def take(self, person: Person | None = None) -> list[Mark]:
        """Remove the marks of a person and return them: the caller must write them or put them back."""
        with self._lock:
            marks = [mark for mark in self._marks if mark.person == person]
            self._marks = deque((mark for mark in self._marks if mark.person != person), MOST)
        return marks

    def put_back(self, marks: Sequence[Mark]) -> None:
        """Put back marks that could not be written. Where there is not room for all, the latest stay."""
        with self._lock:
            self._marks = deque([*marks, *self._marks], MOST)

    def clear(self) -> None:
        """Drop all pending marks: their database is gone."""
        with self._lock:
            self._marks.clear()
