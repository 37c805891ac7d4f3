"""What was written last of the kinds that are no memories, of all projects or of one."""

from dataclasses import dataclass

from memory_server.domain.recall import Recallable
from memory_server.postgres.tx import Tx
from memory_server.storage.memories import Row

_SOURCES = {
    Recallable.TURN: (
        "coalesce(occurred_at, created_at)",
        "project",
        "turns AS m",
        "project = %(project)s",
    ),
    Recallable.FACT: (
        "updated_at",
        "CASE scope WHEN 'project' THEN owner ELSE '' END",
        "facts AS m",
        "scope = 'project' AND owner = %(project)s",
    ),
    Recallable.SHORT_TERM: (
        "m.said_at",
        "CASE WHEN starts_with(c.name, 'project:') THEN substr(c.name, 9) ELSE '' END",
        "short_term_memories AS m JOIN conversations AS c ON c.id = m.conversation_id",
        "c.name = 'project:' || %(project)s",
    ),
}
"""For each kind, as SQL: its moment, its project, its table, and the clause for what belongs to one project."""


@dataclass(frozen=True, slots=True)
class Newest:
    """What was written last of the kinds that are no memories, of all projects or of one."""

    tx: Tx

    def select(
        self, kind: Recallable, project: str | None, since: str | None, until: str | None, limit: int
    ) -> list[Row]:
        """Each order of moments has an index, which is read from its end."""
        at, place, source, of_project = _SOURCES[kind]
        clauses = ["true"]
        if project is not None:
            clauses.append(of_project)
        if kind is Recallable.FACT:
            clauses.append("(expires_at IS NULL OR expires_at > %(now)s)")
        if since is not None:
            clauses.append(f"as_moment({at}) >= as_moment(%(since)s)")
        if until is not None:
            clauses.append(f"as_moment({at}) < as_moment(%(until)s)")
        rows = self.tx.rows(
            f"""
            SELECT m.id, {at}, {place}
            FROM {source}
            WHERE {" AND ".join(clauses)}
            ORDER BY {at} DESC, m.id DESC
            LIMIT %(limit)s
            """,
            {"project": project, "since": since, "until": until, "now": self.tx.now, "limit": limit},
        )
        return [Row(kind, id, at, place) for id, at, place in rows]
