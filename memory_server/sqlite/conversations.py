"""The table `conversations`."""

from dataclasses import dataclass

from memory_server.sqlite.tx import Tx
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
        found = self.tx.value("SELECT id FROM conversations WHERE name = ?", (self.tx.key(name),))
        return None if found is None else ConversationId(found)

    def find_or_insert(self, name: str) -> ConversationId:
        found = self.find(name)
        if found is not None:
            return found
        row = self.tx.one(
            "INSERT INTO main.conversations (name, created_at, cleaned_at) VALUES (?, ?, ?) RETURNING id",
            (self.tx.key(name), self.tx.now, self.tx.now),
        )
        return ConversationId(row[0])

    def ids(self) -> list[ConversationId]:
        return [ConversationId(id) for (id,) in self.tx.rows("SELECT id FROM conversations ORDER BY id")]

    def names(self) -> list[str]:
        return [
            self.tx.name(name)
            for name, _ in self.tx.rows("SELECT name, id FROM conversations ORDER BY id DESC")
        ]

    def delete_empty(self) -> None:
        """Forget the names of conversations of which nothing is left, not even in the trash."""
        self.tx.execute(
            """
            DELETE FROM main.conversations
            WHERE id NOT IN (SELECT conversation_id FROM short_term_memories)
                AND id NOT IN (SELECT conversation_id FROM long_term_memories)
                AND name NOT IN (SELECT conversation FROM trash WHERE conversation IS NOT NULL)
            """
        )

    def due(self, before: str, limit: int) -> list[ConversationId]:
        rows = self.tx.rows(
            """
            SELECT id, cleaned_at FROM conversations WHERE cleaned_at < ?
            UNION ALL
            SELECT id, cleaned_at FROM conversations WHERE cleaned_at > ?
            ORDER BY cleaned_at
            LIMIT ?
            """,
            (before, self.tx.now, limit),
        )
        return [ConversationId(id) for id, _ in rows]

    def mark_cleaned(self, id: ConversationId, removed: int) -> None:
        self.tx.execute(
            "UPDATE main.conversations SET cleaned_at = ?, removed = removed + ? WHERE id = ?",
            (self.tx.now, removed, id),
        )

    def cleanups(self, id: ConversationId | None) -> Cleanups | None:
        where = "" if id is None else "WHERE id = ?"
        last, removed = self.tx.one(
            f"SELECT max(cleaned_at), sum(removed) FROM conversations {where}", () if id is None else (id,)
        )
        return None if last is None else Cleanups(last, removed)

    def largest(self, held: Held, limit: int) -> list[tuple[str, int]]:
        table, moment = _TABLES[held]
        rows = self.tx.rows(
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
        return [(self.tx.name(name), number) for name, number, _ in rows]
