"""The table `wakes`: the latest wakes of long-term memories."""

import json
from collections.abc import Sequence

from memory_server.domain.caller import Caller
from memory_server.domain.long_term import LongTermId, Wake
from memory_server.sqlite.rows import Rows
from memory_server.sqlite.tx import Tx, WriteTx

ROWS = (Rows("wakes", ("at", "client", "session", "why"), moments=("at",)),)

KEPT = 10_000
"""Wakes that the file holds: about two megabytes. The oldest ones go first."""


def insert(tx: WriteTx, woken: Sequence[tuple[LongTermId, str]], caller: Caller) -> None:
    """Add the wakes of one search, each with its reason; a memory that was deleted meanwhile is left out."""
    tx.execute(
        """
        INSERT INTO main.wakes (memory_id, at, client, session, why)
        SELECT value ->> 0, ?, ?, ?, value ->> 1
        FROM json_each(?)
        WHERE EXISTS (SELECT 1 FROM long_term_memories WHERE id = value ->> 0)
        """,
        (tx.now, caller.author, caller.session, json.dumps(woken)),
    )
    tx.execute("DELETE FROM main.wakes WHERE id <= (SELECT max(id) FROM wakes) - ?", (KEPT,))


def select(tx: Tx, memory: LongTermId, limit: int) -> list[Wake]:
    """The latest wakes of a memory, the last one first."""
    rows = tx.rows(
        "SELECT at, client, why FROM wakes WHERE memory_id = ? ORDER BY at DESC, id DESC LIMIT ?",
        (memory, limit),
    )
    return [Wake(*row) for row in rows]


def last(tx: Tx, memories: Sequence[LongTermId], session: str | None) -> dict[LongTermId, str]:
    """When each of these memories was woken last in a session, if it was."""
    rows = tx.rows(
        """
        SELECT memory_id, max(at)
        FROM wakes
        WHERE memory_id IN (SELECT value FROM json_each(?)) AND session IS ?
        GROUP BY memory_id
        """,
        (json.dumps(list(memories)), session),
    )
    return {LongTermId(id): at for id, at in rows}
