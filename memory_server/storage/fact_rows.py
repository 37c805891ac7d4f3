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
    id, key, scope, owner, value, tags, *remaining = row
    return Fact(id, key, Home(Scope(scope), owner), value_of(value), tags_of(tags), *remaining)


def change(row: tuple[Any, ...]) -> FactChange:
    """A row of `fact_history`."""
    number, scope, owner, key, version, action, value, tags, *remaining = row
    home = Home(Scope(scope), owner)
    return FactChange(number, home, key, version, Action(action), value_of(value), tags_of(tags), *remaining)


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
