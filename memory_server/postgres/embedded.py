"""Vectors as they travel to PostgreSQL and back."""

import numpy as np
from numpy.typing import NDArray

from memory_server.domain.embedding import Vector

DAY = "CASE WHEN m.occurred_at IS NULL THEN m.created_at ELSE m.occurred_at END"
"""The moment of a memory AS m, as the index `memories_by_day` has it."""


def as_text(vector: Vector) -> str:
    """Write a vector as pgvector reads it, exact to the last bit.

    pgvector refuses NaN and infinity: a vector with one becomes zeros, which have no cosine either.
    """
    if not np.isfinite(vector).all():
        vector = np.zeros_like(vector)
    return f"[{','.join(map(repr, vector.tolist()))}]"


def from_bytes(sent: bytes, dimensions: int) -> NDArray[np.float32]:
    """Read the vectors that `vector_send` gave, one behind the other; shape (vectors, dimensions).

    A vector is two numbers of two bytes, its number of dimensions and 0, and then big-endian float32.
    """
    return np.frombuffer(sent, ">f4").reshape(-1, dimensions + 1)[:, 1:].astype(np.float32)
