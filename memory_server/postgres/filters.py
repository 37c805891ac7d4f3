"""What a search wants, as clauses on the table of its kind."""

from typing import Any

from memory_server.domain.fact import FactFilter
from memory_server.domain.memory import Filter
from memory_server.domain.short_term import SaidFilter
from memory_server.storage.vectors import TextFilter

Clauses = tuple[list[str], list[Any]]


def conditions(wanted: TextFilter, now: str) -> Clauses:
    """A filter as clauses on the table of its kind AS m, beside their values."""
    match wanted:
        case FactFilter():
            return _facts(wanted, now)
        case SaidFilter():
            return _said(wanted)
        case Filter():
            return memories(wanted)


def memories(wanted: Filter) -> Clauses:
    """The same on memories or turns."""
    clauses: list[str] = []
    values: list[Any] = []
    if wanted.type is not None:
        clauses.append("m.type = %s")
        values.append(wanted.type.value)
    if wanted.project:
        clauses.append("m.project = %s")
        values.append(wanted.project)
    elif wanted.project is not None:
        clauses.append("(m.project IS NULL OR m.project = '')")
    if wanted.min_importance is not None:
        clauses.append("m.importance >= %s")
        values.append(wanted.min_importance)
    if wanted.tags:
        clauses.append(
            """
            EXISTS (
                SELECT 1
                FROM jsonb_array_elements_text(readable_json(m.tags)) AS t (tag)
                JOIN unnest(%s::text[]) AS w (tag) ON lower(t.tag COLLATE "C") = lower(w.tag COLLATE "C")
            )
            """
        )
        values.append(list(wanted.tags))
    moments, others = _between("coalesce(m.occurred_at, m.created_at)", wanted.since, wanted.until)
    return [*clauses, *moments], [*values, *others]


def _facts(wanted: FactFilter, now: str) -> Clauses:
    """What has expired never passes."""
    clauses: list[str] = ["(m.expires_at IS NULL OR m.expires_at > %s)"]
    values: list[Any] = [now]
    if wanted.homes is not None:
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
        values += [[home.scope.value for home in wanted.homes], [home.owner for home in wanted.homes], now]
    moments, others = _between("m.updated_at", wanted.since, wanted.until)
    return [*clauses, *moments], [*values, *others]


def _said(wanted: SaidFilter) -> Clauses:
    clauses: list[str] = []
    values: list[Any] = []
    if wanted.conversations is not None:
        clauses.append("m.conversation_id IN (SELECT id FROM conversations WHERE name = ANY (%s))")
        values.append(list(wanted.conversations))
    moments, others = _between("m.said_at", wanted.since, wanted.until)
    return [*clauses, *moments], [*values, *others]


def _between(moment: str, since: str | None, until: str | None) -> Clauses:
    found = [
        (f"as_moment({moment}) {sign} as_moment(%s)", at)
        for sign, at in ((">=", since), ("<", until))
        if at is not None
    ]
    return [clause for clause, _ in found], [at for _, at in found]
