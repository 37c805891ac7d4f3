"""The table `memory_uses`: which session was shown which memory, and used it.

A session is a person's: the key of one begins with the person, so that two who name theirs alike share no row.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from memory_server.domain.learning import How, Learnt, Uses
from memory_server.postgres.tx import Tx

_USED = "count(*) FILTER (WHERE used_at IS NOT NULL)"
_UNUSED = "count(*) FILTER (WHERE used_at IS NULL AND judged_at IS NOT NULL)"


@dataclass(frozen=True, slots=True)
class MemoryUses:
    """The table `memory_uses`: which session was shown which memory, and used it."""

    tx: Tx

    def show(self, ids: Sequence[int], session: str) -> None:
        self.tx.send(
            """
            INSERT INTO memory_uses (id, memory_id, session, shown_at, person)
            SELECT (SELECT next_id('memory_uses')) - 1 + row_number() OVER (ORDER BY place), id, %(session)s, %(now)s,
                %(owner)s
            FROM (
                SELECT id, min(place) AS place
                FROM unnest(%(ids)s::bigint[]) WITH ORDINALITY AS given (id, place)
                WHERE NOT EXISTS (SELECT 1 FROM memory_uses WHERE memory_id = given.id AND session = %(session)s)
                GROUP BY id
            ) AS shown
            """,
            {
                "session": self.tx.key(session),
                "now": self.tx.now,
                "owner": self.tx.owner,
                "ids": list(ids),
            },
        )

    def not_used(self, session: str, limit: int) -> dict[int, bool]:
        rows = self.tx.rows(
            """
            SELECT memory_id, judged_at IS NOT NULL
            FROM memory_uses
            WHERE session = %s AND used_at IS NULL
            ORDER BY id DESC
            LIMIT %s
            """,
            (self.tx.key(session), limit),
        )
        return dict(rows)

    def judge(self, session: str, ids: Sequence[int]) -> None:
        self.tx.send(
            """
            UPDATE memory_uses
            SET judged_at = %s
            WHERE session = %s AND judged_at IS NULL AND memory_id = ANY (%s)
            """,
            (self.tx.now, self.tx.key(session), list(ids)),
        )

    def mark_used(self, ids: Sequence[int], session: str | None, how: How) -> None:
        if session is None or not ids:
            return
        self.tx.send(
            """
            UPDATE memory_uses
            SET used_at = %s, how = %s
            WHERE session = %s AND used_at IS NULL AND memory_id = ANY (%s)
            """,
            (self.tx.now, how.value, self.tx.key(session), list(ids)),
        )

    def count(self, ids: Sequence[int]) -> dict[int, Uses]:
        if not ids:
            return {}
        rows = self.tx.rows(
            f"""
            SELECT memory_id, {_USED}, {_UNUSED}
            FROM memory_uses
            WHERE memory_id = ANY (%s) AND (used_at IS NOT NULL OR judged_at IS NOT NULL)
            GROUP BY memory_id
            """,
            (list(ids),),
        )
        return {id: Uses(used, unused) for id, used, unused in rows}

    def select(self, least: int, limit: int) -> list[Learnt]:
        rows = self.tx.rows(
            f"""
            SELECT u.memory_id, m.content, u.used, u.unused
            FROM (
                SELECT memory_id, {_USED} AS used, {_UNUSED} AS unused FROM memory_uses GROUP BY memory_id
            ) AS u
            JOIN memories AS m ON m.id = u.memory_id
            WHERE u.used > 0 OR u.unused >= %s
            ORDER BY u.used DESC, u.unused DESC, u.memory_id
            LIMIT %s
            """,
            (least, limit),
        )
        return [Learnt(id, content, Uses(used, unused)) for id, content, used, unused in rows]

    def delete(self, memory: int | None) -> int:
        return int(
            self.tx.value(
                """
                WITH gone AS (
                    DELETE FROM memory_uses
                    WHERE %(memory)s::bigint IS NULL OR memory_id = %(memory)s::bigint
                    RETURNING memory_id
                )
                SELECT count(DISTINCT memory_id) FROM gone
                """,
                {"memory": memory},
            )
        )
