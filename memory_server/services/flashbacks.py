"""Draws short-term memories that come back by chance."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from memory_server.domain.short_term import (
    FLASHBACKS,
    HEAVIEST_FLASHBACK,
    ShortTermId,
    flashback_weight,
    is_apart,
)
from memory_server.storage.short_term import ConversationId
from memory_server.storage.tx import Tx

TRIES = 32
"""Random draws of a flashback before all that may flash back are read: most are too close to one taken."""


@dataclass(frozen=True, slots=True)
class Flashbacks:
    """Draws from the memories of a conversation that were said before a moment, of which there are `number`.

    `chance` gives numbers of [0, 1).
    """

    tx: Tx
    place: ConversationId
    before: str
    number: int
    chance: Callable[[], float]

    def apart_from(self, moments: Sequence[str]) -> list[ShortTermId]:
        """Draw a few memories that were said apart from `moments`, and from each other."""
        drawn: list[ShortTermId] = []
        moments = list(moments)
        while self.number and len(drawn) < FLASHBACKS:
            flash = self._draw(moments)
            if flash is None:
                break
            drawn.append(flash[0])
            moments.append(flash[1])
        return drawn

    def _draw(self, moments: Sequence[str]) -> tuple[ShortTermId, str] | None:
        """Draw one memory by its flashback weight, said apart from `moments`; None where there is none.

        Drawn by rejection: any memory, accepted with its weight / the heaviest; so a long history is not read.
        """
        for _ in range(TRIES):
            nth = int(self.chance() * self.number)
            id, said_at, score = self.tx.short_term.nth_settled(self.place, self.before, nth)
            weight = flashback_weight(self._age(said_at), score)
            if self.chance() * HEAVIEST_FLASHBACK < weight and is_apart(said_at, moments):
                return id, said_at
        settled = self.tx.short_term.settled(self.place, self.before)
        pool = [row for row in settled if is_apart(row[1], moments)]
        weights = [flashback_weight(self._age(said_at), score) for _, said_at, score in pool]
        left = self.chance() * sum(weights)
        for (id, said_at, _), weight in zip(pool, weights, strict=True):
            left -= weight
            if left < 0:
                return id, said_at
        return (pool[-1][0], pool[-1][1]) if pool else None

    def _age(self, said_at: str) -> timedelta:
        return datetime.fromisoformat(self.tx.now) - datetime.fromisoformat(said_at)
