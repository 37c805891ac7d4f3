"""The table `hook_captures`: what hooks have kept without being asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memory_server.domain.injection import Captured, HookCapture
from memory_server.storage.statements import Statements

_TEXT = """
    CASE c.kind
        WHEN 'short_term' THEN (SELECT m.text FROM short_term_memories AS m WHERE m.id = c.item_id)
        WHEN 'fact' THEN (SELECT f.key || ': ' || f.value FROM facts AS f WHERE f.id = c.item_id)
        WHEN 'memory' THEN (SELECT m.content FROM memories AS m WHERE m.id = c.item_id)
    END
"""


@dataclass(frozen=True, slots=True)
class HookCaptures:
    tx: Statements

    def is_captured(self, kind: Captured, id: int) -> bool:
        """True if a hook has kept the row unasked."""
        row = self.tx.row(
            "SELECT 1 FROM hook_captures WHERE kind = :kind AND item_id = :id", {"kind": kind.value, "id": id}
        )
        return row is not None

    def last(self, kind: Captured, session: str) -> HookCapture | None:
        """Return what was kept last of a session and still exists."""
        clauses = ["c.kind = :kind", "c.session = :session"]
        captures = self._select(clauses, {"kind": kind.value, "session": session}, 1)
        return captures[0] if captures else None

    def of_others(self, word: str, session: str, limit: int) -> list[str]:
        """Return the texts of turns with a word that were kept of other sessions, the latest first."""
        rows = self.tx.rows(
            """
            SELECT m.text
            FROM hook_captures AS c
            JOIN short_term_memories AS m ON m.id = c.item_id
            WHERE c.kind = 'short_term' AND c.session <> :session AND lower(m.text) LIKE :pattern
            ORDER BY c.id DESC
            LIMIT :limit
            """,
            {"pattern": f"%{word}%", "session": session, "limit": limit},
        )
        return [text for (text,) in rows]

    def select(self, session: str | None, limit: int | None) -> list[HookCapture]:
        """Return what still exists, of one session (or one that begins so) or of all; the latest first."""
        if session is None:
            return self._select([], {}, limit)
        return self._select(
            ["substr(c.session, 1, length(:session)) = :session"], {"session": session}, limit
        )

    def _select(self, clauses: Sequence[str], values: dict[str, Any], limit: int | None) -> list[HookCapture]:
        rows = self.tx.rows(
            f"""
            SELECT kind, item_id, captured_at, session, event, text
            FROM (
                SELECT c.id, c.kind, c.item_id, c.captured_at, c.session, c.event, {_TEXT} AS text
                FROM hook_captures AS c
                WHERE {" AND ".join(["true", *clauses])}
            ) AS captures
            WHERE text IS NOT NULL
            ORDER BY id DESC
            {"" if limit is None else "LIMIT :limit"}
            """,
            {**values, "limit": limit},
        )
        return [HookCapture(Captured(kind), *fields) for kind, *fields in rows]


@dataclass(frozen=True, slots=True)
class WritableHookCaptures(HookCaptures):
    def insert(self, kind: Captured, id: int, session: str, event: str) -> None:
        """Mark a row as kept unasked; a row that has a mark already gets the new one."""
        values = {"kind": kind.value, "id": id, "session": session, "event": event, "now": self.tx.now}
        self.tx.send("DELETE FROM hook_captures WHERE kind = :kind AND item_id = :id", values)
        self.tx.send(
            """
            INSERT INTO hook_captures (kind, item_id, session, event, captured_at)
            VALUES (:kind, :id, :session, :event, :now)
            """,
            values,
        )
