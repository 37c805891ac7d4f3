"""JSON as a database keeps it, as text, and how it is read again."""

import json
from typing import Any

from memory_server.domain.fact import is_plain
from memory_server.language.text import without_lone_surrogates


def as_json(value: object) -> str:
    """JSON as the database keeps it: readable, UTF-8."""
    return json.dumps(value, ensure_ascii=False)


def from_json(text: str, kind: Any) -> Any:
    """JSON that a hand edit may have made: an object that Python cannot read is shown as its text, whole."""
    if text in ("[]", "{}"):
        return [] if text == "[]" else {}
    try:
        return json.loads(without_lone_surrogates(text))
    except (ValueError, RecursionError):
        return {"unreadable": text} if kind == {} else []


def plain(text: str, kind: Any) -> Any:
    """JSON that a person may have written: what no client can read is kept as its text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, type(kind)) and is_plain(value):
        return value
    return {"unreadable": text} if kind == {} else [text]
