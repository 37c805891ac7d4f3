"""The answer of a store: short, because each store of a family of alike memories names the others."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memory_server.answers.answer import Answer, field
from memory_server.domain import trust
from memory_server.domain.memory import MemoryId, Similar, Stored
from memory_server.language.tokens import beginning, weigh_json
from memory_server.mcp.tools.answers import cost, cut, unsaid

ROOM = 72.0
"""Tokens of an answer by the estimate; the real count is at most 80."""

ALONE = 20.0
"""Least tokens for the only similar memory's text: it decides whether this one supersedes it."""

LEAST = 8.0
"""Tokens of a text that still tell what it is."""

ENTRY = 6.0
"""Tokens of the names and marks around a text in an entry."""

DIFFERENCE = 60
"""Characters of a difference that are shown."""


@dataclass(frozen=True, slots=True)
class ShownSimilar:
    """A similar memory in an answer; `content` is the beginning of its text, where the answer has room for it."""

    id: MemoryId | str
    content: str | None
    differs: str
    part: str
    superseded_by: MemoryId | None
    origin: str


@dataclass(frozen=True, slots=True)
class StoredAll:
    """The first of the memories that a call stored, and the others. `more` counts similar ones that are not shown."""

    first: Stored
    similar: list[ShownSimilar]
    more: int
    further: list[Stored]


SHOWN_SIMILAR = Answer(
    ShownSimilar,
    "id content?",
    field("differs", usual=""),
    field("part", usual=""),
    "superseded_by?",
    field("origin?", trust.outside),
)
_FRAME = (
    "first.memory.id first.memory.type first.memory.importance first.memory.project",
    "first.consolidated embeddingQueued=first.embedding_queued",
)
OTHER = Answer(Stored, "memory.id consolidated")
STORED_ALL = Answer(
    StoredAll,
    *_FRAME,
    field("similar", SHOWN_SIMILAR),
    field("more", usual=0),
    "maybe_supersedes?=first.maybe_supersedes",
    field("others?=further", OTHER),
    field("origin?=first.memory.origin", trust.outside),
    field("note?=first.memory.origin", unsaid),
)


def shown(stored: Sequence[Stored]) -> StoredAll:
    """Return the answer for the memories that a call stored: what may be replaced comes first, then what says the same;
    and texts where there is room.
    """
    first, *further = stored
    order = sorted(
        first.similar,
        key=lambda similar: (similar.memory.id not in first.maybe_supersedes, bool(similar.differs)),
    )
    room = ROOM - cost(STORED_ALL.of(StoredAll(first, [], len(order), [])))
    entries: list[ShownSimilar] = []
    for similar in order:
        entry = _entry(similar)
        price = cost(SHOWN_SIMILAR.of(entry))
        if entries and similar.differs and price > room:
            break
        entries.append(entry)
        room -= price
    room = max(room, ALONE) if len(order) == 1 else room
    return StoredAll(first, _with_texts(order, entries, room), len(order) - len(entries), further)


def _entry(similar: Similar) -> ShownSimilar:
    memory = similar.memory
    differs = cut(similar.differs, DIFFERENCE)
    return ShownSimilar(memory.id, None, differs, similar.part, memory.superseded_by, memory.origin)


def _with_texts(order: Sequence[Similar], entries: list[ShownSimilar], room: float) -> list[ShownSimilar]:
    """Fill the room with the texts of the entries, the first ones first."""
    filled = []
    for similar, entry in zip(order, entries, strict=False):
        room -= ENTRY
        if room < LEAST:
            break
        text = similar.memory.content
        short = text if weigh_json(text) <= room else f"{beginning(text, room)}…"
        room -= weigh_json(short)
        filled.append(replace(entry, content=short))
    return [*filled, *entries[len(filled) :]]
