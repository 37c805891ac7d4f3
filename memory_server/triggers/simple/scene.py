"""What simple conditions are evaluated against: one situation, each message folded at most once for all of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from memory_server.domain.situation import Situation
from memory_server.language.keys import DEPTH, Key, Pattern, Said, Scope, join, recent

MOST_WORK = 100_000_000
"""Units of work for one condition; a unit is about a nanosecond, and a character looked through for a key is one."""

STEP = 200
"""Work of the least step."""

EMBEDDING = 5_000_000
"""Work of comparing with one more text."""

MOST_PICKED = 16
"""Selections of messages that are kept for the next condition."""

Nearness = Callable[[str, str], float | None]
"""How near a message is to a wanted text (cosine); None without an embedder."""


class TooLong(Exception):
    """The conversation is too long for a condition to be evaluated within bounds."""


@dataclass(frozen=True)
class Picked:
    """The messages that a depth and a scope leave."""

    said: tuple[Said, ...]

    @cached_property
    def characters(self) -> int:
        return sum(len(message.text) for message in self.said)

    @cached_property
    def joined(self) -> Said:
        return join(self.said)


class Scene:
    """A situation while the conditions of one search are evaluated, one after the other."""

    def __init__(self, situation: Situation, nearness: Nearness) -> None:
        self.now = situation.now
        self.conversation_id = situation.conversation_id
        self.participants: Mapping[str, Any] = situation.participants
        self.messages = tuple(Said(message.role, message.content) for message in situation.messages)
        self.current: Said | None = None
        """The message that `some` is at."""
        self.notes: list[str] = []
        """What the condition's author should know about its value."""
        self._nearness = nearness
        self._near: dict[str, float | None] = {}
        self._picked: dict[tuple[Scope, int | None], Picked] = {}
        self._work = 0

    def begin(self) -> None:
        """The next condition starts."""
        self.current = None
        self.notes = []
        self._work = 0

    def picked(self, scope: Scope, depth: int | None) -> Picked:
        key = (scope, depth)
        if key not in self._picked:
            if len(self._picked) >= MOST_PICKED:
                self._picked.clear()
            self.work(STEP * len(self.messages))
            self._picked[key] = Picked(tuple(recent(self.messages, scope, depth)))
        return self._picked[key]

    def work(self, units: int) -> None:
        """Raises TooLong when the condition has taken too much."""
        self._work += units
        if self._work > MOST_WORK:
            raise TooLong("the conversation is too long for this condition")

    def look(self, keys: Sequence[Key], said: Sequence[Said], characters: int) -> None:
        """Keys are looked for in these messages: work."""
        self.work(len(keys) * (characters + STEP * len(said)))
        for key in keys:
            if isinstance(key, Pattern):
                self.work(sum(key.cost(len(message.utf16)) for message in said))

    def nearness(self, wanted: str) -> float | None:
        """How near the nearest of the recent messages is to a text; None when that cannot be told."""
        if wanted not in self._near:
            self.work(EMBEDDING)
            texts = [said.text for said in self.picked(Scope.ANY, DEPTH).said if said.text]
            told = [near for near in (self._nearness(text, wanted) for text in texts) if near is not None]
            self._near[wanted] = max(told, default=None)
        return self._near[wanted]
