"""What a row of a memory says, whichever database it is of."""

from typing import Any

from memory_server.domain.memory import Memory, MemoryId, MemoryType
from memory_server.storage.json_text import from_json


def memory(row: tuple[Any, ...]) -> Memory:
    """A memory from its columns, in the order of the fields of `Memory`; tags and metadata are JSON."""
    return Memory(
        id=MemoryId(row[0]),
        content=row[1],
        type=MemoryType(row[2]),
        project=row[3],
        tags=tags(row[4]),
        importance=row[5],
        metadata=from_json(row[6], {}),
        access_count=row[7],
        created_at=row[8],
        updated_at=row[9],
        accessed_at=row[10],
        created_by=row[11],
        occurred_at=row[12],
        superseded_by=row[13],
        session=row[14],
        person=row[15],
    )


def tags(text: str) -> tuple[str, ...]:
    """Tags from the JSON in which they are kept."""
    return tuple(str(tag) for tag in from_json(text, []))
