"""What was written last of the kinds that are no memories, of all projects or of one."""

from dataclasses import dataclass

from memory_server.domain.recall import Recallable
from memory_server.postgres.tx import Tx
from memory_server.storage.memories import Row

_SOURCES = {
    Recallable.TURN: """
        SELECT id, coalesce(occurred_at, created_at) AS at, project
        FROM turns
        WHERE %(project)s::text IS NULL OR project = %(project)s::text
    """,
    Recallable.FACT: """
        SELECT id, updated_at AS at, CASE scope WHEN 'project' THEN owner ELSE '' END
        FROM facts
        WHERE (%(project)s::text IS NULL OR scope = 'project' AND owner = %(project)s::text)
            AND (expires_at IS NULL OR expires_at > %(now)s)
    """,
    Recallable.SHORT_TERM: """
        SELECT s.id, s.said_at AS at, CASE WHEN starts_with(c.name, 'project:') THEN substr(c.name, 9) ELSE '' END
        FROM short_term_memories AS s
        JOIN conversations AS c ON c.id = s.conversation_id
        WHERE %(project)s::text IS NULL OR c.name = 'project:' || %(project)s::text
    """,
}
"""How the newest of a kind are found."""


@dataclass(frozen=True, slots=True)
class Newest:
    """What was written last of the kinds that are no memories, of all projects or of one."""

    tx: Tx

    def select(
        self, kind: Recallable, project: str | None, since: str | None, until: str | None, limit: int
    ) -> list[Row]:
        rows = self.tx.rows(
            f"""
            SELECT id, at, place
            FROM ({_SOURCES[kind]}) AS source (id, at, place)
            WHERE (%(since)s::text IS NULL OR as_moment(at) >= as_moment(%(since)s))
                AND (%(until)s::text IS NULL OR as_moment(at) < as_moment(%(until)s))
            ORDER BY at DESC, id DESC
            LIMIT %(limit)s
            """,
            {"project": project, "since": since, "until": until, "now": self.tx.now, "limit": limit},
        )
        return [Row(kind, id, at, place) for id, at, place in rows]
