"""Vectors as the text of exports."""

import base64
from collections.abc import Sequence

import numpy as np

from memory_server.domain.embedding import Vector

Vectors = dict[int, dict[str, tuple[str, ...]]]
"""Of each item, by the fingerprint of the model: the vectors of its parts in base64."""


def vectors_of(given: Sequence[str], number: int, dimensions: int) -> list[Vector] | None:
    """So many vectors from base64; None where these are others."""
    blobs = [base64.b64decode(text) for text in given]
    if len(blobs) != number or any(len(blob) != 4 * dimensions for blob in blobs):
        return None
    return [np.frombuffer(blob, dtype="<f4") for blob in blobs]
