"""Rows as records, and records as rows: the columns of each kind of record and the form of its JSON."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Generic, TypeVar

from memory_server.domain.effect import Effect
from memory_server.domain.exchange.records import (
    Capture,
    ConversationRecord,
    Earlier,
    EdgeRecord,
    FactRecord,
    FactStep,
    LongTermRecord,
    MemoryRecord,
    ProjectRecord,
    QuestionRecord,
    RuleRecord,
    ShortTermRecord,
    TurnRecord,
    UseRecord,
    WakeRecord,
    place,
)
from memory_server.storage.columns import BY_NAME, Table, listed
from memory_server.storage.fact_rows import as_json, value_of
from memory_server.storage.json_text import plain

Made = TypeVar("Made")


def _texts(text: Any) -> tuple[str, ...]:
    return tuple(map(str, plain(text, [])))


_READ: Final[Mapping[str, Callable[[Any], Any]]] = {
    "metadata": lambda text: plain(text, {}),
    "effect": Effect,
    "holds": _texts,
    "off": bool,
    "passes": _texts,
    "slow": int,
    "tags": lambda text: tuple(plain(text, [])),
    "value": value_of,
}
"""How a column is read whose value in a record is another one than in the row."""


@dataclass(frozen=True, slots=True)
class Shape(Generic[Made]):
    """The columns of a table that are fields of a record under the same names; the row's id is none of them."""

    record: type[Made]
    table: Table
    columns: tuple[str, ...]

    def listed(self, alias: str = "") -> str:
        """Return the columns for a SELECT, such as `m."name", m."prompt"`."""
        return listed(self.columns, alias)

    def insertion(self, *more_columns: str) -> str:
        """Return the statement that inserts a row with other columns, too.

        `WAKE.insertion("memory_id")` is `INSERT INTO wakes ("memory_id", "at", …) VALUES (:memory_id, :at, …)`.
        """
        columns = (*more_columns, *self.columns)
        marks = ", ".join(f":{column}" for column in columns)
        return f"INSERT INTO {self.table.name} ({listed(columns)}) VALUES ({marks})"

    def make(self, row: Iterable[Any], **other_fields: Any) -> Made:
        """Return the record of a row whose values are in the order of the columns. `other_fields` are the others."""
        for column, value in zip(self.columns, row, strict=True):
            other_fields[column] = _READ[column](value) if column in _READ else value
        return self.record(**other_fields)

    def values(self, record: object) -> dict[str, Any]:
        """Return the values of a record's row by column."""
        row = {}
        for column in self.columns:
            value = getattr(record, column)
            if column in self.table.json:
                value = as_json(dict(value) if isinstance(value, Mapping) else value)
            row[column] = bool(value) if column in self.table.flags else value
        return row


def _shape(record: type[Made], name: str) -> Shape[Made]:
    names = {field.name for field in fields(record)} - {"id"}  # type: ignore[arg-type]
    table = BY_NAME[name]
    return Shape(record, table, tuple(column for column in table.columns if column in names))


MEMORY: Final = _shape(MemoryRecord, "memories")
EARLIER: Final = _shape(Earlier, "memory_history")
EDGE: Final = _shape(EdgeRecord, "edges")
FACT: Final = _shape(FactRecord, "facts")
STEP: Final = _shape(FactStep, "fact_history")
TURN: Final = _shape(TurnRecord, "turns")
CONVERSATION: Final = _shape(ConversationRecord, "conversations")
SHORT_TERM: Final = _shape(ShortTermRecord, "short_term_memories")
LONG_TERM: Final = _shape(LongTermRecord, "long_term_memories")
WAKE: Final = _shape(WakeRecord, "wakes")
RULE: Final = _shape(RuleRecord, "rules")
PROJECT: Final = _shape(ProjectRecord, "projects")
CAPTURE: Final = _shape(Capture, "hook_captures")
USE: Final = _shape(UseRecord, "memory_uses")
QUESTION: Final = _shape(QuestionRecord, "open_questions")

TABLES: Final = {"memory": "memories", "turn": "turns", "short_term": "short_term_memories"}
"""By kind, the tables of the items that have an own id."""


def edge_order(edge: EdgeRecord) -> tuple[Any, ...]:
    """Return the sort key of an edge in an export."""
    return place(edge.source), place(edge.target), edge.relation, edge.valid_from, edge.valid_to or "~"
