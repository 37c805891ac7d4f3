"""The tables of each kind of texts, and vectors as the file keeps them."""

import numpy as np

from memory_server.domain.embedding import Embedded, Vector
from memory_server.storage.vectors import TextTables

_OCCURRED = "ifnull(occurred_at, created_at)"

TABLES = {
    Embedded.MEMORIES: TextTables(
        "memories",
        "memory_words",
        "content",
        "memory_id",
        {"content": "embeddings"},
        "embedding_queue",
        _OCCURRED,
    ),
    Embedded.TURNS: TextTables(
        "turns",
        "turn_words",
        "summary || char(10) || message",
        "turn_id",
        {"summary": "turn_embeddings", "message": "turn_message_embeddings"},
        "turn_embedding_queue",
        _OCCURRED,
    ),
    Embedded.FACTS: TextTables(
        "facts",
        "fact_words",
        "key || char(10) || value",
        "fact_id",
        {"key || char(10) || value": "fact_embeddings"},
        "fact_embedding_queue",
        "updated_at",
    ),
    Embedded.SHORT_TERM: TextTables(
        "short_term_memories",
        "short_term_words",
        "text",
        "memory_id",
        {"text": "short_term_embeddings"},
        "short_term_embedding_queue",
        "said_at",
    ),
}


def as_blob(vector: Vector) -> bytes:
    """Write a vector as the file keeps it and as the vector functions take it: float32, little-endian."""
    return np.ascontiguousarray(vector, dtype="<f4").tobytes()
