"""Writes the rows of the word indexes, together with each text; in SQLite triggers do this."""

from collections.abc import Iterator, Mapping
from typing import Any

from psycopg.types.json import Jsonb

from memory_server.domain import parts
from memory_server.postgres import terms
from memory_server.postgres.terms import Terms
from memory_server.postgres.tx import Tx


def memory(tenant: int, id: int, content: str, tags: str) -> Iterator[tuple[int, int, int, Terms]]:
    """Yield for each part of a memory its id, its first character from 1, its length in characters, and its terms.

    `tags` is JSON: its words count with the first part.
    """
    starts = parts.starts(len(content))
    for number, (start, text) in enumerate(zip(starts, parts.split(content), strict=True)):
        index_terms = terms.terms(tenant, text) if number else terms.terms(tenant, text, tags)
        yield parts.id_of(id, number), start + 1, len(text), index_terms


def fact(tenant: int, key: str, value: str) -> Terms:
    """Return the terms of a fact; `value` is JSON."""
    return terms.terms(tenant, key, terms.fact_text(value))


def write(tx: Tx, table: str, id: int, row: Mapping[str, Any], *, is_new: bool = False) -> None:
    """Index a row that has got new texts, where its table has an index."""
    match table, row:
        case "memories", {"content": content, "tags": tags}:
            _write_memory(tx, id, content, tags, is_new)
        case "facts", {"key": key, "value": value}:
            _write(tx, "fact_words", id, fact(tx.tenant, key, value), is_new)
        case "turns", {"summary": summary, "message": message}:
            _write(tx, "turn_words", id, terms.terms(tx.tenant, summary, message), is_new)
        case "short_term_memories", {"text": text}:
            _write(tx, "short_term_words", id, terms.terms(tx.tenant, text), is_new)


def _write_memory(tx: Tx, id: int, content: str, tags: str, is_new: bool) -> None:
    """Index a memory, and its parts where it is long. `tags` is JSON."""
    if not is_new:
        tx.send("DELETE FROM memory_words WHERE memory_id = %s", (id,))
        tx.send("DELETE FROM memory_parts WHERE memory_id = %s", (id,))
    for part, start, length, index_terms in memory(tx.tenant, id, content, tags):
        if part != id:
            tx.send(
                "INSERT INTO memory_parts (id, memory_id, start, length) VALUES (%s, %s, %s, %s)",
                (part, id, start, length),
            )
        _insert(tx, "memory_words", {"id": part, "memory_id": id}, index_terms)


def _write(tx: Tx, table: str, id: int, index_terms: Terms, is_new: bool) -> None:
    if not is_new:
        tx.send(f"DELETE FROM {table} WHERE id = %s", (id,))
    _insert(tx, table, {"id": id}, index_terms)


def _insert(tx: Tx, table: str, ids: Mapping[str, int], index_terms: Terms) -> None:
    tx.send(
        f"""
        INSERT INTO {table} ({", ".join(ids)}, words, repeated, tokens, length)
        VALUES ({", ".join("%s" for _ in ids)}, array_to_tsvector(%s::text[]), %s, %s, %s)
        """,
        (
            *ids.values(),
            index_terms.lexemes,
            Jsonb(index_terms.repeated),
            index_terms.tokens,
            index_terms.length,
        ),
    )
