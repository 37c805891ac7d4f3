"""Reads the messages of a conversation in the shapes in which clients keep them."""

import re
from collections.abc import Mapping
from typing import Any

from pydantic_core import from_json

from memory_server.mcp.forgiving.names import fold

PARTS = {
    "role": ("role", "sender", "speaker", "author", "from"),
    "content": ("content", "text", "message", "body", "parts", "value"),
    "timestamp": ("timestamp", "time", "date", "created at", "sent at", "ts"),
    "name": ("name",),
}
"""The parts of a message, and other names of each."""

ROLES = frozenset({"user", "assistant", "system"})
TYPES = ROLES | {"human", "ai"}
"""The values of LangChain's `type` of a message, which name the speaker."""

_FOLDED = {fold(name): part for part, names in PARTS.items() for name in names}
_OWN_SHAPE = frozenset({"parts"})
"""A name that belongs to a shape and needs no note: the `parts` of Gemini."""

_TOOL_CALLS = frozenset({"toolcalls", "functioncall", "tooluse"})
"""Keys of a message that has a call of a tool instead of a content."""

_SPOKEN = re.compile(r"\s*(?:user|human|assistant|ai|system|用户|助手)\s*[:：]", re.IGNORECASE)
"""The beginning of one text in which several people speak."""

TOLD = 6
"""Differences of all messages of a call that are noted."""

NO_ROLES = "does not say who said what"


class UnclearError(ValueError):
    """A value that could mean two things, or none; the text says why."""


def understood_messages(name: str, value: Any, notes: list[str]) -> Any:
    """Return the messages as a list of {role, content, …}; a value that is no list, object or text stays as it is.

    Raises:
        UnclearError: it is not clear who said what.
    """
    if isinstance(value, str):
        value = _of_text(value)
    if isinstance(value, dict) and list(map(fold, value)) == ["messages"]:
        (value,) = value.values()
    if isinstance(value, dict | str):
        value = [value]
    if not isinstance(value, list):
        return value
    differences: dict[str, None] = {}
    messages = [_message(_from_text(item), len(value) == 1, differences) for item in value]
    more = ["more was left out"] if len(differences) > TOLD else []
    notes.extend(f"{name}: {item}." for item in [*list(differences)[:TOLD], *more])
    return messages


def _of_text(text: str) -> Any:
    """Decode a text that is JSON, or take it as the text of one message."""
    decoded = _from_text(text)
    if isinstance(decoded, list):
        return decoded
    if isinstance(decoded, dict):
        if not any(fold(key) in _FOLDED or fold(key) in ROLES for key in decoded):
            raise UnclearError("is a JSON object without role and content")
        return decoded
    if not text.strip():
        raise UnclearError("has no visible character")
    if _SPOKEN.match(text):
        raise UnclearError(f"is one text, which {NO_ROLES}: split it into messages with role and content")
    return text


def _from_text(value: Any) -> Any:
    """Decode a message or messages that were sent as JSON text; any other value stays as it is."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return value
    try:
        decoded = from_json(value)
    except ValueError:
        return value
    return decoded if isinstance(decoded, dict | list) else value


def _message(value: Any, alone: bool, differences: dict[str, None]) -> Any:
    if isinstance(value, str):
        if not alone:
            raise UnclearError(f"is a list of texts, which {NO_ROLES}: give each message a role")
        differences["the text was read as one message with role user"] = None
        return {"role": "user", "content": value}
    if not isinstance(value, dict):
        return value
    if len(value) == 1 and isinstance(text := next(iter(value.values())), str):
        (role,) = value
        if fold(role) in ROLES:
            return {"role": fold(role), "content": text}
    return _of_parts(value, alone, differences)


def _of_parts(sent: Mapping[str, Any], alone: bool, differences: dict[str, None]) -> dict[str, Any]:
    """Return the message with its parts under their names; other keys are left out and noted."""
    message: dict[str, Any] = {}
    ordered = sorted(sent.items(), key=lambda item: fold(item[0]) not in PARTS)  # own names before other ones
    for written, value in ordered:
        part = "role" if fold(written) == "type" and value in TYPES else _FOLDED.get(fold(written))
        if part is None or part in message:
            differences[f"`{written}` was left out"] = None
        elif part in ("name", "timestamp") and value in (None, ""):
            continue
        else:
            message[part] = _content(value, differences) if part == "content" else value
            if fold(written) not in (part, *_OWN_SHAPE):
                differences[f"`{written}` was read as `{part}`"] = None
    if "content" not in message and _TOOL_CALLS.intersection(map(fold, sent)):
        message["content"] = ""
    if "role" not in message and alone and "content" in message:
        differences["the message was read as one with role user"] = None
        message["role"] = "user"
    return message


def _content(value: Any, differences: dict[str, None]) -> Any:
    """Return the text of a content that is a text, a number, a part such as {type: text, text}, or a list of parts."""
    if isinstance(value, dict):
        value = [value]
    if isinstance(value, list):
        texts = [_part(part, differences) for part in value]
        return "\n".join(text for text in texts if text is not None)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _part(part: Any, differences: dict[str, None]) -> str | None:
    """Return the text of a part of a content; None where it is an image, the result of a tool or the like."""
    if isinstance(part, str):
        return part
    text = part.get("text") if isinstance(part, dict) else None
    if isinstance(text, str):
        return text
    kind = part.get("type") if isinstance(part, dict) else None
    differences[
        f"a part of the content, {kind if isinstance(kind, str) else 'without text'}, was left out"
    ] = None
    return None
