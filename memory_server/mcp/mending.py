"""Finds the value that a wrong one probably means. Only suggestions come from here."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_core import ErrorDetails

from memory_server.mcp.meanings import value_for

_SPEAKER = re.compile(r"(?:^|\n)\s*(user|human|assistant|ai|system|用户|助手)\s*[:：]\s*", re.IGNORECASE)
_ROLES = {"human": "user", "用户": "user", "ai": "assistant", "助手": "assistant"}


def mended(
    name: str, value: Any, schema: Mapping[str, Any], errors: Sequence[ErrorDetails]
) -> tuple[Any, bool]:
    """Return the value that was probably meant, None where that cannot be said; and whether it is only a part of it."""
    values = schema.get("enum") or schema.get("x-values")
    if isinstance(value, list) and value and schema.get("type") != "array":
        if schema.get("type") == "object":
            return _object(value), False
        first, _ = mended(name, value[0], schema, []) if values else (value[0], False)
        return first, len(value) > 1
    if values:
        return value_for(name, value, values), False
    match schema.get("type"):
        case "array" if "role" in schema.get("items", {}).get("properties", ()):
            return _messages(value), False
        case "array":
            return _list(value, schema, errors)
        case "integer" | "number" if "x-handle" not in schema:
            return _number(value, schema), False
        case "object":
            return _object(value), False
    return None, False


def _list(value: Any, schema: Mapping[str, Any], errors: Sequence[ErrorDetails]) -> tuple[Any, bool]:
    """Return the right entries, as many as are allowed."""
    if isinstance(value, dict):
        return list(value), False
    if isinstance(value, str):
        value = [part.strip(" \"'") for part in value.strip(" []").split(",")]
        errors = []
    if not isinstance(value, list):
        return None, False
    places = {error["loc"][1] for error in errors if len(error["loc"]) > 1}
    choices = schema.get("items", {}).get("enum", [])
    meant = [
        value_for("kinds", item, choices) if place in places else item for place, item in enumerate(value)
    ]
    right = [item for item in meant if item is not None]
    longest = next(
        (error["ctx"]["max_length"] for error in errors if error["type"] == "too_long"), len(right)
    )
    right = right[: schema.get("maxItems", longest)]
    return right or None, bool(right) and len(right) < len(value)


def _number(value: Any, schema: Mapping[str, Any]) -> Any:
    """Return the nearest number that is allowed."""
    if isinstance(value, bool) or not isinstance(value, int | float) or "maximum" not in schema:
        return None
    low, high = schema["minimum"], schema["maximum"]
    if schema["type"] == "number":
        return value / 100 if high < value <= 100 else min(max(value, low), high)
    if high == 10 and value > high:
        return int(min(max(value / 10, low), high) + 0.5)  # of 100
    return int(min(max(value, low), high) + 0.5)


def _object(value: Any) -> Any:
    """Return an object of what is none."""
    return None if isinstance(value, dict) else {"value": value}


def _messages(value: Any) -> Any:
    """Return messages of a text in which several speak, of texts, and of parts without a role or with a wrong date."""
    if isinstance(value, str):
        return _spoken(value)
    items = value if isinstance(value, list) else [value]
    messages = [_message(item) for item in items]
    return messages if messages and all(messages) else None


def _message(item: Any) -> dict[str, Any] | None:
    if not isinstance(item, dict):
        return {"role": "user", "content": str(item)} if isinstance(item, str | int | float) else None
    content = item.get("content")
    return {"role": item.get("role") or "user", "content": content} if isinstance(content, str) else None


def _spoken(text: str) -> list[dict[str, str]] | None:
    if not text.strip():
        return None
    speakers = list(_SPEAKER.finditer(text))
    if not speakers:
        return [{"role": "user", "content": text.strip()}]
    ends = [*(match.start() for match in speakers[1:]), len(text)]
    return [
        {"role": _ROLES.get(match[1].lower(), match[1].lower()), "content": text[match.end() : end].strip()}
        for match, end in zip(speakers, ends, strict=True)
    ]
