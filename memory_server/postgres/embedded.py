"""The tables of each kind of texts, and vectors as they travel to PostgreSQL and back."""

import numpy as np
from numpy.typing import NDArray

from memory_server.domain.embedding import Embedded, Vector
from memory_server.storage.vectors import TextTables

_OCCURRED = "coalesce(m.occurred_at, m.created_at)"

DAY = "CASE WHEN m.occurred_at IS NULL THEN m.created_at ELSE m.occurred_at END"
"""The moment of a memory AS m, as the index `memories_by_day` has it."""
_FACT = "m.key || chr(10) || m.value"

TABLES = {
    Embedded.MEMORIES: TextTables(
        "memories",
        "memory_words",
        "m.content",
        "memory_id",
        {"m.content": "embeddings"},
        "embedding_queue",
        _OCCURRED,
    ),
    Embedded.TURNS: TextTables(
        "turns",
        "turn_words",
        "m.summary || chr(10) || m.message",
        "turn_id",
        {"m.summary": "turn_embeddings", "m.message": "turn_message_embeddings"},
        "turn_embedding_queue",
        _OCCURRED,
    ),
    Embedded.FACTS: TextTables(
        "facts",
        "fact_words",
        _FACT,
        "fact_id",
        {_FACT: "fact_embeddings"},
        "fact_embedding_queue",
        "m.updated_at",
    ),
    Embedded.SHORT_TERM: TextTables(
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
    """Write a vector as pgvector reads it, exact to the last bit.

    pgvector refuses NaN and infinity: a vector with one becomes zeros, which have no cosine either.
    """
    if not np.isfinite(vector).all():
        vector = np.zeros_like(vector)
    return f"[{','.join(map(repr, vector.tolist()))}]"


def from_bytes(sent: bytes, dimensions: int) -> NDArray[np.float32]:
    """Read the vectors that `vector_send` gave, one behind the other; shape (vectors, dimensions).

    A vector is two numbers of two bytes, its number of dimensions and 0, and then big-endian float32.
    """
    return np.frombuffer(sent, ">f4").reshape(-1, dimensions + 1)[:, 1:].astype(np.float32)
