"""Facts and their steps as both stores keep them: values and tags are JSON as text."""

import json
from typing import Any

from memory_server.domain.fact import Action, Fact, FactChange, Home, Scope, is_plain

FACT = """
    id, key, scope, owner, value, tags, version, access_count,
    created_at, updated_at, accessed_at, expires_at, created_by, updated_by, writer, origin
"""
"""The columns of a fact, in the order of `fact`."""

CHANGE = """
    id, scope, owner, key, version, action, value, tags, expires_at, changed_at, changed_by, origin
"""
"""The columns of a step, in the order of `change`."""


def fact(row: tuple[Any, ...]) -> Fact:
    """A row of `facts`."""
    return Fact(
        id=row[0],
        key=row[1],
        home=Home(Scope(row[2]), row[3]),
        value=value_of(row[4]),
        tags=tags_of(row[5]),
        version=row[6],
        access_count=row[7],
        created_at=row[8],
        updated_at=row[9],
        accessed_at=row[10],
        expires_at=row[11],
        created_by=row[12],
        updated_by=row[13],
        writer=row[14],
        origin=row[15],
    )


def change(row: tuple[Any, ...]) -> FactChange:
    """A row of `fact_history`."""
    return FactChange(
        number=row[0],
        home=Home(Scope(row[1]), row[2]),
        key=row[3],
        version=row[4],
        action=Action(row[5]),
        value=value_of(row[6]),
        tags=tags_of(row[7]),
        expires_at=row[8],
        changed_at=row[9],
        changed_by=row[10],
        origin=row[11],
    )


def as_json(value: object) -> str:
    """JSON as the database keeps it: UTF-8, numbers and texts as they came."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def value_of(text: str) -> Any:
    """The value; its bare text where a person has put in what no client could read: 1e999, hundreds of levels."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if is_plain(value) else text


def tags_of(text: str) -> tuple[str, ...]:
    """A person may have put numbers among them."""
    return () if text == "[]" else tuple(str(tag) for tag in json.loads(text))
