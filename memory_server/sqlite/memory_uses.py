"""The table `memory_uses`: which session was shown which memory, and used it.

A session is a person's: the key of one begins with the person, so that two who name theirs alike share no row.
"""

import json
from collections.abc import Sequence

from memory_server.domain.learning import How, Learnt, Uses
from memory_server.sqlite.rows import Rows
from memory_server.sqlite.tx import Tx, WriteTx

ROWS = (
    Rows(
        "memory_uses",
        ("session", "shown_at", "judged_at", "used_at", "how", "person"),
        moments=("shown_at", "judged_at", "used_at"),
    ),
)

_USED = "sum(used_at IS NOT NULL)"
_UNUSED = "sum(used_at IS NULL AND judged_at IS NOT NULL)"


def show(tx: WriteTx, ids: Sequence[int], session: str) -> None:
    """A session was shown these memories; what it was shown before stays as it is."""
    tx.execute(
        """
        INSERT INTO main.memory_uses (memory_id, session, shown_at, person)
        SELECT value, ?, ?, ? FROM json_each(?) WHERE true
        ON CONFLICT (memory_id, session) DO NOTHING
        """,
        (tx.key(session), tx.now, tx.owner, json.dumps(list(ids))),
    )


def not_used(tx: Tx, session: str, limit: int) -> dict[int, bool]:
    """The memories that a session was shown last and has not used, and of each whether it was judged before."""
    rows = tx.rows(
        """
        SELECT memory_id, judged_at IS NOT NULL
        FROM memory_uses
        WHERE session = ? AND used_at IS NULL
        ORDER BY id DESC
        LIMIT ?
        """,
        (tx.key(session), limit),
    )
    return {id: bool(judged) for id, judged in rows}


def judge(tx: WriteTx, session: str, ids: Sequence[int]) -> None:
    """Somebody has looked whether a session uses these memories."""
    tx.execute(
        """
        UPDATE main.memory_uses
        SET judged_at = ?
        WHERE session = ? AND judged_at IS NULL AND memory_id IN (SELECT value FROM json_each(?))
        """,
        (tx.now, tx.key(session), json.dumps(list(ids))),
    )


def mark_used(tx: WriteTx, ids: Sequence[int], session: str | None, how: How) -> None:
    """A session has used those of these memories that it was shown; the first use counts."""
    if session is None or not ids:
        return
    tx.execute(
        """
        UPDATE main.memory_uses
        SET used_at = ?, how = ?
        WHERE session = ? AND used_at IS NULL AND memory_id IN (SELECT value FROM json_each(?))
        """,
        (tx.now, how.value, tx.key(session), json.dumps(list(ids))),
    )


def count(tx: Tx, ids: Sequence[int]) -> dict[int, Uses]:
    """The uses of those of these memories that were used, or shown and judged."""
    rows = tx.rows(
        f"""
        SELECT memory_id, {_USED}, {_UNUSED}
        FROM memory_uses
        WHERE memory_id IN (SELECT value FROM json_each(?)) AND (used_at IS NOT NULL OR judged_at IS NOT NULL)
        GROUP BY memory_id
        """,
        (json.dumps(list(ids)),),
    )
    return {id: Uses(used, unused) for id, used, unused in rows}


def select(tx: Tx, least: int, limit: int) -> list[Learnt]:
    """The memories that were used, the most used first; then those that at least so many sessions did not use."""
    rows = tx.rows(
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


def delete(tx: WriteTx, memory: int | None) -> int:
    """Forget the uses of a memory, or of all; of how many memories."""
    clause, values = ("", ()) if memory is None else ("WHERE memory_id = ?", (memory,))
    number = int(tx.value(f"SELECT count(DISTINCT memory_id) FROM memory_uses {clause}", values))
    tx.execute(f"DELETE FROM main.memory_uses {clause}", values)
    return number
