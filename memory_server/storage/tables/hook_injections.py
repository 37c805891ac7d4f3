"""The table `hook_injections`: what hooks have put into the context of which session."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory_server.domain.injection import Injected, Injection, Logged
from memory_server.domain.replay import SessionOverview
from memory_server.storage.statements import Statements, Values

_TEXT = """
    CASE i.kind
        WHEN 'memory' THEN (SELECT m.content FROM memories AS m WHERE m.id = i.item_id)
        WHEN 'fact' THEN (SELECT f.key || ': ' || f.value FROM facts AS f WHERE f.id = i.item_id)
        WHEN 'turn' THEN (SELECT t.summary FROM turns AS t WHERE t.id = i.item_id)
        WHEN 'woken' THEN (SELECT m.name || ': ' || m.prompt FROM long_term_memories AS m WHERE m.id = i.item_id)
        WHEN 'suggestion' THEN (SELECT m.text FROM short_term_memories AS m WHERE m.id = i.item_id)
    END
"""


@dataclass(frozen=True, slots=True)
class HookInjections:
    tx: Statements

    def in_context(self, session: str) -> set[tuple[Injected, int]]:
        """Return what a session has been told and still has in its context."""
        return self._in_context(session, "true")

    def since_the_briefing(self, session: str) -> set[tuple[Injected, int]]:
        """Return what a session has in its context that it was told at a prompt or around an act."""
        return self._in_context(session, "event <> 'SessionStart'")

    def memories(self, session: str) -> dict[int, bool]:
        """Return the memories that a session was told; true for those that only a briefing told."""
        rows = self.tx.rows(
            """
            SELECT item_id, count(*) FILTER (WHERE event <> 'SessionStart') = 0
            FROM hook_injections
            WHERE session = :session AND kind = 'memory'
            GROUP BY item_id
            """,
            {"session": session},
        )
        return {id: bool(briefed) for id, briefed in rows}

    def was_suggested(self, session: str, id: int) -> bool:
        """True if a session was told, ever, that something stated in a turn is not stored."""
        row = self.tx.row(
            """
            SELECT 1
            FROM hook_injections
            WHERE session = :session AND kind = 'suggestion' AND item_id = :id
            LIMIT 1
            """,
            {"session": session, "id": id},
        )
        return row is not None

    def newest(self, limit: int) -> list[Logged]:
        """Return the last that were said, the latest first; not the parts of a briefing."""
        return self._logged("i.event <> 'SessionStart' OR i.kind = 'briefing'", {"limit": limit})

    def of_session(self, session: str, limit: int) -> list[Logged]:
        """Return the last that a session was told, the latest first."""
        return self._logged("i.session = :session", {"session": session, "limit": limit})

    def sessions(self, since: str, until: str, limit: int) -> list[SessionOverview]:
        """Return the sessions that were told something from a moment to another, the latest first."""
        rows = self.tx.rows(
            """
            SELECT session, max(injected_at), count(*), sum(tokens)
            FROM hook_injections
            WHERE (event <> 'SessionStart' OR kind = 'briefing') AND injected_at >= :since AND injected_at < :until
            GROUP BY session
            ORDER BY max(id) DESC
            LIMIT :limit
            """,
            {"since": since, "until": until, "limit": limit},
        )
        return [
            SessionOverview(session, last_at, texts, int(tokens)) for session, last_at, texts, tokens in rows
        ]

    def tokens(self, since: str, until: str) -> int:
        """Count the tokens that were told from a moment to another."""
        rows = self.tx.rows(
            """
            SELECT coalesce(sum(tokens), 0)
            FROM hook_injections
            WHERE injected_at >= :since AND injected_at < :until
            """,
            {"since": since, "until": until},
        )
        return int(rows[0][0])

    def _in_context(self, session: str, clause: str) -> set[tuple[Injected, int]]:
        rows = self.tx.rows(
            f"SELECT kind, item_id FROM hook_injections WHERE session = :session AND in_context AND {clause}",
            {"session": session},
        )
        return {(Injected(kind), id) for kind, id in rows}

    def _logged(self, clause: str, values: Values) -> list[Logged]:
        rows = self.tx.rows(
            f"""
            SELECT i.injected_at, i.session, i.event, i.kind, i.tokens, {_TEXT}, i.item_id
            FROM hook_injections AS i
            WHERE {clause}
            ORDER BY i.id DESC
            LIMIT :limit
            """,
            values,
        )
        return [Logged(*row) for row in rows]


@dataclass(frozen=True, slots=True)
class WritableHookInjections(HookInjections):
    def insert(self, session: str, injections: Sequence[Injection]) -> None:
        self.tx.insert_each(
            "hook_injections",
            [
                {
                    "session": session,
                    "event": injection.event,
                    "kind": injection.kind.value,
                    "item_id": injection.id,
                    "tokens": injection.tokens,
                    "injected_at": self.tx.now,
                }
                for injection in injections
            ],
        )

    def forget_context(self, session: str) -> None:
        """Record that the client has emptied or shortened the context of a session: all may be said again."""
        self.tx.send(
            "UPDATE hook_injections SET in_context = false WHERE session = :session AND in_context",
            {"session": session},
        )
