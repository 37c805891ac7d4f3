"""Memories as rows of both stores: the columns that are read, and those that a write gives."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Final

from memory_server.domain.caller import Caller
from memory_server.domain.memory import Memory, MemoryChange, MemoryDraft, MemoryId, MemoryType
from memory_server.storage.json_text import as_json, from_json

_NAMES: Final = tuple(field.name for field in fields(Memory))
_DRAFTED: Final = tuple(field.name for field in fields(MemoryDraft))
_CHANGED: Final = tuple(field.name for field in fields(MemoryChange))


LASTING: Final = (
    "(metadata = '{}' OR ifnull(julianday(json_extract(metadata, '$.expires_at')) > julianday(:now), 1))"
)
"""The clause for a memory that has not ended: `expires_at` in its metadata. PostgreSQL has a function for it."""

OUTSIDE: Final = ("web%", "mcp:%")
"""The patterns of the origins of what waits until a person confirms it. Repeats `trust.waits`."""

STANDS: Final = " AND ".join(f"origin NOT LIKE '{pattern}'" for pattern in OUTSIDE)
"""The clause for a text that may be said unasked."""


def columns(moment: str) -> str:
    """Return the columns that `memory` reads. `moment` is the function by which a store orders moments.

    They are `memories.id, memories.content, …`, in the order of the fields of `Memory`.
    """
    derived = {
        "occurred_at": "coalesce(memories.occurred_at, memories.created_at)",
        "superseded_by": f"""
            (
                SELECT edges.source_id
                FROM edges
                WHERE edges.target_id = memories.id AND edges.relation = 'supersedes' AND edges.valid_to IS NULL
                ORDER BY {moment}(edges.valid_from) DESC, edges.id DESC
                LIMIT 1
            )
        """,
    }
    return ", ".join(derived.get(name, f"memories.{name}") for name in _NAMES)


def memory(row: tuple[Any, ...]) -> Memory:
    """Return a memory from the values of `columns`; tags and metadata are JSON."""
    id, content, type, project, tag_list, importance, metadata, *remaining = row
    return Memory(
        MemoryId(id),
        content,
        MemoryType(type),
        project,
        tags(tag_list),
        importance,
        from_json(metadata, {}),
        *remaining,
    )


def tags(text: str) -> tuple[str, ...]:
    """Return tags from the JSON in which they are kept."""
    return tuple(str(tag) for tag in from_json(text, []))


def new_row(draft: MemoryDraft, caller: Caller, owner: str | None, now: str) -> dict[str, Any]:
    """Return the row of a new memory by column, without its id."""
    person = draft.person or (None if draft.project else owner)
    return {
        **_row(draft, _DRAFTED),
        "origin": draft.origin or draft.stamped(caller.stamp),
        "created_at": now,
        "updated_at": now,
        "created_by": caller.author,
        "session": draft.session or caller.session,
        "person": person,
        "writer": person or caller.writer,
    }


def inserted(id: int, row: dict[str, Any]) -> Memory:
    """Return the memory that a new row is."""
    values = {"id": id, "access_count": 0, "accessed_at": None, "superseded_by": None, **row}
    values["occurred_at"] = row["occurred_at"] or row["created_at"]
    return memory(tuple(values[name] for name in _NAMES))


def changed_row(memory: Memory, now: str) -> dict[str, Any]:
    """Return the columns that a change of a memory gives, by name."""
    return {**_row(memory, _CHANGED), "access_count": memory.access_count, "updated_at": now}


def _row(memory: Memory | MemoryDraft, names: Sequence[str]) -> dict[str, Any]:
    """Return these fields as columns."""
    row = {name: getattr(memory, name) for name in names}
    return {
        **row,
        "type": memory.type.value,
        "tags": as_json(memory.tags),
        "metadata": as_json(memory.metadata or {}),
    }
