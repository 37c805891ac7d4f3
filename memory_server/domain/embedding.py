"""Vectors, and the space that decides which vectors may be compared."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector: TypeAlias = NDArray[np.float32]
    Tokens: TypeAlias = NDArray[np.int8]
else:
    Vector = Tokens = object  # numpy takes 50 ms, and what only names a space needs none of it
"""One embedding: a one-dimensional float32 array of length 1 (Euclidean). `Tokens` are the vectors of a text's tokens,
of the length 127: int8 of the shape (tokens, TOKEN_DIMENSIONS)."""

TOKEN_DIMENSIONS = 32
"""Numbers in the vector of a token. Measured: 64 find no more."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What an embedder makes of a text: its vector, and the vectors of its tokens where the embedder has them."""

    vector: Vector
    tokens: Tokens | None = None


@dataclass(frozen=True, slots=True)
class Space:
    """A space of comparable vectors: one embedder with one set of settings.

    `fingerprint` is the sha256 (hex) of the model's and tokenizer's files, or of the hub commit,
    together with every other field; two spaces with one fingerprint are one space.
    `chinese` is true when the embedder understands Chinese, so that a search can rely on its
    cosines for a Chinese query. `lexical` is true when it knows spelling only, not meaning.
    """

    provider: str
    model: str
    revision: str
    dimensions: int
    query_prompt: str
    document_prompt: str
    transform: str
    chinese: bool
    lexical: bool
    fingerprint: str


class Embedded(StrEnum):
    """The kinds of rows that have embeddings."""

    MEMORIES = "memories"
    TURNS = "turns"
    FACTS = "facts"
    SHORT_TERM = "short-term memories"
