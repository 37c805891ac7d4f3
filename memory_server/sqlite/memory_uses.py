"""The table `memory_uses`: which session was shown which memory, and used it.

A session is a person's: the key of one begins with the person, so that two who name theirs alike share no row.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from memory_server.domain.learning import How, Learnt, Uses
from memory_server.sqlite.tx import Tx

_USED = "sum(used_at IS NOT NULL)"
_UNUSED = "sum(used_at IS NULL AND judged_at IS NOT NULL)"


@dataclass(frozen=True, slots=True)
class MemoryUses:
    """The table `memory_uses`: which session was shown which memory, and used it."""

    tx: Tx

    def show(self, ids: Sequence[int], session: str) -> None:
        self.tx.execute(
            """
            INSERT INTO main.memory_uses (memory_id, session, shown_at, person)
            SELECT value, ?, ?, ? FROM json_each(?) WHERE true
            ON CONFLICT (memory_id, session) DO NOTHING
            """,
            (self.tx.key(session), self.tx.now, self.tx.owner, json.dumps(list(ids))),
        )

    def not_used(self, session: str, limit: int) -> dict[int, bool]:
        rows = self.tx.rows(
            """
            SELECT memory_id, judged_at IS NOT NULL
            FROM memory_uses
            WHERE session = ? AND used_at IS NULL
            ORDER BY id DESC
            LIMIT ?
            """,
            (self.tx.key(session), limit),
        )
        return {id: bool(judged) for id, judged in rows}

    def judge(self, session: str, ids: Sequence[int]) -> None:
        self.tx.execute(
            """
            UPDATE main.memory_uses
            SET judged_at = ?
            WHERE session = ? AND judged_at IS NULL AND memory_id IN (SELECT value FROM json_each(?))
            """,
            (self.tx.now, self.tx.key(session), json.dumps(list(ids))),
        )

    def mark_used(self, ids: Sequence[int], session: str | None, how: How) -> None:
        if session is None or not ids:
            return
        self.tx.execute(
            """
            UPDATE main.memory_uses
            SET used_at = ?, how = ?
            WHERE session = ? AND used_at IS NULL AND memory_id IN (SELECT value FROM json_each(?))
            """,
            (self.tx.now, how.value, self.tx.key(session), json.dumps(list(ids))),
        )

    def count(self, ids: Sequence[int]) -> dict[int, Uses]:
        rows = self.tx.rows(
            f"""
            SELECT memory_id, {_USED}, {_UNUSED}
            FROM memory_uses
            WHERE memory_id IN (SELECT value FROM json_each(?)) AND (used_at IS NOT NULL OR judged_at IS NOT NULL)
            GROUP BY memory_id
            """,
            (json.dumps(list(ids)),),
        )
        return {id: Uses(used, unused) for id, used, unused in rows}

    def select(self, least: int, limit: int) -> list[Learnt]:
        rows = self.tx.rows(
            f"""
            SELECT memory_id, m.content, {_USED} AS used, {_UNUSED} AS unused
            FROM memory_uses AS u
            JOIN memories AS m ON m.id = u.memory_id
            GROUP BY memory_id
            HAVING used > 0 OR unused >= ?
            ORDER BY used DESC, unused DESC, memory_id
            LIMIT ?
            """,
            (least, limit),
        )
        return [Learnt(id, content, Uses(used, unused)) for id, content, used, unused in rows]

    def delete(self, memory: int | None) -> int:
        clause, values = ("", ()) if memory is None else ("WHERE memory_id = ?", (memory,))
        number = int(self.tx.value(f"SELECT count(DISTINCT memory_id) FROM memory_uses {clause}", values))
        self.tx.execute(f"DELETE FROM main.memory_uses {clause}", values)
        return number
