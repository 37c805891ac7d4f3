"""The texts from outside that wait until a person confirms them, of all kinds."""

from dataclasses import dataclass

from memory_server.domain import fact_text
from memory_server.domain.change import Kind
from memory_server.domain.fact import Scope
from memory_server.domain.outside import Waiting
from memory_server.storage.fact_rows import value_of
from memory_server.storage.memory_rows import STANDS
from memory_server.storage.statements import Statements

_WAITS = f"NOT ({STANDS})"

_ROWS = f"""
    SELECT 'memory', id, content, origin, updated_at AS at, session, coalesce(project, ''), '', ''
    FROM memories
    WHERE {_WAITS}
    UNION ALL
    SELECT 'turn', id, summary, origin, created_at, session, project, '', ''
    FROM turns
    WHERE {_WAITS}
    UNION ALL
    SELECT 'fact', id, value, origin, updated_at, session, owner, key, scope
    FROM facts
    WHERE {_WAITS}
    UNION ALL
    SELECT 'long_term', m.id, m.prompt, m.origin, coalesce(m.updated_at, m.created_at), m.session, c.name, m.name, ''
    FROM long_term_memories AS m
    JOIN conversations AS c ON c.id = m.conversation_id
    WHERE {_WAITS}
    UNION ALL
    SELECT 'short_term', s.id, s.text, s.origin, s.said_at, s.session, c.name, '', ''
    FROM short_term_memories AS s
    JOIN conversations AS c ON c.id = s.conversation_id
    WHERE {_WAITS}
    ORDER BY 4, 5 DESC
"""

_NEWEST = 5000
"""Rows of each table, the newest, that are looked at for what was written lately: no start of a session reads all."""

_LATELY = " UNION ALL ".join(
    f"""
    SELECT origin
    FROM {table}
    WHERE id > (SELECT coalesce(max(id), 0) FROM {table}) - {_NEWEST} AND created_at >= :since
        AND coalesce({project}, '') IN ('', :project) AND {_WAITS}
    """
    for table, project in (("memories", "project"), ("turns", "project"), ("facts", "owner"))
)


@dataclass(frozen=True, slots=True)
class Outside:
    tx: Statements

    def lately(self, project: str, since: str) -> list[str]:
        """Return the origin of each text that was stored since a moment, in a project or in none, and that waits."""
        return [origin for (origin,) in self.tx.rows(_LATELY, {"project": project, "since": since})]

    def count(self, project: str) -> int:
        """Count the current memories of a project ('' is none) that wait. Reads all memories of the project."""
        return int(
            self.tx.value(
                f"""
                SELECT count(*)
                FROM memories
                WHERE coalesce(project, '') = :project AND NOT replaced AND {_WAITS}
                """,
                {"project": project},
            )
        )

    def select(self) -> list[Waiting]:
        """Return all that waits, by its origin, the latest first."""
        return [
            Waiting(
                Kind(kind),
                id,
                fact_text.value_of(value_of(text)) if kind == Kind.FACT.value else text,
                origin,
                at,
                session,
                place,
                name,
                Scope(scope) if scope else None,
            )
            for kind, id, text, origin, at, session, place, name, scope in self.tx.rows(_ROWS)
        ]
