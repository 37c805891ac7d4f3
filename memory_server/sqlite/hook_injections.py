"""The table `hook_injections`: what hooks have put into the context of which session."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory_server.domain.injection import Injected, Injection, Logged
from memory_server.sqlite.tx import Tx


@dataclass(frozen=True, slots=True)
class HookInjections:
    """The table `hook_injections`: what hooks have put into the context of which session."""

    tx: Tx

    def insert(self, session: str, injections: Sequence[Injection]) -> None:
        for each in injections:
            self.tx.execute(
                """
                INSERT INTO hook_injections (session, event, kind, item_id, tokens, injected_at)
                VALUES (?, ?, ?, ?, ?, ?)
                """,
                (session, each.event, each.kind.value, each.id, each.tokens, self.tx.now),
            )

    def in_context(self, session: str) -> set[tuple[Injected, int]]:
        rows = self.tx.rows(
            "SELECT kind, item_id FROM hook_injections WHERE session = ? AND in_context = 1", (session,)
        )
        return {(Injected(kind), id) for kind, id in rows}

    def memories(self, session: str) -> dict[int, bool]:
        rows = self.tx.rows(
            """
            SELECT item_id, min(event = 'SessionStart')
            FROM hook_injections
            WHERE session = ? AND kind = 'memory'
            GROUP BY item_id
            """,
            (session,),
        )
        return {id: bool(briefed) for id, briefed in rows}

    def was_suggested(self, session: str, id: int) -> bool:
        found = self.tx.value(
            "SELECT 1 FROM hook_injections WHERE session = ? AND kind = 'suggestion' AND item_id = ?",
            (session, id),
        )
        return found is not None

    def forget_context(self, session: str) -> None:
        self.tx.execute(
            "UPDATE hook_injections SET in_context = 0 WHERE session = ? AND in_context = 1", (session,)
        )

    def newest(self, limit: int) -> list[Logged]:
        rows = self.tx.rows(
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
