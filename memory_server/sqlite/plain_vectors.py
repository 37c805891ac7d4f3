"""The vector functions that SQL calls, in Python: for a platform that cannot load extensions."""

from math import sqrt
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray


def install(connection: apsw.Connection) -> None:
    """Give the connection the functions of sqlite-vec that are used: slower, with equal results."""
    functions: list[tuple[str, int, Any]] = [
        ("vec_version", 0, lambda: "python"),
        ("vec_bit", 1, lambda bits: bits),
        ("vec_quantize_binary", 1, _quantize),
        ("vec_distance_hamming", 2, _hamming),
        ("vec_distance_cosine", 2, _cosine),
    ]
    for name, arguments, function in functions:
        connection.create_scalar_function(name, function, arguments, deterministic=True)


def _quantize(vector: bytes) -> bytes:
    """Return a bit for each dimension, set where it is positive; the first dimension is the lowest bit."""
    return np.packbits(np.frombuffer(vector, dtype="<f4") > 0, bitorder="little").tobytes()


def _hamming(left: bytes, right: bytes) -> float:
    return float((int.from_bytes(left, "little") ^ int.from_bytes(right, "little")).bit_count())


def _cosine(left: bytes, right: bytes) -> float:
    """Compute 1 - cosine similarity, summed one by one in float32 as sqlite-vec does: equal to the last bit."""
    a, b = np.frombuffer(left, dtype="<f4"), np.frombuffer(right, dtype="<f4")
    return float(np.float32(1 - _dot(a, b) / (sqrt(_dot(a, a)) * sqrt(_dot(b, b)))))


def _dot(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    return float(np.cumsum(a * b, dtype=np.float32)[-1])
