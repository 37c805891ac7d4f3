"""The things of every kind that meet a choice, each with its id and its text."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from memory_server.domain.change import Kind
from memory_server.domain.choice import Choice, Chosen
from memory_server.domain.project import default_conversation
from memory_server.storage.statements import Statements

_NONE: Final = "CAST(NULL AS text)"

_SOURCES: Final[Mapping[Kind, tuple[str, str]]] = {
    Kind.MEMORY: ("memories AS m", f"m.id, m.content, {_NONE}, {_NONE}, {_NONE}"),
    Kind.TURN: ("turns AS m", f"m.id, m.summary, {_NONE}, {_NONE}, {_NONE}"),
    Kind.SHORT_TERM: (
        "short_term_memories AS m JOIN conversations AS c ON c.id = m.conversation_id",
        f"m.id, m.text, {_NONE}, {_NONE}, {_NONE}",
    ),
    Kind.LONG_TERM: (
        "long_term_memories AS m JOIN conversations AS c ON c.id = m.conversation_id",
        f"m.id, m.prompt, m.name, {_NONE}, {_NONE}",
    ),
    Kind.FACT: ("facts AS m", "m.id, m.value, m.key, m.scope, m.owner"),
}
"""By kind, its table and the columns of what is chosen."""

_PROJECTS: Final = {
    Kind.MEMORY: "coalesce(m.project, '') = :project",
    Kind.TURN: "m.project = :project",
    Kind.FACT: "m.scope = 'project' AND m.owner = :project",
}
"""By kind, the condition of a project; the others are in the conversation of the project."""

_TAGGED: Final = (Kind.MEMORY, Kind.FACT)

_IMPORTED: Final = """
    EXISTS (SELECT 1 FROM origins AS o WHERE o.kind = :kind AND o.item_id = m.id AND {condition})
"""


def below_path(place: str) -> str:
    """Return the condition that a place is in the file `:path`, or in a file of the folder `:path`."""
    end = f"substr({place} || '#', length(:path) + 1, 1)"
    return f"substr({place}, 1, length(:path)) = :path AND {end} IN ('#', '/', '\\')"


@dataclass(frozen=True, slots=True)
class Choosing:
    tx: Statements

    def select(self, choice: Choice) -> list[Chosen]:
        """Return what is chosen, by kind and by id."""
        return [chosen for kind in _SOURCES for chosen in self._of_kind(kind, choice)]

    def _of_kind(self, kind: Kind, choice: Choice) -> list[Chosen]:
        ranges = [(first, last) for ranged, first, last in choice.ranges if ranged is kind]
        if (choice.ranges and not ranges) or (choice.tag is not None and kind not in _TAGGED):
            return []
        table, columns = _SOURCES[kind]
        conditions = _conditions(kind, choice)
        values: dict[str, Any] = {
            "kind": kind.value,
            "source": choice.source,
            "path": choice.path,
            "tag": choice.tag,
            "project": choice.project,
            "conversation": default_conversation(choice.project or ""),
            "since": choice.since,
        }
        for number, ends in enumerate(ranges):
            values |= {f"first{number}": ends[0], f"last{number}": ends[1]}
        if ranges:
            between = (f"m.id BETWEEN :first{number} AND :last{number}" for number in range(len(ranges)))
            conditions.append(f"({' OR '.join(between)})")
        rows = self.tx.rows(
            f"SELECT {columns} FROM {table} WHERE {' AND '.join(conditions)} ORDER BY m.id", values
        )
        return [Chosen(kind, *row) for row in rows]


def _conditions(kind: Kind, choice: Choice) -> list[str]:
    clauses = {
        _IMPORTED.format(condition="o.source = :source"): choice.source,
        _IMPORTED.format(condition=below_path("o.place")): choice.path,
        "EXISTS (SELECT 1 FROM json_each(m.tags) WHERE lower(value) = lower(:tag))": choice.tag,
        _PROJECTS.get(kind, "c.name = :conversation"): choice.project,
        "julianday(m.created_at) >= julianday(:since)": choice.since,
    }
    return [*(clause for clause, value in clauses.items() if value is not None)] or ["true"]
