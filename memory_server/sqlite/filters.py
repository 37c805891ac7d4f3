"""Turns the filter of a search into SQL clauses on the table of its kind."""

from memory_server.domain.fact import FactFilter
from memory_server.domain.memory import Filter
from memory_server.domain.short_term import SaidFilter
from memory_server.sqlite import facts, memories, short_term
from memory_server.sqlite.tx import Value
from memory_server.storage.vectors import TextFilter


def conditions(filter: TextFilter, now: str) -> tuple[list[str], list[Value]]:
    """Return the clauses of a filter on the table of its kind AS m, beside their values."""
    match filter:
        case FactFilter():
            return facts.conditions(filter, now)
        case SaidFilter():
            return short_term.conditions(filter)
        case Filter():
            return memories.conditions(filter)


def bit_rows(space_id: int, filter: Filter) -> tuple[list[str], list[Value]]:
    """Return the clauses of a filter on the rows of a space in `embedding_bits` AS b, beside their values."""
    clauses = ["b.space_id = ?"]
    values: list[Value] = [space_id]
    if filter.project is not None:
        clauses.append("b.project = ?")
        values.append(filter.project)
    if filter.type is not None:
        clauses.append("b.type = ?")
        values.append(filter.type.value)
    if filter.min_importance is not None:
        clauses.append("b.importance >= ?")
        values.append(filter.min_importance)
    other_filter = Filter(tags=filter.tags, since=filter.since, until=filter.until)
    if other_filter != Filter():
        other_clauses, other_values = memories.conditions(other_filter)
        clauses.append(f"b.memory_id IN (SELECT m.id FROM memories AS m WHERE {' AND '.join(other_clauses)})")
        values += other_values
    return clauses, values
