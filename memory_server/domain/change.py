"""Changes of what is stored: who wrote, changed or forgot what and when, and which of these can be undone."""

import re
from dataclasses import dataclass
from enum import StrEnum

from memory_server.domain import trust


class Kind(StrEnum):
    """Kinds of things that change. The first four lie in the trash when they are deleted.

    The last two are what was done to many things at once.
    """

    MEMORY = "memory"
    TURN = "turn"
    SHORT_TERM = "short_term"
    LONG_TERM = "long_term"
    FACT = "fact"
    IMPORT = "import"
    FORGETTING = "forgetting"


UNDONE = " (undone)"
"""The end of the text of an import, or of a forgetting, that was undone."""

LETTERS = {
    Kind.MEMORY: "m",
    Kind.TURN: "t",
    Kind.SHORT_TERM: "s",
    Kind.FACT: "f",
    Kind.LONG_TERM: "w",
    Kind.IMPORT: "i",
    Kind.FORGETTING: "g",
}
"""The letter that stands before the id or the name of a thing of each kind."""


def handle(kind: Kind, item: int, name: str | None, scope: str | None) -> str:
    """Name one thing as people type it and answers print it: `m12`, `f:global/editor`, `w:before a release`."""
    if kind not in (Kind.FACT, Kind.LONG_TERM):
        return f"{LETTERS[kind]}{item}"
    return f"{LETTERS[kind]}:{scope}/{name}" if scope else f"{LETTERS[kind]}:{name}"


class ChangeAction(StrEnum):
    STORED = "stored"
    EDITED = "edited"
    MERGED = "merged"
    DELETED = "deleted"
    EXPIRED = "expired"
    IMPORTED = "imported"
    FORGOT = "forgot"
    CONNECTED = "connected"
    DISCONNECTED = "disconnected"
    JOINED = "joined"
    RENAMED = "renamed"


class ChangeOrigin(StrEnum):
    """The table that has what undoing needs; the letter stands before the row's id in the number of a change."""

    TRASH = "d"
    CHANGES = "c"
    FACT_HISTORY = "h"
    IMPORT = "i"
    FORGETTING = "g"
    EDGE = "e"
    EDGE_END = "x"


@dataclass(frozen=True, slots=True, order=True)
class ChangeId:
    """The number of a change that can be undone, such as `d12`."""

    origin: ChangeOrigin
    row: int

    def __str__(self) -> str:
        return f"{self.origin.value}{self.row}"


_NUMBER = re.compile(r"\[?([dchigex])(\d{1,18})\]?")


def read_id(text: str) -> ChangeId | None:
    """Read the number of a change, such as `c3`; None where the text is none."""
    match = _NUMBER.fullmatch(text.strip().lower())
    return None if match is None else ChangeId(ChangeOrigin(match[1]), int(match[2]))


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that happened. `id` is None where nothing can undo it; `item` is the id of the row it happened to.

    `name` is what it is called where that is no number: the key of a fact, the name of a long-term memory. `place` is
    its project, or its conversation; None where it has none. `scope` is that of a fact. `by` None means by hand, an
    empty text that it is not known. `origin` is who said the text first. `fields` are those of a memory that an edit
    changed.
    """

    at: str
    by: str | None
    action: ChangeAction
    kind: Kind
    item: int
    text: str
    id: ChangeId | None = None
    name: str | None = None
    place: str | None = None
    scope: str | None = None
    origin: str = trust.UNKNOWN
    fields: tuple[str, ...] = ()

    @property
    def handle(self) -> str:
        """Name the thing that this happened to."""
        return handle(self.kind, self.item, self.name, self.scope)


@dataclass(frozen=True, slots=True)
class ChangeFilter:
    """Selects changes for a list; `undone`: only those that can be undone; `standing`: without what expired and what
    was undone. `since` and `until` are moments.

    `kind` and `item` name the one thing that the changes are about. `event`: what an import, or a forgetting of many
    things, did to each; else it is told as one, unless `parts`.
    """

    project: str | None = None
    by: str | None = None
    since: str | None = None
    until: str | None = None
    undone: bool = False
    standing: bool = False
    kind: Kind | None = None
    item: int | None = None
    event: int | None = None
    parts: bool = False
