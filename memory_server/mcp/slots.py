"""Limits the calls that run at the same time, and those of one person, who never gets all the places."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from memory_server.domain.caller import Person


class Slots:
    """So many places for all. A person has at most half of them; the owner of the file has all.

    Each person's calls wait for each other first, so the queue for a place is never longer than half of the places for
    each person, and whoever comes next waits for no more than that.
    """

    def __init__(self, places: int) -> None:
        self._all = anyio.Semaphore(places)
        self._most = max(1, places // 2)
        self._own: dict[str, anyio.Semaphore] = {}
        self._interested: Counter[str] = Counter()
        self.waiting = 0
        """Calls that wait for a place."""
        self.running = 0

    @asynccontextmanager
    async def place(self, person: Person | None) -> AsyncIterator[None]:
        """One place, for as long as the block runs."""
        self.waiting += 1
        entered = False
        try:
            async with self._own_place(person), self._all:
                self.waiting -= 1
                self.running += 1
                entered = True
                try:
                    yield
                finally:
                    self.running -= 1
        finally:
            if not entered:
                self.waiting -= 1

    @asynccontextmanager
    async def _own_place(self, person: Person | None) -> AsyncIterator[None]:
        if person is None:
            yield
            return
        name = person.name
        place = self._own.setdefault(name, anyio.Semaphore(self._most))
        self._interested[name] += 1
        try:
            async with place:
                yield
        finally:
            self._interested[name] -= 1
            if not self._interested[name]:
                del self._interested[name], self._own[name]
