"""The newest items of the kinds that are no memories, of all projects or of one."""

from dataclasses import dataclass

from memory_server.domain.recall import Recallable
from memory_server.storage.statements import Statements
from memory_server.storage.tables.turns import STORED

_SOURCES = {
    Recallable.TURN: (
        "ifnull(occurred_at, created_at)",
        "project",
        f"(SELECT * FROM turns WHERE {STORED}) AS m",
        "project = :project",
    ),
    Recallable.FACT: (
        "updated_at",
        "CASE scope WHEN 'project' THEN owner ELSE '' END",
        "facts AS m",
        "scope = 'project' AND owner = :project",
    ),
    Recallable.SHORT_TERM: (
        "m.said_at",
        "CASE WHEN substr(c.name, 1, 8) = 'project:' THEN substr(c.name, 9) ELSE '' END",
        "short_term_memories AS m JOIN conversations AS c ON c.id = m.conversation_id",
        "c.name = 'project:' || :project",
    ),
}
"""For each kind, as SQL: its moment, its project, its table, and the clause for what belongs to one project."""


@dataclass(frozen=True, slots=True)
class Row:
    """An item, where it is, and when it was written."""

    kind: Recallable
    id: int
    at: str
    project: str


@dataclass(frozen=True, slots=True)
class Newest:
    tx: Statements

    def select(
        self, kind: Recallable, project: str | None, since: str | None, until: str | None, limit: int
    ) -> list[Row]:
        """Return the newest of a kind, the latest first; `project` None is all of them.

        Each order of moments has an index, which is read from its end.
        """
        at, place, source, of_project = _SOURCES[kind]
        clauses = ["true"]
        if project is not None:
            clauses.append(of_project)
        if kind is Recallable.FACT:
            clauses.append("(expires_at IS NULL OR expires_at > :now)")
        if since is not None:
            clauses.append(f"julianday({at}) >= julianday(:since)")
        if until is not None:
            clauses.append(f"julianday({at}) < julianday(:until)")
        rows = self.tx.rows(
            f"""
            SELECT m.id, {at}, {place}
            FROM {source}
            WHERE {" AND ".join(clauses)}
            ORDER BY {at} DESC, m.id DESC
            LIMIT :limit
            """,
            {"project": project, "since": since, "until": until, "now": self.tx.now, "limit": limit},
        )
        return [Row(kind, *row) for row in rows]
