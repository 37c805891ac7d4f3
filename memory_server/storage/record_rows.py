"""Rows as records of exports, and records as rows, for every store."""

import base64
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from memory_server.domain.embedding import Vector
from memory_server.domain.exchange.records import EdgeRecord, MemoryRecord, number_of, own_id, place
from memory_server.storage.json_text import plain

Vectors = dict[int, dict[str, tuple[str, ...]]]
"""Of each item, by the fingerprint of the model: the vectors of its parts in base64."""

LARGEST: Final = 1 << 40
"""An id that is taken over is smaller: the parts of long memories have larger ones."""

MEMORY: Final = """
    id, content, type, project, tags, importance, metadata, access_count, created_at, updated_at, accessed_at,
    created_by, session, occurred_at, person, writer
"""
"""The columns of a memory, in the order of `memory_record`."""


def memory_record(row: tuple[Any, ...]) -> MemoryRecord:
    """A row of `memories`, without an own id and without what belongs to it."""
    return MemoryRecord(
        id="",
        content=row[1],
        type=row[2],
        project=row[3],
        tags=tuple(plain(row[4], [])),
        importance=row[5],
        metadata=plain(row[6], {}),
        access_count=row[7],
        created_at=row[8],
        updated_at=row[9],
        accessed_at=row[10],
        created_by=row[11],
        session=row[12],
        occurred_at=row[13],
        person=row[14],
        writer=row[15],
    )


def edge_order(each: EdgeRecord) -> tuple[Any, ...]:
    """The place of an edge in an export."""
    return place(each.source), place(each.target), each.relation, each.valid_from, each.valid_to or "~"


def number_to_keep(id: str) -> int | None:
    """The row's id in an own id; None where no row may have it."""
    number = number_of(id)
    fits = number is not None and 0 < number < LARGEST and id == own_id(number, id.partition("@")[2])
    return number if fits else None


def vectors_of(given: Sequence[str], number: int, dimensions: int) -> list[Vector] | None:
    """So many vectors from base64; None where these are others."""
    blobs = [base64.b64decode(text) for text in given]
    if len(blobs) != number or any(len(blob) != 4 * dimensions for blob in blobs):
        return None
    return [np.frombuffer(blob, dtype="<f4") for blob in blobs]
