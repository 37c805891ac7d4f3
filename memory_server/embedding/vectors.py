"""Asks an endpoint that speaks OpenAI's embeddings API for unit vectors."""

import json
from collections.abc import Sequence
from math import inf

import numpy as np

from memory_server.domain.embedding import Vector
from memory_server.embedding.endpoint import Endpoint, RefusedTexts


def vectors_of(
    endpoint: Endpoint, model: str, texts: Sequence[str], seconds: float = inf, *, ours: bool = False
) -> list[Vector]:
    """Return the vectors of texts, in order, each of length 1. `seconds` and `ours` as for `Endpoint.post`.

    Raises:
        RefusedTexts: it does not take these texts.
        Unreachable: it does not answer, or not as it should.
    """
    request = {"model": model, "input": list(texts), "encoding_format": "float"}
    rows = _rows(endpoint.post(request, seconds, ours=ours), len(texts))
    if rows is None:
        endpoint.garbage(f"no list of {len(texts)} embeddings")
    return [_unit(row, endpoint.url) for row in rows]


def _unit(row: object, url: str) -> Vector:
    """Return an embedding as a vector of length 1."""
    try:
        vector = np.asarray(row, dtype=np.float64)
        length = float(np.linalg.norm(vector))
    except (TypeError, ValueError, OverflowError):
        raise RefusedTexts(f"{url} answers a text with no list of numbers.") from None
    if vector.ndim != 1 or not 0.0 < length < inf:
        raise RefusedTexts(f"{url} answers a text with numbers that are no vector.")
    return (vector / length).astype(np.float32)


def _rows(body: bytes, count: int) -> list[object] | None:
    """The embeddings of an answer, in the order of the texts; None where it is not what was asked for."""
    try:
        data = json.loads(body)["data"]
        rows = [(entry.get("index", place), entry["embedding"]) for place, entry in enumerate(data)]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    by_index = dict(rows) if all(isinstance(index, int) for index, _ in rows) else {}
    if len(rows) != count or set(by_index) != set(range(count)):
        return None
    return [by_index[index] for index in range(count)]
