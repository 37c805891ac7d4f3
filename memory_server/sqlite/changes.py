"""The table `changes`: edits and merges with how it was before, for as long as they can be undone."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from memory_server.domain.caller import Caller
from memory_server.domain.long_term import LongTermMemory
from memory_server.domain.memory import Memory, MemoryDraft
from memory_server.sqlite.tx import Tx
from memory_server.storage.history import Changed, changed_of, kept_draft, kept_fields

_COLUMNS = "id, memory_id, long_term_id, action, before, draft, changed_at, changed_by, session"


@dataclass(frozen=True, slots=True)
class Changes:
    """The table `changes`: edits and merges with how it was before, for as long as they can be undone."""

    tx: Tx

    def keep_memory(self, before: Memory, caller: Caller, merged: MemoryDraft | None = None) -> None:
        self._insert(before.id, None, before, merged, caller)

    def keep_long_term(self, before: LongTermMemory, caller: Caller) -> None:
        self._insert(None, before.id, before, None, caller)

    def select(self, ids: Sequence[int]) -> list[Changed]:
        rows = self.tx.rows(
            f"SELECT {_COLUMNS} FROM changes WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id DESC",
            (json.dumps(list(ids)),),
        )
        return [changed_of(row) for row in rows]

    def since(self, first: Changed) -> list[Changed]:
        rows = self.tx.rows(
            f"SELECT {_COLUMNS} FROM changes WHERE id >= ? AND (memory_id = ? OR long_term_id = ?) ORDER BY id DESC",
            (first.id, first.memory_id, first.long_term_id),
        )
        return [changed_of(row) for row in rows]

    def delete(self, ids: Sequence[int]) -> None:
        self.tx.execute(
            "DELETE FROM main.changes WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(ids)),)
        )

    def older(self, before: str, limit: int) -> list[int]:
        rows = self.tx.rows(
            "SELECT id FROM changes WHERE changed_at < ? ORDER BY changed_at LIMIT ?", (before, limit)
        )
        return [id for (id,) in rows]

    def _insert(
        self,
        memory: int | None,
        long_term: int | None,
        before: Memory | LongTermMemory,
        merged: MemoryDraft | None,
        caller: Caller,
    ) -> None:
        self.tx.execute(
            """
            INSERT INTO main.changes (memory_id, long_term_id, action, before, draft, changed_at, changed_by, session)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            (
                memory,
                long_term,
                "edited" if merged is None else "merged",
                kept_fields(before),
                None if merged is None else kept_draft(merged),
                self.tx.now,
                caller.author,
                caller.session,
            ),
        )
