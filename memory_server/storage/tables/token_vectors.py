"""The vectors of the tokens of memories, turns and facts, for the embeddings of a space: a table for each kind."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memory_server.domain import parts
from memory_server.domain.embedding import TOKEN_DIMENSIONS, Embedded, Tokens
from memory_server.language.text import fold
from memory_server.storage.statements import Statements
from memory_server.storage.vectors import Waiting


@dataclass(frozen=True, slots=True)
class _Kind:
    """The tables of a kind: of its tokens, its embeddings and its rows; and the columns of the texts that are embedded.

    `key` names the text in the table of tokens, `item` the row in that of embeddings. A memory has several texts where
    it is long, so its tokens name it too.
    """

    table: str
    key: str
    embeddings: str
    item: str
    source: str
    texts: tuple[str, ...]


_KINDS = {
    Embedded.MEMORIES: _Kind("token_vectors", "text_id", "embeddings", "memory_id", "memories", ("content",)),
    Embedded.TURNS: _Kind(
        "turn_token_vectors", "turn_id", "turn_embeddings", "turn_id", "turns", ("summary", "message")
    ),
    Embedded.FACTS: _Kind(
        "fact_token_vectors", "fact_id", "fact_embeddings", "fact_id", "facts", ("key", "value")
    ),
}

KINDS = tuple(_KINDS)
"""The kinds whose tokens are kept."""


@dataclass(frozen=True, slots=True)
class TokenVectors:
    tx: Statements

    def select(self, space_id: int, kind: Embedded, ids: Sequence[int]) -> dict[int, Tokens]:
        """Return the tokens of each of these texts that has any, by id: also of parts of long memories."""
        of = _KINDS.get(kind)
        if of is None or not ids:
            return {}
        rows = self.tx.rows(
            f"""
            SELECT {of.key}, vectors
            FROM {of.table}
            WHERE space_id = :space AND {of.key} IN (SELECT value FROM json_each(:ids))
            """,
            {"space": space_id, "ids": self.tx.array(ids)},
        )
        return {
            id: np.frombuffer(vectors, np.int8).reshape(-1, TOKEN_DIMENSIONS)
            for id, vectors in rows
            if vectors and len(vectors) % TOKEN_DIMENSIONS == 0
        }

    def waiting(self, space_id: int, kind: Embedded, below: int, limit: int) -> list[Waiting]:
        """Return the newest rows with an id below `below` that have an embedding, but no tokens."""
        of = _KINDS[kind]
        rows = self.tx.rows(
            f"""
            SELECT m.id, {", ".join(f"CAST(m.{text} AS BLOB)" for text in of.texts)}
            FROM {of.embeddings} AS e
            JOIN {of.source} AS m ON m.id = e.{of.item}
            WHERE e.space_id = :space AND e.{of.item} < :below AND NOT EXISTS (
                SELECT 1 FROM {of.table} AS t WHERE t.space_id = e.space_id AND t.{of.key} = e.{of.item}
            )
            ORDER BY e.{of.item} DESC
            LIMIT :limit
            """,
            {"space": space_id, "below": below, "limit": limit},
        )
        return [Waiting(kind, id, _joined(kind, tuple(map(bytes, texts)))) for id, *texts in rows]


@dataclass(frozen=True, slots=True)
class WritableTokenVectors(TokenVectors):
    """The same in a transaction that writes."""

    def insert(self, space_id: int, read: Waiting, tokens: Sequence[Tokens]) -> None:
        """Store the tokens of a row's texts, unless these differ by now, or have no embedding any more."""
        of = _KINDS.get(read.kind)
        if of is None or not tokens:
            return
        columns, values = (
            (of.key, ":text") if of.key == of.item else (f"{of.key}, {of.item}", ":text, e." + of.item)
        )
        contents = dict(zip(of.texts, _apart(read), strict=True))
        same = " AND ".join(f"CAST(m.{text} AS BLOB) = :{text}" for text in of.texts)
        self.tx.send_each(
            f"""
            INSERT INTO main.{of.table} (space_id, {columns}, vectors)
            SELECT e.space_id, {values}, :vectors
            FROM {of.source} AS m
            JOIN {of.embeddings} AS e ON e.{of.item} = m.id
            WHERE m.id = :id AND e.space_id = :space AND {same}
            ON CONFLICT (space_id, {of.key}) DO UPDATE SET vectors = excluded.vectors
            """,
            [
                {"space": space_id, "id": read.id, "text": text_id, "vectors": of_text.tobytes(), **contents}
                for text_id, of_text in _of_texts(read, tokens)
            ],
        )


def _joined(kind: Embedded, texts: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """Return the texts of columns as they are embedded: the key and the value of a fact are one text."""
    return (b"\n".join(texts),) if kind is Embedded.FACTS else texts


def _apart(read: Waiting) -> Sequence[bytes]:
    return read.contents[0].split(b"\n", 1) if read.kind is Embedded.FACTS else read.contents


def _of_texts(read: Waiting, tokens: Sequence[Tokens]) -> list[tuple[int, Tokens]]:
    """Return the tokens to store, each with the id of its text: those of each part of a memory; all those of a turn.

    Where the message of a turn holds its summary, those of the message are enough.
    """
    if read.kind is not Embedded.TURNS:
        return [(parts.id_of(read.id, number), of_part) for number, of_part in enumerate(tokens, read.start)]
    summary, message = read.texts
    return [(read.id, tokens[1] if fold(summary) in fold(message) else np.concatenate(tokens))]
