"""Messages of a conversation in the shapes in which clients keep them."""

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
"""What LangChain's `type` of a message says of who speaks."""

_FOLDED = {fold(name): part for part, names in PARTS.items() for name in names}
_OWN_SHAPE = frozenset({"parts"})
"""A name that belongs to a shape, and is not told: the `parts` of Gemini."""

_TOOL_CALLS = frozenset({"toolcalls", "functioncall", "tooluse"})
"""What a message has instead of a content."""

_SPOKEN = re.compile(r"\s*(?:user|human|assistant|ai|system|用户|助手)\s*[:：]", re.IGNORECASE)
"""How the text of a conversation begins in which several speak."""

TOLD = 6
"""Differences that are told of all messages of a call."""

NO_ROLES = "does not say who said what"


class UnclearError(ValueError):
    """A value that could mean two things, or none; the text says why."""


def understood_messages(name: str, given: Any, notes: list[str]) -> Any:
    """The messages as a list of {role, content, …}; unchanged what is no list, object or text.

    Raises:
        UnclearError: it is not clear who said what.
    """
    if isinstance(given, str):
        given = _of_text(given)
    if isinstance(given, dict) and list(map(fold, given)) == ["messages"]:
        (given,) = given.values()
    if isinstance(given, dict | str):
        given = [given]
    if not isinstance(given, list):
        return given
    told: dict[str, None] = {}
    messages = [_message(_from_text(each), len(given) == 1, told) for each in given]
    more = ["more was left out"] if len(told) > TOLD else []
    notes.extend(f"{name}: {each}." for each in [*list(told)[:TOLD], *more])
    return messages


def _of_text(text: str) -> Any:
    """What a text holds as JSON, else the text of one message."""
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


def _from_text(given: Any) -> Any:
    """A message or messages that were sent as JSON text; unchanged what is none."""
    if not isinstance(given, str) or not given.lstrip().startswith(("{", "[")):
        return given
    try:
        decoded = from_json(given)
    except ValueError:
        return given
    return decoded if isinstance(decoded, dict | list) else given


def _message(given: Any, alone: bool, told: dict[str, None]) -> Any:
    if isinstance(given, str):
        if not alone:
            raise UnclearError(f"is a list of texts, which {NO_ROLES}: give each message a role")
        told["the text was read as one message with role user"] = None
        return {"role": "user", "content": given}
    if not isinstance(given, dict):
        return given
    if len(given) == 1 and isinstance(text := next(iter(given.values())), str):
        (role,) = given
        if fold(role) in ROLES:
            return {"role": fold(role), "content": text}
    return _of_parts(given, alone, told)


def _of_parts(given: Mapping[str, Any], alone: bool, told: dict[str, None]) -> dict[str, Any]:
    """The message with its parts under their names; what is no part of a message is left out and told."""
    message: dict[str, Any] = {}
    ordered = sorted(
        given.items(), key=lambda item: fold(item[0]) not in PARTS
    )  # own names before other ones
    for written, value in ordered:
        part = "role" if fold(written) == "type" and value in TYPES else _FOLDED.get(fold(written))
        if part is None or part in message:
            told[f"`{written}` was left out"] = None
        elif part in ("name", "timestamp") and value in (None, ""):
            continue
        else:
            message[part] = _content(value, told) if part == "content" else value
            if fold(written) not in (part, *_OWN_SHAPE):
                told[f"`{written}` was read as `{part}`"] = None
    if "content" not in message and _TOOL_CALLS.intersection(map(fold, given)):
        message["content"] = ""
    if "role" not in message and alone and "content" in message:
        told["the message was read as one with role user"] = None
        message["role"] = "user"
    return message


def _content(value: Any, told: dict[str, None]) -> Any:
    """The text of a content that is a text, a number, a part such as {type: text, text}, or a list of parts."""
    if isinstance(value, dict):
        value = [value]
    if isinstance(value, list):
        texts = [_part(each, told) for each in value]
        return "\n".join(text for text in texts if text is not None)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _part(part: Any, told: dict[str, None]) -> str | None:
    """The text of a part of a content; None where it is an image, the result of a tool or the like."""
    if isinstance(part, str):
        return part
    text = part.get("text") if isinstance(part, dict) else None
    if isinstance(text, str):
        return text
    kind = part.get("type") if isinstance(part, dict) else None
    told[f"a part of the content, {kind if isinstance(kind, str) else 'without text'}, was left out"] = None
    return None
