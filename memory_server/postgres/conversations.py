"""The table `conversations`."""

from dataclasses import dataclass

from memory_server.postgres.tx import Tx
from memory_server.storage.short_term import Cleanups, ConversationId, Held

_TABLES = {
    Held.SHORT_TERM: ("short_term_memories", "said_at"),
    Held.LONG_TERM: ("long_term_memories", "created_at"),
}
"""Where they are, and the column that tells when one was added last."""


@dataclass(frozen=True, slots=True)
class Conversations:
    """The table `conversations`."""

    tx: Tx

    def find(self, name: str) -> ConversationId | None:
        found = self.tx.value("SELECT id FROM conversations WHERE name = %s", (self.tx.key(name),))
        return None if found is None else ConversationId(found)

    def find_or_insert(self, name: str) -> ConversationId:
        (id,) = self.tx.one(
            """
            WITH found (id) AS (SELECT id FROM conversations WHERE name = %(name)s),
            made (id) AS (
                INSERT INTO conversations (name, created_at, cleaned_at)
                SELECT %(name)s, %(now)s, %(now)s
                WHERE NOT EXISTS (SELECT 1 FROM found)
                RETURNING id
            )
            SELECT id FROM found UNION ALL SELECT id FROM made
            """,
            {"name": self.tx.key(name), "now": self.tx.now},
        )
        return ConversationId(id)

    def ids(self) -> list[ConversationId]:
        return [ConversationId(id) for (id,) in self.tx.rows("SELECT id FROM conversations ORDER BY id")]

    def names(self) -> list[str]:
        rows = self.tx.rows("SELECT name FROM conversations ORDER BY id DESC")
        return [self.tx.name(name) for (name,) in rows]

    def delete_empty(self) -> None:
        """Forget the names of conversations of which nothing is left, not even in the trash."""
        self.tx.send(
            """
            DELETE FROM conversations AS c
            WHERE NOT EXISTS (SELECT 1 FROM short_term_memories WHERE conversation_id = c.id)
                AND NOT EXISTS (SELECT 1 FROM long_term_memories WHERE conversation_id = c.id)
                AND NOT EXISTS (SELECT 1 FROM trash WHERE conversation = c.name)
            """
        )

    def due(self, before: str, limit: int) -> list[ConversationId]:
        rows = self.tx.rows(
            "SELECT id FROM conversations WHERE cleaned_at < %s OR cleaned_at > %s ORDER BY cleaned_at LIMIT %s",
            (before, self.tx.now, limit),
        )
        return [ConversationId(id) for (id,) in rows]

    def mark_cleaned(self, id: ConversationId, removed: int) -> None:
        self.tx.send(
            "UPDATE conversations SET cleaned_at = %s, removed = removed + %s WHERE id = %s",
            (self.tx.now, removed, id),
        )

    def cleanups(self, id: ConversationId | None) -> Cleanups | None:
        last, removed = self.tx.one(
            """
            SELECT max(cleaned_at), sum(removed)::bigint
            FROM conversations
            WHERE %s::bigint IS NULL OR id = %s::bigint
            """,
            (id, id),
        )
        return None if last is None else Cleanups(last, removed)

    def largest(self, held: Held, limit: int) -> list[tuple[str, int]]:
        table, moment = _TABLES[held]
        rows = self.tx.rows(
            f"""
            SELECT c.name, count(*)
            FROM {table} AS m
            JOIN conversations AS c ON c.id = m.conversation_id
            GROUP BY c.id, c.name
            ORDER BY count(*) DESC, max(m.{moment}) DESC, c.id DESC
            LIMIT %s
            """,
            (limit,),
        )
        return [(self.tx.name(name), number) for name, number in rows]
