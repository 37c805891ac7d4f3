"""Takes the language out of a vector of the bundled embedder: else a text is near to others of its language.

`scripts/lab/model/languages.py` measures the two directions that tell German from the others, and Chinese from English.
"""

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from memory_server.domain.embedding import Vector


def neutral(vectors: Sequence[Vector]) -> Sequence[Vector]:
    """The vectors, each of shape (dimensions,), without the directions of languages, of length 1."""
    directions = _directions()
    if not vectors or vectors[0].shape != directions.shape[1:]:
        return vectors
    rows: NDArray[np.float32] = np.asarray(vectors, np.float32)
    remaining = rows - (rows @ directions.T) @ directions
    lengths = np.linalg.norm(remaining, axis=1, keepdims=True)
    return list(remaining / np.maximum(lengths, np.finfo(np.float32).tiny))


@cache
def _directions() -> Vector:
    """Two vectors of length 1 at a right angle, of shape (2, dimensions)."""
    text = files("memory_server.domain").joinpath("languages.json").read_text(encoding="utf-8")
    return np.array(json.loads(text), np.float32)
