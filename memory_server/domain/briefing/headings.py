"""The headings of a briefing, and the items under them."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import Self

from memory_server.domain.fact import Fact
from memory_server.domain.memory import MemoryId
from memory_server.language.tokens import weigh_json


class Heading(IntEnum):
    """The headings in their order: blockers and current work first."""

    title: str
    urgency: float
    """How much an item under it counts beside one of the same age and importance under another heading."""

    def __new__(cls, place: int, title: str, urgency: float) -> Self:
        heading = int.__new__(cls, place)
        heading._value_ = place
        heading.title, heading.urgency = title, urgency
        return heading

    BLOCKED = 0, "Blocked", 12.0
    TASK = 1, "Current task", 12.0
    UNDER_WAY = 2, "Under way", 6.0
    OLDER = 3, "Older, perhaps done", 6.0
    DUE = 4, "Due now", 12.0
    LAST_SESSION = 5, "Last session", 4.0
    DECIDED = 6, "Decided", 6.0
    FOUND_OUT = 7, "Found out", 4.0
    SHARED = 8, "Shared", 4.0
    CONVENTIONS = 9, "Conventions", 4.0
    EVERYWHERE = 10, "In all projects", 4.0
    OTHER = 11, "Also known", 1.5
    ASKED = 12, "Open questions", 1.0


TIMELESS = frozenset([Heading.CONVENTIONS, Heading.EVERYWHERE])
"""Headings that say first what is most important, not what is newest. An age is not told there."""


@dataclass(frozen=True, slots=True)
class Item:
    """Something to say. `worth`: importance x recency; `at` is the moment of it.

    `worded` gives up to four lengths of it, the shortest first: that takes time, and not all items are looked at.
    `leads`: may be the one item that its heading must show. `first`: it is told whole before others get more words.
    `opening`: it comes before all others of its heading, `closing`: after them. `fact` and `memory`: what it says.
    `counted`: the number of facts and memories for which it stands. `behind`: the handle of what may replace it.
    `by_user`: the user has said or confirmed it.
    """

    heading: Heading
    worded: Callable[[], tuple[str, ...]]
    worth: float
    at: str
    leads: bool = True
    fact: Fact | None = None
    first: bool = False
    opening: bool = False
    closing: bool = False
    counted: int = 1
    memory: MemoryId | None = None
    behind: str | None = None
    by_user: bool = False

    @property
    def handle(self) -> str:
        """The name in answers of what it says; '' where it has none."""
        if self.memory is not None:
            return f"m{self.memory}"
        return f"f {self.fact.key}" if self.fact else ""


@dataclass(frozen=True, slots=True)
class WordedItem:
    """An item in words, which may be shown: what it counts in its place, its lengths, and the tokens of each."""

    item: Item
    value: float
    forms: tuple[str, ...]
    costs: tuple[float, ...]

    @classmethod
    def of(cls, item: Item, value: float, forms: tuple[str, ...]) -> Self:
        return cls(item, value, forms, _costs(forms))


@dataclass(frozen=True, slots=True)
class Shown:
    """An item of a briefing, its wording there with its tokens, and whether that is the longest one."""

    item: Item
    text: str
    tokens: float
    whole: bool


@lru_cache(maxsize=2048)
def _costs(forms: tuple[str, ...]) -> tuple[float, ...]:
    return tuple(weigh_json(f" {form}") for form in forms)
