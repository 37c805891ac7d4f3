"""The table `changes`: edits and merges with how it was before, for as long as they can be undone."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory_server.domain.caller import Caller
from memory_server.domain.long_term import LongTermMemory
from memory_server.domain.memory import Memory, MemoryDraft
from memory_server.storage.history import Changed, changed_of, kept_draft, kept_fields
from memory_server.storage.statements import Statements
from memory_server.storage.tables.rules import Rules

_COLUMNS = "id, memory_id, long_term_id, action, before, draft, changed_at, changed_by, session"


@dataclass(frozen=True, slots=True)
class Changes:
    tx: Statements

    def select(self, ids: Sequence[int]) -> list[Changed]:
        """Return those of these changes that exist, the latest first."""
        rows = self.tx.rows(
            f"SELECT {_COLUMNS} FROM changes WHERE id IN (SELECT value FROM json_each(:ids)) ORDER BY id DESC",
            {"ids": self.tx.array(ids)},
        )
        return [changed_of(row) for row in rows]

    def of_memories(self, ids: Sequence[int]) -> list[Changed]:
        """Return all changes of these memories, the latest first."""
        rows = self.tx.rows(
            f"SELECT {_COLUMNS} FROM changes WHERE memory_id IN (SELECT value FROM json_each(:ids)) ORDER BY id DESC",
            {"ids": self.tx.array(ids)},
        )
        return [changed_of(row) for row in rows]

    def since(self, first: Changed) -> list[Changed]:
        """Return this change and all later ones of the same thing, the latest first."""
        rows = self.tx.rows(
            f"""
            SELECT {_COLUMNS}
            FROM changes
            WHERE id >= :first AND (memory_id = :memory OR long_term_id = :long_term)
            ORDER BY id DESC
            """,
            {"first": first.id, "memory": first.memory_id, "long_term": first.long_term_id},
        )
        return [changed_of(row) for row in rows]

    def newest(self, memory_ids: Sequence[int]) -> list[int]:
        """Return the id of the newest change of each of these memories."""
        rows = self.tx.rows(
            """
            SELECT max(id)
            FROM changes
            WHERE memory_id IN (SELECT value FROM json_each(:ids))
            GROUP BY memory_id
            ORDER BY max(id)
            """,
            {"ids": self.tx.array(memory_ids)},
        )
        return [id for (id,) in rows]

    def writers(self, memory_ids: Sequence[int]) -> dict[int, str | None]:
        """Return who wrote the present text of those of these memories whose text was changed: None where it was
        changed too long ago to tell."""
        rows = self.tx.rows(
            """
            SELECT DISTINCT h.memory_id, (
                SELECT c.changed_by
                FROM changes AS c
                WHERE c.memory_id = m.id AND json_extract(c.before, '$.content') <> m.content
                ORDER BY c.id DESC
                LIMIT 1
            )
            FROM memory_history AS h
            JOIN memories AS m ON m.id = h.memory_id
            WHERE h.memory_id IN (SELECT value FROM json_each(:ids))
            """,
            {"ids": self.tx.array(memory_ids)},
        )
        return dict(rows)

    def older(self, before: str, limit: int) -> list[int]:
        """Return the ids of those from before a moment, the oldest first."""
        rows = self.tx.rows(
            "SELECT id FROM changes WHERE changed_at < :before ORDER BY changed_at LIMIT :limit",
            {"before": before, "limit": limit},
        )
        return [id for (id,) in rows]


@dataclass(frozen=True, slots=True)
class WritableChanges(Changes):
    def keep_memory(self, before: Memory, caller: Caller, merged: MemoryDraft | None = None) -> None:
        """Keep a memory as it is before an edit of it, or before something is merged into it."""
        self._insert(before.id, None, kept_fields(before), merged, caller)

    def keep_long_term(self, before: LongTermMemory, caller: Caller) -> None:
        """Keep a long-term memory as it is before an edit; a rule also before it is switched or confirmed."""
        self._insert(None, before.id, kept_fields(before, Rules(self.tx).find(before.id)), None, caller)

    def delete(self, ids: Sequence[int]) -> None:
        """Forget them: nothing undoes them any more."""
        self.tx.send(
            "DELETE FROM main.changes WHERE id IN (SELECT value FROM json_each(:ids))",
            {"ids": self.tx.array(ids)},
        )

    def _insert(
        self,
        memory: int | None,
        long_term: int | None,
        before: str,
        merged: MemoryDraft | None,
        caller: Caller,
    ) -> None:
        row = {
            "memory_id": memory,
            "long_term_id": long_term,
            "action": "edited" if merged is None else "merged",
            "before": before,
            "draft": None if merged is None else kept_draft(merged),
            "changed_at": self.tx.now,
            "changed_by": caller.author,
            "session": caller.session,
        }
        self.tx.insert_each("main.changes", [row])
