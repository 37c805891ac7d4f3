"""The table `hook_captures`: what hooks have kept without being asked."""

from dataclasses import dataclass

from memory_server.domain.injection import Capture, Captured
from memory_server.sqlite.tx import Tx, no_more_than

_SELECT = """
    SELECT c.kind, c.item_id, c.captured_at, c.session, c.event, r.text
    FROM hook_captures AS c
    JOIN readable_hook_captures AS r ON r.id = c.id
"""


@dataclass(frozen=True, slots=True)
class HookCaptures:
    """The table `hook_captures`: what hooks have kept without being asked."""

    tx: Tx

    def insert(self, kind: Captured, id: int, session: str, event: str) -> None:
        self.tx.execute(
            """
            INSERT OR REPLACE INTO hook_captures (kind, item_id, session, event, captured_at)
            VALUES (?, ?, ?, ?, ?)
            """,
            (kind.value, id, session, event, self.tx.now),
        )

    def is_captured(self, kind: Captured, id: int) -> bool:
        found = self.tx.value("SELECT 1 FROM hook_captures WHERE kind = ? AND item_id = ?", (kind.value, id))
        return found is not None

    def last(self, kind: Captured, session: str) -> Capture | None:
        row = self.tx.row(
            f"{_SELECT} WHERE c.kind = ? AND c.session = ? AND r.text IS NOT NULL ORDER BY c.id DESC LIMIT 1",
            (kind.value, session),
        )
        return None if row is None else Capture(Captured(row[0]), *row[1:])

    def select(self, session: str | None, limit: int | None) -> list[Capture]:
        clause = "" if session is None else "AND substr(c.session, 1, length(:session)) = :session"
        rows = self.tx.rows(
            f"{_SELECT} WHERE r.text IS NOT NULL {clause} ORDER BY c.id DESC LIMIT :limit",
            {"session": session, "limit": no_more_than(limit)},
        )
        return [Capture(Captured(row[0]), *row[1:]) for row in rows]
