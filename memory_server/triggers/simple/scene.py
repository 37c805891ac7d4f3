"""What simple conditions are evaluated against: one situation. Each message is folded at most once for all of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from memory_server.domain.situation import Situation
from memory_server.language.keys import DEPTH, Key, RegexKey, Said, Scope, join, recent

MOST_WORK = 100_000_000
"""Units of work for one condition, about 0.1 s: a unit is about a nanosecond, the time to search one character for one
key. A condition that needs more is not evaluated in Python."""

STEP = 200
"""Units of work of the smallest step, such as looking at one message."""

EMBEDDING = 5_000_000
"""Units of work of embedding one text to compare messages with: about 5 ms."""

MOST_PICKED = 16
"""Selections of messages (scope and depth) that are kept for the next conditions; few differ in practice."""

Nearness = Callable[[str, str], float | None]
"""The similarity (cosine) of a message and a wanted text; None without an embedder."""


class TooLong(Exception):
    """The condition needs more than MOST_WORK on this conversation."""


@dataclass(frozen=True)
class Picked:
    """The messages that a scope and a depth select."""

    said: tuple[Said, ...]

    @cached_property
    def characters(self) -> int:
        return sum(len(message.text) for message in self.said)

    @cached_property
    def joined(self) -> Said:
        return join(self.said)


class Scene:
    """One situation, in which the conditions of one search are evaluated one after the other."""

    def __init__(self, situation: Situation, nearness: Nearness) -> None:
        self.now = situation.now
        self.zone = situation.zone
        self.conversation_id = situation.conversation_id
        self.participants: Mapping[str, Any] = situation.participants
        self.messages = tuple(Said(message.role, message.content) for message in situation.messages)
        self.slots: dict[int, Any] = {}
        """What callbacks and constants name: a value, a message, or messages."""
        self.notes: list[str] = []
        """Remarks on the value for the condition's author."""
        self._nearness = nearness
        self._near: dict[str, float | None] = {}
        self._picked: dict[tuple[Scope, int | None], Picked] = {}
        self._work = 0

    def begin(self) -> None:
        """Start the next condition."""
        self.slots = {}
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
        """Count work; raises TooLong when the condition has needed more than MOST_WORK."""
        self._work += units
        if self._work > MOST_WORK:
            raise TooLong("the conversation is too long for this condition")

    def look(self, keys: Sequence[Key], said: Sequence[Said], characters: int) -> None:
        """Count the work of searching these messages for these keys."""
        self.work(len(keys) * (characters + STEP * len(said)))
        for key in keys:
            if isinstance(key, RegexKey):
                self.work(sum(key.cost(len(message.utf16)) for message in said))

    def nearness(self, wanted: str) -> float | None:
        """The highest similarity of a recent message to a text; None without an embedder or without messages."""
        if wanted not in self._near:
            self.work(EMBEDDING)
            texts = [said.text for said in self.picked(Scope.ANY, DEPTH).said if said.text]
            told = [near for near in (self._nearness(text, wanted) for text in texts) if near is not None]
            self._near[wanted] = max(told, default=None)
        return self._near[wanted]
