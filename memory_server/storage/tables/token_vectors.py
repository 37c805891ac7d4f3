"""The vectors of the tokens of memories, turns and facts, for the embeddings of a space: a table for each kind."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memory_server.domain import parts
from memory_server.domain.embedding import TOKEN_DIMENSIONS, Embedded, Tokens
from memory_server.language.text import fold
from memory_server.storage.statements import Statements
from memory_server.storage.vectors import TABLES, TextTables, Waiting


@dataclass(frozen=True, slots=True)
class _Kind:
    """The table of the tokens of a kind, and its column that names the text. A long memory has several texts."""

    table: str
    key: str
    texts: TextTables


_KINDS = {
    kind: _Kind(table, key, TABLES[kind])
    for kind, table, key in (
        (Embedded.MEMORIES, "token_vectors", "text_id"),
        (Embedded.TURNS, "turn_token_vectors", "turn_id"),
        (Embedded.FACTS, "fact_token_vectors", "fact_id"),
    )
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
            SELECT m.id, {", ".join(f"CAST(m.{text} AS BLOB)" for text in of.texts.columns)}
            FROM {of.texts.first} AS e
            JOIN {of.texts.source} AS m ON m.id = e.{of.texts.id}
            WHERE e.space_id = :space AND e.{of.texts.id} < :below AND NOT EXISTS (
                SELECT 1 FROM {of.table} AS t WHERE t.space_id = e.space_id AND t.{of.key} = e.{of.texts.id}
            )
            ORDER BY e.{of.texts.id} DESC
            LIMIT :limit
            """,
            {"space": space_id, "below": below, "limit": limit},
        )
        return [Waiting.of_row(kind, id, texts) for id, *texts in rows]


@dataclass(frozen=True, slots=True)
class WritableTokenVectors(TokenVectors):
    """The same in a transaction that writes."""

    def insert(self, space_id: int, read: Waiting, tokens: Sequence[Tokens]) -> None:
        """Store the tokens of a row's texts, unless these differ by now, or have no embedding any more."""
        of = _KINDS.get(read.kind)
        if of is None or not tokens:
            return
        columns, values = (
            (of.key, ":text")
            if of.key == of.texts.id
            else (f"{of.key}, {of.texts.id}", ":text, e." + of.texts.id)
        )
        contents = dict(zip(of.texts.columns, _apart(read), strict=True))
        same = " AND ".join(f"CAST(m.{text} AS BLOB) = :{text}" for text in of.texts.columns)
        self.tx.send_each(
            f"""
            INSERT INTO main.{of.table} (space_id, {columns}, vectors)
            SELECT e.space_id, {values}, :vectors
            FROM {of.texts.source} AS m
            JOIN {of.texts.first} AS e ON e.{of.texts.id} = m.id
            WHERE m.id = :id AND e.space_id = :space AND {same}
            ON CONFLICT (space_id, {of.key}) DO UPDATE SET vectors = excluded.vectors
            """,
            [
                {"space": space_id, "id": read.id, "text": text_id, "vectors": of_text.tobytes(), **contents}
                for text_id, of_text in _of_texts(read, tokens)
            ],
        )


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
