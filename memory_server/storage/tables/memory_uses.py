"""The table `memory_uses`: which session was shown which memory, and used it.

A session is a person's: the key of one begins with the person, so that two who name theirs alike share no row.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from memory_server.domain.learning import How, Learnt, Uses
from memory_server.storage.statements import Statements

_USED = "count(*) FILTER (WHERE used_at IS NOT NULL)"
_UNUSED = "count(*) FILTER (WHERE used_at IS NULL AND judged_at IS NOT NULL)"


@dataclass(frozen=True, slots=True)
class MemoryUses:
    tx: Statements

    def not_used(self, session: str, limit: int) -> dict[int, bool]:
        """Return the memories that a session was shown last and has not used; true for those judged before."""
        rows = self.tx.rows(
            """
            SELECT memory_id, judged_at IS NOT NULL
            FROM memory_uses
            WHERE session = :session AND used_at IS NULL
            ORDER BY id DESC
            LIMIT :limit
            """,
            {"session": self.tx.key(session), "limit": limit},
        )
        return {id: bool(judged) for id, judged in rows}

    def of_session(self, session: str, limit: int) -> list[tuple[int, str, str | None, str | None]]:
        """Return the memories that a session was shown last: id, when, when it was used, and how."""
        rows = self.tx.rows(
            """
            SELECT memory_id, shown_at, used_at, how
            FROM memory_uses
            WHERE session = :session
            ORDER BY id DESC
            LIMIT :limit
            """,
            {"session": self.tx.key(session), "limit": limit},
        )
        return [(id, shown_at, used_at, how) for id, shown_at, used_at, how in rows]

    def repeated(self, since: str, until: str) -> list[str]:
        """Return the text of the memory of each use from a moment to another, where what was said repeats it."""
        rows = self.tx.rows(
            """
            SELECT m.content
            FROM memory_uses AS u
            JOIN memories AS m ON m.id = u.memory_id
            WHERE u.how = 'repeated' AND u.used_at >= :since AND u.used_at < :until
            """,
            {"since": since, "until": until},
        )
        return [content for (content,) in rows]

    def count(self, ids: Sequence[int]) -> dict[int, Uses]:
        """Count the uses of those of these memories that were used, or shown and judged."""
        if not ids:
            return {}
        rows = self.tx.rows(
            f"""
            SELECT memory_id, {_USED}, {_UNUSED}
            FROM memory_uses
            WHERE memory_id IN (SELECT value FROM json_each(:ids))
                AND (used_at IS NOT NULL OR judged_at IS NOT NULL)
            GROUP BY memory_id
            """,
            {"ids": self.tx.array(ids)},
        )
        return {id: Uses(used, unused) for id, used, unused in rows}

    def select(self, least: int, limit: int) -> list[Learnt]:
        """Return the memories that were used, the most used first; then those that `least` sessions did not use."""
        rows = self.tx.rows(
            f"""
            SELECT u.memory_id, m.content, u.used, u.unused
            FROM (
                SELECT memory_id, {_USED} AS used, {_UNUSED} AS unused FROM memory_uses GROUP BY memory_id
            ) AS u
            JOIN memories AS m ON m.id = u.memory_id
            WHERE u.used > 0 OR u.unused >= :least
            ORDER BY u.used DESC, u.unused DESC, u.memory_id
            LIMIT :limit
            """,
            {"least": least, "limit": limit},
        )
        return [Learnt(id, content, Uses(used, unused)) for id, content, used, unused in rows]


@dataclass(frozen=True, slots=True)
class WritableMemoryUses(MemoryUses):
    def show(self, ids: Sequence[int], session: str) -> None:
        """Record that a session was shown these memories; what it was shown before stays as it is."""
        shown = {"session": self.tx.key(session), "shown_at": self.tx.now, "person": self.tx.owner}
        self.tx.insert_each(
            "main.memory_uses", [{"memory_id": id, **shown} for id in ids], "ON CONFLICT DO NOTHING"
        )

    def judge(self, session: str, ids: Sequence[int]) -> None:
        """Record that somebody has looked whether a session uses these memories."""
        self.tx.send(
            """
            UPDATE main.memory_uses
            SET judged_at = :now
            WHERE session = :session AND judged_at IS NULL AND memory_id IN (SELECT value FROM json_each(:ids))
            """,
            {"now": self.tx.now, "session": self.tx.key(session), "ids": self.tx.array(ids)},
        )

    def mark_used(self, ids: Sequence[int], session: str | None, how: How) -> None:
        """Record that a session has used those of these memories that it was shown; the first use counts."""
        if session is None or not ids:
            return
        self.tx.send(
            """
            UPDATE main.memory_uses
            SET used_at = :now, how = :how
            WHERE session = :session AND used_at IS NULL AND memory_id IN (SELECT value FROM json_each(:ids))
            """,
            {
                "now": self.tx.now,
                "how": how.value,
                "session": self.tx.key(session),
                "ids": self.tx.array(ids),
            },
        )

    def delete(self, memory: int | None) -> int:
        """Forget the uses of a memory, or of all, and return of how many memories."""
        where = "" if memory is None else "WHERE memory_id = :memory"
        rows = self.tx.rows(f"DELETE FROM main.memory_uses {where} RETURNING memory_id", {"memory": memory})
        return len({id for (id,) in rows})
