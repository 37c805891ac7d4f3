"""The tables of each kind of texts, and vectors as they travel to PostgreSQL and back."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_server.domain.embedding import Embedded, Vector


@dataclass(frozen=True, slots=True)
class Tables:
    """The table of the texts, and those of their words, their vectors and of what waits.

    `text` and `moment`, when it was said, are expressions; `id` is a column. `embedded` are the expressions of what is
    embedded, each with the table of its vectors.
    """

    source: str
    words: str
    text: str
    id: str
    embedded: Mapping[str, str]
    queue: str
    moment: str = "coalesce(m.occurred_at, m.created_at)"


_FACT = "m.key || chr(10) || m.value"

TABLES = {
    Embedded.MEMORIES: Tables(
        "memories", "memory_words", "m.content", "memory_id", {"m.content": "embeddings"}, "embedding_queue"
    ),
    Embedded.TURNS: Tables(
        "turns",
        "turn_words",
        "m.summary || chr(10) || m.message",
        "turn_id",
        {"m.summary": "turn_embeddings", "m.message": "turn_message_embeddings"},
        "turn_embedding_queue",
    ),
    Embedded.FACTS: Tables(
        "facts",
        "fact_words",
        _FACT,
        "fact_id",
        {_FACT: "fact_embeddings"},
        "fact_embedding_queue",
        "m.updated_at",
    ),
    Embedded.SHORT_TERM: Tables(
        "short_term_memories",
        "short_term_words",
        "m.text",
        "memory_id",
        {"m.text": "short_term_embeddings"},
        "short_term_embedding_queue",
        "m.said_at",
    ),
}
"""The expressions are on the table of the texts AS m."""


def as_text(vector: Vector) -> str:
    """A vector as pgvector reads it, exact to the last bit.

    It takes no vector that holds no numbers: that one becomes zeros, which have no cosine either.
    """
    if not np.isfinite(vector).all():
        vector = np.zeros_like(vector)
    return f"[{','.join(map(repr, vector.tolist()))}]"


def from_bytes(sent: bytes, dimensions: int) -> NDArray[np.float32]:
    """The vectors that `vector_send` gave, one behind the other: a row each.

    Each is two numbers of two bytes, how many dimensions it has and 0, and then big-endian float32.
    """
    return np.frombuffer(sent, ">f4").reshape(-1, dimensions + 1)[:, 1:].astype(np.float32)
