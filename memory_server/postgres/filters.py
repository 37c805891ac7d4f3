"""Turns the filter of a search into SQL clauses on the table of its kind."""

from typing import Any

from memory_server.domain.fact import FactFilter
from memory_server.domain.injection import CAPTURED
from memory_server.domain.memory import Filter
from memory_server.domain.short_term import SaidFilter
from memory_server.storage.memory_rows import OUTSIDE
from memory_server.storage.vectors import TextFilter

Clauses = tuple[list[str], list[Any]]


def conditions(filter: TextFilter, now: str) -> Clauses:
    """Return the clauses of a filter on the table of its kind AS m, beside their values."""
    match filter:
        case FactFilter():
            return _facts(filter, now)
        case SaidFilter():
            return _said(filter)
        case Filter():
            return memories(filter)


def memories(filter: Filter) -> Clauses:
    """Return the clauses of a filter on memories or turns AS m, beside their values."""
    clauses: list[str] = []
    values: list[Any] = []
    if filter.type is not None:
        clauses.append("m.type = %s")
        values.append(filter.type.value)
    if filter.project:
        clauses.append("m.project = %s")
        values.append(filter.project)
    elif filter.project is not None:
        clauses.append("(m.project IS NULL OR m.project = '')")
    if filter.min_importance is not None:
        clauses.append("m.importance >= %s")
        values.append(filter.min_importance)
    if filter.tags:
        clauses.append(
            """
            EXISTS (
                SELECT 1
                FROM jsonb_array_elements_text(readable_json(m.tags)) AS t (tag)
                JOIN unnest(%s::text[]) AS w (tag) ON lower(t.tag COLLATE "C") = lower(w.tag COLLATE "C")
            )
            """
        )
        values.append(list(filter.tags))
    if filter.transcripts is not None:
        clauses.append("m.transcript = %s")
        values.append(int(filter.transcripts))
    if filter.confirmed:
        clauses += ["m.origin NOT LIKE %s"] * len(OUTSIDE)
        values += OUTSIDE
    moments, moment_values = _between("coalesce(m.occurred_at, m.created_at)", filter.since, filter.until)
    return [*clauses, *moments], [*values, *moment_values]


def _facts(filter: FactFilter, now: str) -> Clauses:
    """Return the clauses on facts AS m; an expired fact never passes."""
    clauses: list[str] = ["(m.expires_at IS NULL OR m.expires_at > %s)"]
    values: list[Any] = [now]
    if filter.homes is not None:
        clauses.append(
            """
            m.id IN (
                SELECT DISTINCT ON (f.key) f.id
                FROM unnest(%s::text[], %s::text[]) WITH ORDINALITY AS h (scope, owner, place)
                JOIN facts AS f ON f.scope = h.scope AND f.owner = h.owner
                WHERE f.expires_at IS NULL OR f.expires_at > %s
                ORDER BY f.key, h.place
            )
            """
        )
        values += [[home.scope.value for home in filter.homes], [home.owner for home in filter.homes], now]
    moments, moment_values = _between("m.updated_at", filter.since, filter.until)
    return [*clauses, *moments], [*values, *moment_values]


def _said(filter: SaidFilter) -> Clauses:
    clauses: list[str] = []
    values: list[Any] = []
    if filter.conversations is not None:
        clauses.append("m.conversation_id IN (SELECT id FROM conversations WHERE name = ANY (%s))")
        values.append(list(filter.conversations))
    if filter.captured is not None:
        clauses.append("(rtrim(coalesce(m.created_by, ''), ')') LIKE %s) = %s")
        values += [f"%{CAPTURED}", filter.captured]
    moments, moment_values = _between("m.said_at", filter.since, filter.until)
    return [*clauses, *moments], [*values, *moment_values]


def _between(moment: str, since: str | None, until: str | None) -> Clauses:
    bounds = [
        (f"as_moment({moment}) {sign} as_moment(%s)", bound)
        for sign, bound in ((">=", since), ("<", until))
        if bound is not None
    ]
    return [clause for clause, _ in bounds], [bound for _, bound in bounds]
