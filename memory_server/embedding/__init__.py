"""The port that turns texts into vectors."""

from collections.abc import Sequence
from typing import Protocol

from memory_server.domain.embedding import Space, Vector


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
