"""The table `conversations`."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NewType

from memory_server.sqlite.rows import Rows
from memory_server.sqlite.tx import Tx, WriteTx

ROWS = (Rows("conversations", ("name", "created_at", "cleaned_at"), moments=("created_at", "cleaned_at")),)

ConversationId = NewType("ConversationId", int)


class Held(StrEnum):
    """What a conversation has."""

    SHORT_TERM = "short-term memories"
    LONG_TERM = "long-term memories"


_TABLES = {
    Held.SHORT_TERM: ("short_term_memories", "said_at"),
    Held.LONG_TERM: ("long_term_memories", "created_at"),
}
"""Where they are, and the column that tells when one was added last."""


@dataclass(frozen=True, slots=True)
class Cleanups:
    """When a conversation was cleaned up last, and how many memories all its cleanups have removed."""

    last: str
    removed: int


def find(tx: Tx, name: str) -> ConversationId | None:
    found = tx.value("SELECT id FROM conversations WHERE name = ?", (tx.key(name),))
    return None if found is None else ConversationId(found)


def find_or_insert(tx: WriteTx, name: str) -> ConversationId:
    found = find(tx, name)
    if found is not None:
        return found
    row = tx.one(
        "INSERT INTO main.conversations (name, created_at, cleaned_at) VALUES (?, ?, ?) RETURNING id",
        (tx.key(name), tx.now, tx.now),
    )
    return ConversationId(row[0])


def ids(tx: Tx) -> list[ConversationId]:
    return [ConversationId(id) for (id,) in tx.rows("SELECT id FROM conversations ORDER BY id")]


def names(tx: Tx) -> list[str]:
    """All, the newest first."""
    return [tx.name(name) for name, _ in tx.rows("SELECT name, id FROM conversations ORDER BY id DESC")]


def delete_empty(tx: WriteTx) -> None:
    """Forget the names of conversations of which nothing is left, not even in the trash."""
    tx.execute(
        """
        DELETE FROM main.conversations
        WHERE id NOT IN (SELECT conversation_id FROM short_term_memories)
            AND id NOT IN (SELECT conversation_id FROM long_term_memories)
            AND name NOT IN (SELECT conversation FROM trash WHERE conversation IS NOT NULL)
        """
    )


def due(tx: Tx, before: str, limit: int) -> list[ConversationId]:
    """Conversations whose last cleanup was before that moment, the longest waiting first.

    And those with one still to come, as a clock leaves that was set back: else they would wait for it.
    """
    rows = tx.rows(
        """
        SELECT id, cleaned_at FROM conversations WHERE cleaned_at < ?
        UNION ALL
        SELECT id, cleaned_at FROM conversations WHERE cleaned_at > ?
        ORDER BY cleaned_at
        LIMIT ?
        """,
        (before, tx.now, limit),
    )
    return [ConversationId(id) for id, _ in rows]


def mark_cleaned(tx: WriteTx, id: ConversationId, removed: int) -> None:
    tx.execute(
        "UPDATE main.conversations SET cleaned_at = ?, removed = removed + ? WHERE id = ?",
        (tx.now, removed, id),
    )


def cleanups(tx: Tx, id: ConversationId | None) -> Cleanups | None:
    """Of one conversation, or of all; None where there is none."""
    where = "" if id is None else "WHERE id = ?"
    last, removed = tx.one(
        f"SELECT max(cleaned_at), sum(removed) FROM conversations {where}", () if id is None else (id,)
    )
    return None if last is None else Cleanups(last, removed)


def largest(tx: Tx, held: Held, limit: int) -> list[tuple[str, int]]:
    """The conversations with the most memories of a kind, and how many; of equals the one that went on last first."""
    table, moment = _TABLES[held]
    rows = tx.rows(
        f"""
        SELECT c.name, count(*), c.id
        FROM {table} AS m
        JOIN conversations AS c ON c.id = m.conversation_id
        GROUP BY c.id
        ORDER BY count(*) DESC, max(m.{moment}) DESC, c.id DESC
        LIMIT ?
        """,
        (limit,),
    )
    return [(tx.name(name), number) for name, number, _ in rows]
