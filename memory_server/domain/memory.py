"""Typed memories: a memory, a draft, a change, and the merge of a draft into a memory."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, NewType

from memory_server.domain import parts, trust

MemoryId = NewType("MemoryId", int)

SERVER = "memory-server"
"""Who writes a digest."""

DIGEST = "digest"
"""The tag of a digest."""


class MemoryType(StrEnum):
    OBSERVATION = "observation"
    DECISION = "decision"
    LEARNING = "learning"
    ERROR = "error"
    PATTERN = "pattern"
    PREFERENCE = "preference"


@dataclass(frozen=True, slots=True)
class MemoryDraft:
    """A memory before it is stored. `project` None means knowledge of the user, which belongs to no project.

    `occurred_at` None means now, `session` None the caller's. `person` is whose own it is, `origin` who said it first,
    where the one who stores it does not tell that.
    """

    content: str
    type: MemoryType
    project: str | None = None
    tags: tuple[str, ...] = ()
    importance: int = 5
    metadata: Mapping[str, Any] | None = None
    occurred_at: str | None = None
    session: str | None = None
    person: str | None = None
    origin: str | None = None

    def stamped(self, stamp: trust.Stamp) -> str:
        """Return who said first what it shows: its text, a tag or its metadata."""
        return trust.with_names(stamp(self.content), (*self.tags, self.metadata or {}), stamp)


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """The fields to change. None leaves a field as it is; an empty project removes the project."""

    content: str | None = None
    type: MemoryType | None = None
    project: str | None = None
    tags: tuple[str, ...] | None = None
    importance: int | None = None
    metadata: Mapping[str, Any] | None = None
    origin: str | None = None

    def stamped(self, origin: str, stamp: trust.Stamp) -> str:
        """Return who said first what a memory of this origin shows after the change."""
        text = origin if self.content is None else stamp(self.content)
        return trust.with_names(text, (*(self.tags or ()), self.metadata or {}), stamp)


@dataclass(frozen=True, slots=True)
class Memory:
    """A stored memory. Times are ISO-8601 UTC text; `superseded_by` is the memory that superseded it last.

    `occurred_at` is when that was of which it tells: where nobody has said it, when it was stored. `person` is whose
    own it is, None that of nobody: see `rights.sees`. `origin` is who said it first: see `trust`.
    """

    id: MemoryId
    content: str
    type: MemoryType
    project: str | None
    tags: tuple[str, ...]
    importance: int
    metadata: Mapping[str, Any]
    access_count: int
    created_at: str
    updated_at: str
    accessed_at: str | None
    created_by: str | None
    occurred_at: str
    superseded_by: MemoryId | None = None
    session: str | None = None
    person: str | None = None
    origin: str = trust.UNKNOWN

    @property
    def excerpt(self) -> str:
        """The text, or the first part of a long one."""
        if len(self.content) <= parts.LONG:
            return self.content
        return f"{parts.shown(self.content, 0)} … ({len(self.content):,} characters)"

    @property
    def is_digest(self) -> bool:
        """True if the server has made it from other memories, which say the same in their own words."""
        return self.created_by == SERVER and DIGEST in self.tags

    @property
    def occurred_before(self) -> str | None:
        """`occurred_at` where that is not simply when it was stored."""
        return None if self.occurred_at == self.created_at else self.occurred_at


@dataclass(frozen=True, slots=True)
class Past:
    """A text that a memory had until `at`. `reason`: it was `rewritten`, or `merged` with another one."""

    content: str
    reason: str
    at: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A fact or a turn with which a text is compared as with a memory: `id` is its handle, `f shop.phone` or `t12`."""

    id: str
    content: str
    row: int
    type: None = None
    superseded_by: None = None
    origin: str = trust.UNKNOWN


@dataclass(frozen=True, slots=True)
class Similar:
    """A memory that is close to a text, a fact or a turn; `differs` tells in few words how, and is empty where both say
    the same. `part` is what of it the text probably replaces, where that is not all."""

    memory: Memory | Passage
    differs: str = ""
    part: str = ""


@dataclass(frozen=True, slots=True)
class Stored:
    """The result of a store: the memory, whether the draft was merged into it, and memories that are only similar.

    `maybe_supersedes` is the memory, fact or turn that this one probably replaces as a whole, if any.
    """

    memory: Memory
    consolidated: bool
    embedding_queued: bool
    similar: tuple[Similar, ...] = ()
    maybe_supersedes: tuple[MemoryId | str, ...] = ()


@dataclass(frozen=True, slots=True)
class Filter:
    """Selects the memories of a search; a memory passes if it has any of `tags`.

    `since` and `until` are moments: a memory passes that occurred at or after `since` and before `until`.
    `transcripts`: of turns only those that were read from transcripts, or only the others (None: all).
    `confirmed`: none that waits until a person confirms it.
    """

    type: MemoryType | None = None
    project: str | None = None
    tags: tuple[str, ...] = ()
    min_importance: int | None = None
    since: str | None = None
    until: str | None = None
    transcripts: bool | None = None
    confirmed: bool = False


def merge(twin: Memory, draft: MemoryDraft) -> Memory:
    """The twin with a draft merged into it: the longer text, all tags, the importance raised by one.

    What somebody outside has said changes nothing of a memory that says it already.
    """
    stamp = draft.origin or trust.UNKNOWN
    if trust.waits(stamp) and not trust.waits(twin.origin):
        return replace(twin, access_count=twin.access_count + 1)
    return replace(
        twin,
        origin=twin.origin if trust.is_of_user(twin.origin) else trust.joined(stamp, [twin.origin]),
        content=draft.content if len(draft.content) > len(twin.content) else twin.content,
        tags=tuple(dict.fromkeys((*twin.tags, *draft.tags))),
        importance=min(10, max(twin.importance + 1, draft.importance)),
        metadata={**twin.metadata, **(draft.metadata or {})},
        access_count=twin.access_count + 1,
    )


def moves(before: Memory, after: Memory) -> bool:
    """True if a change may bring a memory close to another one."""
    return (before.content, before.type, before.project) != (after.content, after.type, after.project)


def change(memory: Memory, fields: MemoryChange) -> Memory:
    """The memory with `fields` changed."""
    return replace(
        memory,
        content=memory.content if fields.content is None else fields.content,
        type=memory.type if fields.type is None else fields.type,
        project=memory.project if fields.project is None else fields.project or None,
        tags=memory.tags if fields.tags is None else fields.tags,
        importance=memory.importance if fields.importance is None else fields.importance,
        metadata=memory.metadata if fields.metadata is None else fields.metadata,
        origin=memory.origin if fields.origin is None else fields.origin,
    )
