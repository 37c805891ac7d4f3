"""Vectors as the file keeps them."""

import numpy as np

from memory_server.domain.embedding import Vector


def as_blob(vector: Vector) -> bytes:
    """Write a vector as the file keeps it and as the vector functions take it: float32, little-endian."""
    return np.ascontiguousarray(vector, dtype="<f4").tobytes()
