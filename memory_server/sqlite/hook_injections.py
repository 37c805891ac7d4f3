"""The table `hook_injections`: what hooks have put into the context of which session."""

from collections.abc import Sequence

from memory_server.domain.injection import Injected, Injection, Logged
from memory_server.sqlite.rows import Rows
from memory_server.sqlite.tx import Tx, WriteTx

ROWS = (Rows("hook_injections", ("session", "event", "kind", "injected_at"), moments=("injected_at",)),)


def insert(tx: WriteTx, session: str, injections: Sequence[Injection]) -> None:
    for each in injections:
        tx.execute(
            """
            INSERT INTO hook_injections (session, event, kind, item_id, tokens, injected_at)
            VALUES (?, ?, ?, ?, ?, ?)
            """,
            (session, each.event, each.kind.value, each.id, each.tokens, tx.now),
        )


def in_context(tx: Tx, session: str) -> set[tuple[Injected, int]]:
    """What a session has been told and still has in its context."""
    rows = tx.rows(
        "SELECT kind, item_id FROM hook_injections WHERE session = ? AND in_context = 1", (session,)
    )
    return {(Injected(kind), id) for kind, id in rows}


def memories(tx: Tx, session: str) -> dict[int, bool]:
    """The memories that a session was told, and of each whether only a briefing told it."""
    rows = tx.rows(
        """
        SELECT item_id, min(event = 'SessionStart')
        FROM hook_injections
        WHERE session = ? AND kind = 'memory'
        GROUP BY item_id
        """,
        (session,),
    )
    return {id: bool(briefed) for id, briefed in rows}


def was_suggested(tx: Tx, session: str, id: int) -> bool:
    """Whether a session was told, ever, that something stated in a turn is not stored."""
    found = tx.value(
        "SELECT 1 FROM hook_injections WHERE session = ? AND kind = 'suggestion' AND item_id = ?",
        (session, id),
    )
    return found is not None


def forget_context(tx: WriteTx, session: str) -> None:
    """The client has emptied or shortened the context of a session: what it was told may be said again."""
    tx.execute("UPDATE hook_injections SET in_context = 0 WHERE session = ? AND in_context = 1", (session,))


def newest(tx: Tx, limit: int) -> list[Logged]:
    """The last that were said, the latest first; not the parts of a briefing."""
    rows = tx.rows(
        """
        SELECT i.injected_at, i.session, i.event, i.kind, i.tokens, r.text
        FROM hook_injections AS i
        JOIN readable_hook_injections AS r ON r.id = i.id
        WHERE i.event <> 'SessionStart' OR i.kind = 'briefing'
        ORDER BY i.id DESC
        LIMIT ?
        """,
        (limit,),
    )
    return [Logged(*row) for row in rows]
