"""Typed memories: what one is, what a draft of one is, and how two become one."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, NewType

MemoryId = NewType("MemoryId", int)


class MemoryType(StrEnum):
    OBSERVATION = "observation"
    DECISION = "decision"
    LEARNING = "learning"
    ERROR = "error"
    PATTERN = "pattern"
    PREFERENCE = "preference"


@dataclass(frozen=True, slots=True)
class MemoryDraft:
    """A memory before it is stored. `project` None means knowledge that belongs to no project."""

    content: str
    type: MemoryType
    project: str | None = None
    tags: tuple[str, ...] = ()
    importance: int = 5
    metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """What `update` shall change; None leaves a field as it is, an empty project means none."""

    content: str | None = None
    type: MemoryType | None = None
    project: str | None = None
    tags: tuple[str, ...] | None = None
    importance: int | None = None
    metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """A stored memory. Times are ISO-8601 UTC text; `superseded_by` is what took its place last, if anything did."""

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
    superseded_by: MemoryId | None = None


@dataclass(frozen=True, slots=True)
class Stored:
    """What became of a draft: its memory, whether it was merged, and what came close but says something else."""

    memory: Memory
    consolidated: bool
    embedding_queued: bool
    similar: tuple[MemoryId, ...]


@dataclass(frozen=True, slots=True)
class Filter:
    """Which memories a search looks at; a memory passes with any one of `tags`."""

    type: MemoryType | None = None
    project: str | None = None
    tags: tuple[str, ...] = ()
    min_importance: int | None = None


def merge(twin: Memory, draft: MemoryDraft) -> Memory:
    """The one memory that a twin and a restatement of it become: the longer text, one step more important."""
    return replace(
        twin,
        content=draft.content if len(draft.content) > len(twin.content) else twin.content,
        tags=tuple(dict.fromkeys((*twin.tags, *draft.tags))),
        importance=min(10, max(twin.importance + 1, draft.importance)),
        metadata={**twin.metadata, **(draft.metadata or {})},
        access_count=twin.access_count + 1,
    )


def change(memory: Memory, wanted: MemoryChange) -> Memory:
    """The memory with the wanted fields changed."""
    return replace(
        memory,
        content=memory.content if wanted.content is None else wanted.content,
        type=memory.type if wanted.type is None else wanted.type,
        project=memory.project if wanted.project is None else wanted.project or None,
        tags=memory.tags if wanted.tags is None else wanted.tags,
        importance=memory.importance if wanted.importance is None else wanted.importance,
        metadata=memory.metadata if wanted.metadata is None else wanted.metadata,
    )
