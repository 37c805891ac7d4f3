"""The table `conversations`."""

from dataclasses import dataclass
from typing import Any

from memory_server.storage.short_term import Cleanups, ConversationId, Held
from memory_server.storage.statements import Statements

_TABLES = {
    Held.SHORT_TERM: ("short_term_memories", "said_at"),
    Held.LONG_TERM: ("long_term_memories", "created_at"),
}
"""The table of each kind, and the column that tells when one was added last."""


@dataclass(frozen=True, slots=True)
class Conversations:
    tx: Statements

    def find(self, name: str) -> ConversationId | None:
        id = self.tx.value("SELECT id FROM conversations WHERE name = :name", {"name": self.tx.key(name)})
        return None if id is None else ConversationId(id)

    def ids(self) -> list[ConversationId]:
        return [ConversationId(id) for (id,) in self.tx.rows("SELECT id FROM conversations ORDER BY id")]

    def names(self) -> list[str]:
        """Return all names, the newest first."""
        rows = self.tx.rows("SELECT name, id FROM conversations ORDER BY id DESC")
        return [self.tx.name(name) for name, _ in rows]

    def due(self, before: str, limit: int) -> list[ConversationId]:
        """Return the conversations whose last cleanup was before that moment, the longest waiting first.

        And those with one still to come, as a clock leaves that was set back: else they would wait for it.
        """
        rows = self.tx.rows(
            """
            SELECT id, cleaned_at FROM conversations WHERE cleaned_at < :before
            UNION ALL
            SELECT id, cleaned_at FROM conversations WHERE cleaned_at > :now
            ORDER BY cleaned_at
            LIMIT :limit
            """,
            {"before": before, "now": self.tx.now, "limit": limit},
        )
        return [ConversationId(id) for id, _ in rows]

    def cleanups(self, id: ConversationId | None) -> Cleanups | None:
        """Return the cleanups of one conversation, or of all; None where there is none."""
        last, removed = self.tx.one(
            f"""
            SELECT max(cleaned_at), CAST(sum(removed) AS bigint)
            FROM conversations
            {"" if id is None else "WHERE id = :id"}
            """,
            {"id": id},
        )
        return None if last is None else Cleanups(last, removed)

    def largest(self, kind: Held, limit: int) -> list[tuple[str, int]]:
        """Return the conversations with the most memories of a kind, and how many; of equals the latest first."""
        table, moment = _TABLES[kind]
        rows = self.tx.rows(
            f"""
            SELECT c.name, count(*), c.id
            FROM {table} AS m
            JOIN conversations AS c ON c.id = m.conversation_id
            GROUP BY c.id, c.name
            ORDER BY count(*) DESC, max(m.{moment}) DESC, c.id DESC
            LIMIT :limit
            """,
            {"limit": limit},
        )
        return [(self.tx.name(name), number) for name, number, _ in rows]


@dataclass(frozen=True, slots=True)
class WritableConversations(Conversations):
    def find_or_insert(self, name: str) -> ConversationId:
        values: dict[str, Any] = {"name": self.tx.key(name), "now": self.tx.now}
        self.tx.send(
            """
            INSERT INTO main.conversations (name, created_at, cleaned_at)
            SELECT CAST(:name AS text), :now, :now
            WHERE NOT EXISTS (SELECT 1 FROM conversations WHERE name = :name)
            """,
            values,
        )
        (id,) = self.tx.one("SELECT id FROM conversations WHERE name = :name", values)
        return ConversationId(id)

    def mark_cleaned(self, id: ConversationId, removed: int) -> None:
        self.tx.send(
            "UPDATE main.conversations SET cleaned_at = :now, removed = removed + :removed WHERE id = :id",
            {"now": self.tx.now, "removed": removed, "id": id},
        )

    def delete_empty(self) -> None:
        """Forget the names of conversations of which nothing is left, not even in the trash."""
        self.tx.send(
            """
            DELETE FROM main.conversations AS c
            WHERE NOT EXISTS (SELECT 1 FROM short_term_memories WHERE conversation_id = c.id)
                AND NOT EXISTS (SELECT 1 FROM long_term_memories WHERE conversation_id = c.id)
                AND NOT EXISTS (SELECT 1 FROM trash WHERE conversation = c.name)
            """
        )
