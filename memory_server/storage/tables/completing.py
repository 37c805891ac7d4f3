"""Completions of half-written ids: rows of several tables by the first digits of their id."""

from dataclasses import dataclass

from memory_server.domain.change import Kind
from memory_server.storage.statements import Statements

SHOWN = 60
"""Characters of a text that stands beside an id."""

_TABLES = {
    Kind.MEMORY: ("memories", "content", "coalesce(project, '')"),
    Kind.TURN: ("turns", "summary", "project"),
    Kind.SHORT_TERM: ("short_term_memories", "text", "''"),
}
"""Of each kind that is known by a number its table, its text and its project."""


@dataclass(frozen=True, slots=True)
class Completing:
    tx: Statements

    def numbered(self, kind: Kind, digits: str, project: str, limit: int) -> list[tuple[int, str]]:
        """Return the newest rows whose id begins so, those of a project first, with the beginning of their texts."""
        table, text, place = _TABLES[kind]
        rows = self.tx.rows(
            f"""
            SELECT id, substr({text}, 1, {SHOWN})
            FROM {table}
            WHERE substr(CAST(id AS text), 1, length(:digits)) = :digits
            ORDER BY {place} = :project DESC, id DESC
            LIMIT :limit
            """,
            {"digits": digits, "project": project, "limit": limit},
        )
        return [(id, beginning) for id, beginning in rows]
