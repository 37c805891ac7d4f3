"""The table `token_vectors`: the vectors of the tokens of memories, for the embeddings of a space."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memory_server.domain import parts
from memory_server.domain.embedding import TOKEN_DIMENSIONS, Embedded, Tokens
from memory_server.storage.statements import Statements
from memory_server.storage.vectors import Waiting


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """The table `token_vectors`: the vectors of the tokens of memories, for the embeddings of a space."""

    tx: Statements

    def select(self, space_id: int, ids: Sequence[int]) -> dict[int, Tokens]:
        """Return the tokens of each of these memories and parts that has any, by id."""
        rows = self.tx.rows(
            """
            SELECT text_id, vectors
            FROM token_vectors
            WHERE space_id = :space AND text_id IN (SELECT value FROM json_each(:ids))
            """,
            {"space": space_id, "ids": self.tx.array(ids)},
        )
        return {
            id: np.frombuffer(vectors, np.int8).reshape(-1, TOKEN_DIMENSIONS)
            for id, vectors in rows
            if vectors and len(vectors) % TOKEN_DIMENSIONS == 0
        }

    def waiting(self, space_id: int, below: int, limit: int) -> list[Waiting]:
        """Return the newest memories with an id below `below` that have an embedding, but no tokens."""
        rows = self.tx.rows(
            """
            SELECT m.id, CAST(m.content AS BLOB)
            FROM embeddings AS e
            JOIN memories AS m ON m.id = e.memory_id
            WHERE e.space_id = :space AND e.memory_id < :below AND NOT EXISTS (
                SELECT 1 FROM token_vectors AS t WHERE t.space_id = e.space_id AND t.text_id = e.memory_id
            )
            ORDER BY e.memory_id DESC
            LIMIT :limit
            """,
            {"space": space_id, "below": below, "limit": limit},
        )
        return [Waiting(Embedded.MEMORIES, id, (bytes(content),)) for id, content in rows]


@dataclass(frozen=True, slots=True)
class WritableTokenVectors(TokenVectors):
    """The same in a transaction that writes."""

    def insert(self, space_id: int, read: Waiting, tokens: Sequence[Tokens]) -> None:
        """Store the tokens of a memory's parts, unless its text differs by now, or has no embedding any more."""
        self.tx.send_each(
            """
            INSERT INTO main.token_vectors (space_id, text_id, memory_id, vectors)
            SELECT e.space_id, :text, m.id, :vectors
            FROM memories AS m
            JOIN embeddings AS e ON e.memory_id = m.id
            WHERE m.id = :memory AND CAST(m.content AS BLOB) = :content AND e.space_id = :space
            ON CONFLICT (space_id, text_id) DO UPDATE SET vectors = excluded.vectors
            """,
            [
                {
                    "space": space_id,
                    "text": parts.id_of(read.id, number),
                    "memory": read.id,
                    "content": read.contents[0],
                    "vectors": of_part.tobytes(),
                }
                for number, of_part in enumerate(tokens)
            ],
        )
