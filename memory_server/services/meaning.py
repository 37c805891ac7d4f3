"""What an embedder has made of texts: the vectors of questions, and of texts about to be stored."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory_server.domain.embedding import Embedded, Reading, Space, Tokens, Vector
from memory_server.embedding import Embedder
from memory_server.errors import Problem
from memory_server.storage.tx import Tx, WriteTx
from memory_server.storage.vectors import Waiting


@dataclass(frozen=True, slots=True)
class Answering:
    """The space that answers searches now and the embedder that belongs to it."""

    space_id: int
    embedder: Embedder


@dataclass(frozen=True, slots=True)
class Unanswered:
    """The reason why no embedder answers searches now."""

    problem: Problem


@dataclass(frozen=True, slots=True)
class Meaning:
    """The space that answers, and the vector of each question, of the shape (dimensions,).

    `tokens` are those of each question; there are none where the embedder has none.
    """

    space_id: int
    space: Space
    vectors: tuple[Vector, ...]
    tokens: tuple[Tokens, ...] = ()


@dataclass(frozen=True, slots=True)
class Fresh:
    """The vectors of texts that are about to be stored, float32 of the shape (dimensions,); and their tokens."""

    space_id: int
    space: Space
    texts: tuple[str, ...]
    vectors: tuple[Vector, ...]
    tokens: tuple[Tokens, ...] = ()


def usable(tx: Tx, fresh: Fresh | None) -> Fresh | None:
    """Return the vectors, or None where another process has retired their space."""
    return fresh if fresh is not None and tx.spaces.in_use(fresh.space_id) else None


def keep(tx: WriteTx, fresh: Fresh, kind: Embedded, id: int) -> None:
    """Keep the vectors and the tokens of a row that has just been stored with these texts."""
    tx.embeddings.keep(fresh.space_id, kind, id, fresh.texts, fresh.vectors)
    row = Waiting(kind, id, tuple(text.encode() for text in fresh.texts))
    tx.token_vectors.insert(fresh.space_id, row, fresh.tokens)


def name(space: Space) -> str:
    """Return a space as people read it."""
    kind = " (lexical)" if space.lexical else ""
    return f"{space.provider}:{space.model}{kind}"


def tokens_of(readings: Sequence[Reading]) -> tuple[Tokens, ...]:
    """Return the tokens of each reading; nothing where the embedder has none."""
    return tuple(reading.tokens for reading in readings if reading.tokens is not None)
