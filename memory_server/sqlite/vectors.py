"""The vector functions that SQL calls: sqlite-vec's, or the same in Python where it cannot load."""

import logging
from math import sqrt
from typing import Any

import apsw
import numpy as np
import sqlite_vec
from numpy.typing import NDArray

logger = logging.getLogger(__name__)


def install(connection: apsw.Connection) -> None:
    """Give the connection `vec_quantize_binary`, `vec_bit` and the distances `vec_distance_*`."""
    try:
        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
    except (apsw.ExtensionLoadingError, apsw.SQLError) as error:
        logger.warning("sqlite-vec cannot load (%s): the same is computed in Python, slower", error)
        install_python(connection)
    finally:
        connection.enable_load_extension(False)


def install_python(connection: apsw.Connection) -> None:
    """The same functions for a platform that cannot load extensions. Slower, equal in result."""
    functions: list[tuple[str, int, Any]] = [
        ("vec_version", 0, lambda: "python"),
        ("vec_bit", 1, lambda bits: bits),
        ("vec_quantize_binary", 1, _quantize),
        ("vec_distance_hamming", 2, _hamming),
        ("vec_distance_cosine", 2, _cosine),
    ]
    for name, arguments, function in functions:
        connection.create_scalar_function(name, function, arguments, deterministic=True)


def engine(connection: apsw.Connection) -> str:
    """Which of the two is at work, for people who ask."""
    version = connection.execute("SELECT vec_version()").get
    return "Python (sqlite-vec cannot load)" if version == "python" else f"sqlite-vec {version}"


def _quantize(vector: bytes) -> bytes:
    """One bit a dimension, set where it is positive; the first dimension is the lowest bit."""
    return np.packbits(np.frombuffer(vector, dtype="<f4") > 0, bitorder="little").tobytes()


def _hamming(left: bytes, right: bytes) -> float:
    return float((int.from_bytes(left, "little") ^ int.from_bytes(right, "little")).bit_count())


def _cosine(left: bytes, right: bytes) -> float:
    """1 - cosine similarity, summed one by one in float32 as sqlite-vec does: equal to the last bit."""
    a, b = np.frombuffer(left, dtype="<f4"), np.frombuffer(right, dtype="<f4")
    return float(np.float32(1 - _dot(a, b) / (sqrt(_dot(a, a)) * sqrt(_dot(b, b)))))


def _dot(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    return float(np.cumsum(a * b, dtype=np.float32)[-1])
