"""Turns the filter of a search into SQL clauses on the table of its kind."""

import json
from itertools import chain, combinations

from memory_server.domain.fact import FactFilter
from memory_server.domain.injection import CAPTURED
from memory_server.domain.memory import Filter
from memory_server.domain.short_term import SaidFilter
from memory_server.sqlite.tx import Value
from memory_server.storage.json_text import as_json
from memory_server.storage.memory_rows import OUTSIDE
from memory_server.storage.vectors import TextFilter

_NOT_HIDDEN = """
    NOT (
        m.scope = ? AND m.owner = ? AND EXISTS (
            SELECT 1
            FROM facts AS narrow
            WHERE narrow.scope = ? AND narrow.owner = ? AND narrow.key = m.key
                AND (narrow.expires_at IS NULL OR narrow.expires_at > ?)
        )
    )
"""
"""The fact is not one of a wide scope that a narrow one hides, because its key has a value there.

Its values: scope and owner of the wide one, scope and owner of the narrow one, now.
"""


def conditions(filter: TextFilter, now: str) -> tuple[list[str], list[Value]]:
    """Return the clauses of a filter on the table of its kind AS m, beside their values."""
    match filter:
        case FactFilter():
            return _facts(filter, now)
        case SaidFilter():
            return _said(filter)
        case Filter():
            return _memories(filter)


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
    other_filter = Filter(
        tags=filter.tags, since=filter.since, until=filter.until, confirmed=filter.confirmed
    )
    if other_filter != Filter():
        other_clauses, other_values = _memories(other_filter)
        clauses.append(f"b.memory_id IN (SELECT m.id FROM memories AS m WHERE {' AND '.join(other_clauses)})")
        values += other_values
    return clauses, values


def _memories(filter: Filter) -> tuple[list[str], list[Value]]:
    """Return the clauses on `memories AS m`, beside their values."""
    clauses: list[str] = []
    values: list[Value] = []
    if filter.type is not None:
        clauses.append("m.type = ?")
        values.append(filter.type.value)
    if filter.project is not None:
        clauses.append("ifnull(m.project, '') = ?")
        values.append(filter.project)
    if filter.min_importance is not None:
        clauses.append("m.importance >= ?")
        values.append(filter.min_importance)
    if filter.tags:
        clauses.append(
            "EXISTS (SELECT 1 FROM json_each(m.tags) AS t JOIN json_each(?) AS w ON lower(t.value) = lower(w.value))"
        )
        values.append(as_json(filter.tags))
    if filter.transcripts is not None:
        clauses.append("m.transcript = ?")
        values.append(int(filter.transcripts))
    if filter.confirmed:
        clauses += ["m.origin NOT LIKE ?"] * len(OUTSIDE)
        values += OUTSIDE
    for sign, moment in ((">=", filter.since), ("<", filter.until)):
        if moment is not None:
            clauses.append(f"julianday(ifnull(m.occurred_at, m.created_at)) {sign} julianday(?)")
            values.append(moment)
    return clauses, values


def _facts(filter: FactFilter, now: str) -> tuple[list[str], list[Value]]:
    """Return clauses on `facts AS m` and their values; what has expired never passes."""
    clauses: list[str] = ["(m.expires_at IS NULL OR m.expires_at > ?)"]
    values: list[Value] = [now]
    if filter.homes is not None:
        # The + keeps SQLite from reading all facts of these scopes where few are asked for.
        clauses.append(" OR ".join("(+m.scope = ? AND +m.owner = ?)" for _ in filter.homes).join("()"))
        values += chain.from_iterable((home.scope.value, home.owner) for home in filter.homes)
        for narrow, wide in combinations(filter.homes, 2):
            clauses.append(_NOT_HIDDEN)
            values += [wide.scope.value, wide.owner, narrow.scope.value, narrow.owner, now]
    for sign, moment in ((">=", filter.since), ("<", filter.until)):
        if moment is not None:
            clauses.append(f"julianday(m.updated_at) {sign} julianday(?)")
            values.append(moment)
    return clauses, values


def _said(filter: SaidFilter) -> tuple[list[str], list[Value]]:
    """Return the clauses on `short_term_memories AS m`, beside their values."""
    clauses: list[str] = []
    values: list[Value] = []
    if filter.conversations is not None:
        clauses.append(
            "m.conversation_id IN (SELECT id FROM conversations WHERE name IN (SELECT value FROM json_each(?)))"
        )
        values.append(json.dumps(filter.conversations))
    if filter.captured is not None:
        clauses.append("(rtrim(ifnull(m.created_by, ''), ')') LIKE ?) = ?")
        values += [f"%{CAPTURED}", filter.captured]
    for sign, moment in ((">=", filter.since), ("<", filter.until)):
        if moment is not None:
            clauses.append(f"julianday(m.said_at) {sign} julianday(?)")
            values.append(moment)
    return clauses, values
