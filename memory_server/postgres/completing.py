"""What half-written ids may become: rows of several tables by the first digits of their id."""

from dataclasses import dataclass

from memory_server.domain.change import Kind
from memory_server.postgres.tx import Tx

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
    """What half-written ids may become: rows of several tables by the first digits of their id."""

    tx: Tx

    def numbered(self, kind: Kind, digits: str, project: str, limit: int) -> list[tuple[int, str]]:
        table, text, place = _TABLES[kind]
        rows = self.tx.rows(
            f"""
            SELECT id, left({text}, {SHOWN})
            FROM {table}
            WHERE starts_with(id::text, %s)
            ORDER BY {place} = %s DESC, id DESC
            LIMIT %s
            """,
            (digits, project, limit),
        )
        return [(id, text) for id, text in rows]
