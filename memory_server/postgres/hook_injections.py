"""The table `hook_injections`: what hooks have put into the context of which session."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory_server.domain.injection import Injected, Injection, Logged
from memory_server.postgres.tx import Tx


@dataclass(frozen=True, slots=True)
class HookInjections:
    """The table `hook_injections`: what hooks have put into the context of which session."""

    tx: Tx

    def insert(self, session: str, injections: Sequence[Injection]) -> None:
        self.tx.send(
            """
            INSERT INTO hook_injections (session, event, kind, item_id, tokens, injected_at)
            SELECT %s, event, kind, item_id, tokens, %s
            FROM unnest(%s::text[], %s::text[], %s::bigint[], %s::bigint[]) WITH ORDINALITY
                AS said (event, kind, item_id, tokens, place)
            ORDER BY place
            """,
            (
                session,
                self.tx.now,
                [each.event for each in injections],
                [each.kind.value for each in injections],
                [each.id for each in injections],
                [each.tokens for each in injections],
            ),
        )

    def in_context(self, session: str) -> set[tuple[Injected, int]]:
        rows = self.tx.rows(
            "SELECT kind, item_id FROM hook_injections WHERE session = %s AND in_context", (session,)
        )
        return {(Injected(kind), id) for kind, id in rows}

    def memories(self, session: str) -> dict[int, bool]:
        rows = self.tx.rows(
            """
            SELECT item_id, bool_and(event = 'SessionStart')
            FROM hook_injections
            WHERE session = %s AND kind = 'memory'
            GROUP BY item_id
            """,
            (session,),
        )
        return dict(rows)

    def was_suggested(self, session: str, id: int) -> bool:
        found = self.tx.value(
            "SELECT 1 FROM hook_injections WHERE session = %s AND kind = 'suggestion' AND item_id = %s LIMIT 1",
            (session, id),
        )
        return found is not None

    def forget_context(self, session: str) -> None:
        self.tx.send(
            "UPDATE hook_injections SET in_context = false WHERE session = %s AND in_context", (session,)
        )

    def newest(self, limit: int) -> list[Logged]:
        rows = self.tx.rows(
            """
            SELECT injected_at, session, event, kind, tokens, CASE kind
                WHEN 'memory' THEN (SELECT content FROM memories AS m WHERE m.id = item_id)
                WHEN 'fact' THEN (SELECT key || ': ' || value FROM facts AS f WHERE f.id = item_id)
                WHEN 'turn' THEN (SELECT summary FROM turns AS t WHERE t.id = item_id)
                WHEN 'woken' THEN (SELECT name || ': ' || prompt FROM long_term_memories AS m WHERE m.id = item_id)
                WHEN 'suggestion' THEN (SELECT text FROM short_term_memories AS m WHERE m.id = item_id)
            END
            FROM hook_injections
            WHERE event <> 'SessionStart' OR kind = 'briefing'
            ORDER BY id DESC
            LIMIT %s
            """,
            (limit,),
        )
        return [Logged(*row) for row in rows]
