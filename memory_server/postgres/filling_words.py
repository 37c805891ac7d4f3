"""Writes the words of a tenant that is being filled, on a second connection, while its rows are copied."""

import json
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from memory_server.postgres import terms, word_rows
from memory_server.postgres.connections import Connection
from memory_server.postgres.copied_rows import Sending
from memory_server.postgres.second_connection import SecondConnection
from memory_server.postgres.terms import Terms
from memory_server.storage.columns import Table
from memory_server.storage.copying import Row

_WORDS = ("words", "repeated", "tokens", "length")

_TEXTS: Final = {
    "memories": ("memory_words", "memory_id", ("id", "content", "tags")),
    "facts": ("fact_words", "id", ("id", "key", "value")),
    "turns": ("turn_words", "id", ("id", "summary", "message")),
    "short_term_memories": ("short_term_words", "id", ("id", "text")),
}
"""For each table with texts: the table of its words, the column there that holds the id of the text, and the columns to
read."""

WORDS: Final = tuple(words for words, _, _ in _TEXTS.values())

PAGE = 1000
"""Rows that `add_missing` reads at once."""


@dataclass(frozen=True, slots=True)
class FillingWords:
    """Writes the words of rows that are committed. `alone`: no other tenant has words in this database."""

    second: SecondConnection
    sending: Sending
    alone: bool

    def add(self, table: Table, rows: Sequence[Row]) -> None:
        """Let the words of these rows be written soon. Those of rows that were replaced went with the rows."""
        if table.name not in _TEXTS or not rows:
            return
        columns = _TEXTS[table.name][2]
        places = [table.columns.index(name) for name in columns]
        texts = [tuple(row[place] for place in places) for row in rows]
        self.second.give(partial(self._write, table.name, texts))

    def add_missing(self) -> None:
        """Write the words that an interrupted copy had not written yet."""
        for table in _TEXTS:
            self.second.give(partial(self._write_missing, table))

    def finish(self) -> None:
        """Wait until all words are in their indexes."""
        for words in WORDS:
            self.second.give(partial(_sort, words))
        self.second.wait()

    def _write(self, table: str, texts: Sequence[Row], connection: Connection) -> None:
        words = _TEXTS[table][0]
        with connection.transaction():
            self._keep_aside(connection, words, "on")
            match table:
                case "memories":
                    rows = self._memories(texts)
                    self.sending.send(connection, words, ("id", "memory_id", *_WORDS), rows)
                case _:
                    rows = ((id, *_sent(self._terms(table, *columns))) for id, *columns in texts)
                    self.sending.send(connection, words, ("id", *_WORDS), rows)
            self._keep_aside(connection, words, "off")

    def _write_missing(self, table: str, connection: Connection) -> None:
        words, id, columns = _TEXTS[table]
        while texts := connection.execute(
            f"""
            SELECT {", ".join(columns)}
            FROM {table} AS m
            WHERE tenant_id = tenant() AND NOT EXISTS (
                SELECT 1 FROM {words} AS w WHERE w.tenant_id = tenant() AND w.{id} = m.id
            )
            LIMIT {PAGE}
            """.encode()
        ).fetchall():
            self._write(table, texts, connection)

    def _keep_aside(self, connection: Connection, words: str, state: str) -> None:
        """Collect new words while `state` is on, and sort them into their index together, which takes half the time.

        Nobody else can use the index before the transaction ends, so this is done only if no other tenant uses it.
        """
        if self.alone:
            connection.execute(f"ALTER INDEX {words}_by_word SET (fastupdate = {state})".encode())

    def _memories(self, memories: Sequence[Row]) -> Iterator[tuple[Any, ...]]:
        for id, content, tags in memories:
            for part, _, _, index_terms in word_rows.memory(self.sending.tenant, id, content, tags):
                yield (part, id, *_sent(index_terms))

    def _terms(self, table: str, *texts: str) -> Terms:
        if table == "facts":
            return word_rows.fact(self.sending.tenant, *texts)
        return terms.terms(self.sending.tenant, *texts)


def _sort(words: str, connection: Connection) -> None:
    connection.execute("SELECT gin_clean_pending_list(%s::regclass)", (f"{words}_by_word",))
    connection.execute(f"ANALYZE {words}".encode())


def _sent(index_terms: Terms) -> tuple[bytes, bytes, str, int]:
    """Return the columns of a word index: a tsvector and JSON as PostgreSQL receives them, the tokens, their number."""
    # Three zero bytes after each lexeme: one ends its text, two say that it has no positions.
    lexemes = b"".join(lexeme.encode() + b"\0\0\0" for lexeme in index_terms.lexemes)
    return (
        struct.pack(">i", len(index_terms.lexemes)) + lexemes,
        b"\x01" + json.dumps(index_terms.repeated).encode(),
        index_terms.tokens,
        index_terms.length,
    )
