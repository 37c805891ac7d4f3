"""What happened to what is stored: who wrote, changed and forgot what when, and what of that can be undone."""

import re
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What something can happen to. The first four lie in the trash when they are deleted."""

    MEMORY = "memory"
    TURN = "turn"
    SHORT_TERM = "short_term"
    LONG_TERM = "long_term"
    FACT = "fact"


class Action(StrEnum):
    STORED = "stored"
    EDITED = "edited"
    MERGED = "merged"
    DELETED = "deleted"
    EXPIRED = "expired"


UNDONE = frozenset([Action.EDITED, Action.MERGED, Action.DELETED])
"""What can be undone."""


class Origin(StrEnum):
    """Which table has what undoing needs; the letter stands before the row's id in the number of a change."""

    TRASH = "d"
    CHANGES = "c"
    FACT_HISTORY = "h"


@dataclass(frozen=True, slots=True, order=True)
class ChangeId:
    """The number of a change that can be undone, such as `d12`."""

    origin: Origin
    row: int

    def __str__(self) -> str:
        return f"{self.origin.value}{self.row}"


_NUMBER = re.compile(r"\[?([dch])(\d{1,18})\]?")


def read_id(text: str) -> ChangeId | None:
    """The number of a change that a text is, if it is one."""
    found = _NUMBER.fullmatch(text.strip().lower())
    return None if found is None else ChangeId(Origin(found[1]), int(found[2]))


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that happened. `id` is None where nothing can undo it; `item` is the id of the row it happened to.

    `name` is what it is called where that is no number: the key of a fact, the name of a long-term memory. `place` is
    its project, or its conversation; None where it has none. `scope` is that of a fact. `by` None means by hand.
    """

    at: str
    by: str | None
    action: Action
    kind: Kind
    item: int
    text: str
    id: ChangeId | None = None
    name: str | None = None
    place: str | None = None
    scope: str | None = None


@dataclass(frozen=True, slots=True)
class ChangeFilter:
    """Which changes a list wants; `undone` only what can be undone. `since` and `until` are moments.

    `kind` and `item` are of the one thing that it is about.
    """

    project: str | None = None
    by: str | None = None
    since: str | None = None
    until: str | None = None
    undone: bool = False
    kind: Kind | None = None
    item: int | None = None
