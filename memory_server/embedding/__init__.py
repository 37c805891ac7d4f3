"""The port that turns texts into vectors."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from memory_server.domain.embedding import Reading, Space, Vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """Turns texts into unit vectors of one space. Safe to call from several threads."""

    @property
    def space(self) -> Space: ...

    def embed_questions(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of questions, in order, each of shape (dimensions,)."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of stored texts, in order; a text's vector does not depend on the other texts of the call."""
        ...


@runtime_checkable
class TokenReader(Protocol):
    """An embedder that also gives the vectors of tokens, from the run that embeds the text."""

    @property
    def reads_tokens(self) -> bool:
        """False where they are switched off: then readings have none."""
        ...

    def read_questions(self, texts: Sequence[str]) -> list[Reading]: ...

    def read_documents(self, texts: Sequence[str]) -> list[Reading]: ...


@runtime_checkable
class StateReader(Protocol):
    """An embedder that also tells what kind of sentence a text is."""

    def read_states(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """The states of some layers for each text: (texts, numbers)."""
        ...


def read_questions(embedder: Embedder, texts: Sequence[str]) -> list[Reading]:
    """Return the vectors of questions, with those of their tokens where the embedder has them."""
    if isinstance(embedder, TokenReader):
        return embedder.read_questions(texts)
    return [Reading(vector) for vector in embedder.embed_questions(texts)]


def read_documents(embedder: Embedder, texts: Sequence[str]) -> list[Reading]:
    """Return the vectors of stored texts, with those of their tokens where the embedder has them."""
    if isinstance(embedder, TokenReader):
        return embedder.read_documents(texts)
    return [Reading(vector) for vector in embedder.embed_documents(texts)]


def reads_tokens(embedder: Embedder) -> bool:
    return isinstance(embedder, TokenReader) and embedder.reads_tokens
