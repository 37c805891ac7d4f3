"""The table `hook_captures`: what hooks have kept without being asked."""

from dataclasses import dataclass

from memory_server.domain.injection import Capture, Captured
from memory_server.postgres.tx import Tx

_SELECT = """
    SELECT c.kind, c.item_id, c.captured_at, c.session, c.event, there.text
    FROM hook_captures AS c
    CROSS JOIN LATERAL (
        SELECT m.text FROM short_term_memories AS m WHERE c.kind = 'short_term' AND m.id = c.item_id
        UNION ALL
        SELECT f.key || ': ' || f.value FROM facts AS f WHERE c.kind = 'fact' AND f.id = c.item_id
        UNION ALL
        SELECT m.content FROM memories AS m WHERE c.kind = 'memory' AND m.id = c.item_id
    ) AS there (text)
"""


@dataclass(frozen=True, slots=True)
class HookCaptures:
    """The table `hook_captures`: what hooks have kept without being asked."""

    tx: Tx

    def insert(self, kind: Captured, id: int, session: str, event: str) -> None:
        self.tx.send(
            """
            INSERT INTO hook_captures (kind, item_id, session, event, captured_at)
            VALUES (%s, %s, %s, %s, %s)
            ON CONFLICT (tenant_id, kind, item_id) DO UPDATE
            SET id = excluded.id, session = excluded.session, event = excluded.event,
                captured_at = excluded.captured_at
            """,
            (kind.value, id, session, event, self.tx.now),
        )

    def is_captured(self, kind: Captured, id: int) -> bool:
        found = self.tx.value(
            "SELECT 1 FROM hook_captures WHERE kind = %s AND item_id = %s", (kind.value, id)
        )
        return found is not None

    def last(self, kind: Captured, session: str) -> Capture | None:
        found = self._select("c.kind = %s AND c.session = %s", (kind.value, session), 1)
        return found[0] if found else None

    def select(self, session: str | None, limit: int | None) -> list[Capture]:
        if session is None:
            return self._select("true", (), limit)
        return self._select("starts_with(c.session, %s)", (session,), limit)

    def _select(self, where: str, values: tuple[str, ...], limit: int | None) -> list[Capture]:
        rows = self.tx.rows(f"{_SELECT} WHERE {where} ORDER BY c.id DESC LIMIT %s", (*values, limit))
        return [Capture(Captured(row[0]), *row[1:]) for row in rows]
