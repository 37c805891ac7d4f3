"""The values of arguments: text, numbers and lists in the type that the schema wants."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from pydantic_core import from_json

from memory_server.domain.handles import read as read_handle
from memory_server.language.counts import whole
from memory_server.language.telling import telling
from memory_server.mcp.forgiving.conversation import UnclearError, understood_messages
from memory_server.mcp.forgiving.names import fold
from memory_server.mcp.forgiving.readings import NOTHING, READINGS
from memory_server.mcp.forgiving.times import understood_time
from memory_server.mcp.forgiving.words import EVERY, SAME_VALUE
from memory_server.mcp.forgiving.words import VALUES as FOREIGN

CLAMPED = frozenset({"limit", "depth", "max_tokens"})
"""Parameters that only say how much is shown: above the maximum, the maximum is what comes nearest."""

HANDLES = {"m": "memory", "t": "turn", "s": "short-term memory", "f": "fact", "w": "long-term memory"}
"""What the letter before an id means, where an answer lists things of several kinds: `[m12]`."""

_WORDS = {"memory": "m", "mem": "m", "turn": "t"}
"""Words that are written before an id instead of its letter."""

NAMED = {"key": "f", "name": "w"}
"""Parameters that take the text of a handle such as `[f current.task]`."""

FILTERS = frozenset({"type", "relation", "kinds", "scope", "include_context"})
"""Filters without which everything passes."""

SHOWN = 100
"""Characters of a query that a note shows: enough to see which part was used."""

_TRUE = frozenset("true yes on 1 y t ja oui si sí 是 是的 对 真 开".split())
_FALSE = frozenset("false no off 0 n f nein non 否 不 不是 假 关".split())
_WHOLE = re.compile(r"[+-]?\d{1,19}(?:\.0+)?")
_NUMBER = re.compile(r"[+-]?\d{1,15}(?:\.\d{1,17})?")
_HANDLE = re.compile(r"\[?\s*#?(?:([a-z]+)[\s_#:-]*|#?)(\d{1,19})\s*\]?", re.IGNORECASE)
_NAMED_HANDLE = re.compile(r"\[([a-z]) (.+)\]")
_UNIT = re.compile(r"\s*(?:results?|items?|memories|entries|tokens?|turns|hits|条|个|则)$", re.IGNORECASE)
_PAIR = re.compile(r"([\w.-]{1,200})\s*[:=]\s*(?!//)(\S.*)")
_QUOTED = re.compile(r"\[\s*'[^'\\]*'(?:\s*,\s*'[^'\\]*')*\s*\]")
"""A list of texts as Python writes it."""

_BETWEEN_TEXTS = re.compile(r"[,，、;；\n]")
_BETWEEN_NUMBERS = re.compile(r"(?:[\s,，、;；&+]|\b(?:and|und|et|y)\b|和)+", re.IGNORECASE)
_MOST_EXACT = 2.0**53
"""Up to here each whole number is a double of its own."""

ABSENT = object()
"""What is understood where a value says that nothing is given."""


def understood(name: str, value: Any, schema: Mapping[str, Any], notes: list[str], *, filters: bool) -> Any:
    """The value in the type of its parameter, unchanged where it has no such reading, or ABSENT.

    `filters`: the tool only reads, so that a filter of `all` is none.

    Raises:
        UnclearError: what it means is not clear.
    """
    kind = schema.get("type")
    if not isinstance(kind, str):  # any JSON: exact
        return value
    if value is None or (schema.get("x-optional") and _says_nothing(value, schema)):
        return ABSENT
    if kind not in ("array", "object") and schema.get("x-read") != "trigger":
        value = _one(value)
    if "x-read" in schema:
        value = READINGS[schema["x-read"]](name, value, notes, filters)
    if "x-time" in schema:
        value = understood_time(name, value, schema["x-time"], notes)
        if value is None and schema.get("x-optional"):
            return ABSENT
    if filters and schema.get("x-optional") and name in FILTERS and _is_every(value):
        notes.append(f"{name}: `{_one(value)}` was read as no filter.")
        return ABSENT
    match kind:
        case "integer" if "x-handle" in schema:
            return _id(name, value, schema["x-handle"], notes, words=filters)
        case "integer":
            return _clamped(name, _counted(name, value, schema, notes), schema, notes)
        case "number":
            return _number(name, value, schema, notes)
        case "boolean":
            return _flag(value)
        case "array":
            return _items(name, value, schema, notes, filters)
        case "object":
            return _pairs(name, _decoded(value, dict), notes)
    values = schema.get("enum") or schema.get("x-values")
    if values:
        return _choice(name, value, values, notes)
    return _text(name, value, schema, notes)


def _is_every(value: Any) -> bool:
    value = _one(value)
    return isinstance(value, str) and FOREIGN.get(fold(value), fold(value)) in EVERY


def _one(value: Any) -> Any:
    """The only one of a list, or what is no list."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _says_nothing(value: Any, schema: Mapping[str, Any]) -> bool:
    if not isinstance(value, str) or schema.get("x-empty"):
        return False
    plain = schema["type"] == "string" and "enum" not in schema and "x-values" not in schema
    return not value.strip() or (not plain and value.strip().casefold() in NOTHING)


def _even(text: str) -> str:
    """The text with digits and marks of ordinary width, without blanks around."""
    return unicodedata.normalize("NFKC", text).strip()


def _whole(value: Any) -> Any:
    if isinstance(value, str) and _WHOLE.fullmatch(_even(value)):
        return int(_even(value).partition(".")[0])
    if isinstance(value, float) and value.is_integer() and abs(value) < _MOST_EXACT:
        return int(value)
    return value


def _counted(name: str, value: Any, schema: Mapping[str, Any], notes: list[str]) -> Any:
    """Read a number in words, and "all" where a number only says how much is shown."""
    number = _whole(value)
    if not isinstance(number, str):
        return number
    number = _UNIT.sub("", number)
    shows_all = name in CLAMPED and "maximum" in schema and _is_every(number)
    number = schema["maximum"] if shows_all else whole(number)
    if number is None:
        return value
    notes.append(f"{name}: `{value.strip()}` was read as {number}.")
    return number


def _number(name: str, value: Any, schema: Mapping[str, Any], notes: list[str]) -> Any:
    if not isinstance(value, str):
        return value
    text = _even(value)
    if _NUMBER.fullmatch(text):
        return float(text)
    share = text.removesuffix("%").strip()
    if text.endswith("%") and schema.get("maximum") == 1 and _NUMBER.fullmatch(share):
        notes.append(f"{name}: `{value.strip()}` was read as {float(share) / 100:g}.")
        return float(share) / 100
    return value


def _flag(value: Any) -> Any:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        word = str(_whole(value)).strip().casefold()
        return True if word in _TRUE else False if word in _FALSE else value
    return value


def _id(name: str, value: Any, handle: str, notes: list[str], *, words: bool) -> Any:
    """Read an id, with or without the letter of its kind; with `words` also in words."""
    if isinstance(value, dict) and list(map(fold, value)) in (["id"], ["memoryid"], ["ref"]):
        (value,) = value.values()
    number = _whole(value)
    if not isinstance(number, str):
        return number
    match = _HANDLE.fullmatch(_even(number))
    if match is None:
        in_words = whole(number) if words else None
        if in_words:
            notes.append(f"{name}: `{number.strip()}` was read as {in_words}.")
        return in_words or value
    kind = (match[1] or "").casefold()
    kind = _WORDS.get(kind, kind)
    if kind in ("", "id", handle):
        return int(match[2])
    if kind in HANDLES:
        raise UnclearError(
            f"is the handle of a {HANDLES[kind]}; this takes the id of a {HANDLES[handle]}, such as 12"
        )
    return value


def _clamped(name: str, value: Any, schema: Mapping[str, Any], notes: list[str]) -> Any:
    most = schema.get("maximum")
    if name not in CLAMPED or most is None or type(value) is not int or value <= most:
        return value
    notes.append(f"{name}: {value} is above the maximum, {most} was used.")
    return most


def _decoded(value: Any, kind: type) -> Any:
    """A list or an object that was sent as JSON text."""
    if not isinstance(value, str):
        return value
    try:
        decoded = from_json(value)  # refuses lone surrogates, which cannot be sent, and very deep nesting
    except ValueError:
        return value
    return decoded if isinstance(decoded, kind) else value


def _pairs(name: str, value: Any, notes: list[str]) -> Any:
    """Read a list of {key, value} or of "key: value", or one of these, as an object."""
    if isinstance(value, str) and _PAIR.fullmatch(value.strip()):
        value = [value]
    if not isinstance(value, list) or not value:
        return value
    pairs = [_pair(item) for item in value]
    named = dict(filter(None, pairs))
    if len(named) < len(value):
        return value
    notes.append(f"{name}: the list was read as an object.")
    return named


def _pair(item: Any) -> tuple[str, Any] | None:
    if isinstance(item, str):
        match = _PAIR.fullmatch(item.strip())
        return (match[1], match[2]) if match else None
    if not isinstance(item, dict):
        return None
    if len(item) == 1:
        return next(iter(item.items()))
    return (str(item["key"]), item["value"]) if item.keys() == {"key", "value"} else None


def _items(name: str, value: Any, schema: Mapping[str, Any], notes: list[str], filters: bool) -> Any:
    items = schema.get("items", {})
    if "role" in items.get("properties", ()):
        return understood_messages(name, value, notes)
    value = _decoded(value, list)
    if isinstance(value, str):
        value = _split(name, value, items, notes)
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        value = [value]
    if not isinstance(value, list):
        return value
    return [item if item is None else understood(name, item, items, notes, filters=filters) for item in value]


def _split(name: str, value: str, items: Mapping[str, Any], notes: list[str]) -> Any:
    if items.get("type") == "integer":
        parts = [part for part in _BETWEEN_NUMBERS.split(value.strip()) if part]
        return parts if all(_HANDLE.fullmatch(_even(part)) for part in parts) else [value]
    handles = re.split(r"\s*(?:[,，、;；&+]|\b(?:and|und|et|y)\b|和)\s*", value.strip())
    if name == "refs" and all(map(read_handle, handles)):
        if len(handles) == 1:
            return handles
        notes.append(f"{name}: the text was read as {len(handles)}: {' | '.join(handles)}.")
        return handles
    if "enum" in items or "x-values" in items:
        value = re.sub(r"\s+(?:and|or|und|oder|et|ou)\s+|\s*[&|+/]\s*|[和与]", ",", value)
    hashes = value.split()
    if name == "tags" and len(hashes) > 1 and all(re.fullmatch(r"#\w[\w-]*", word) for word in hashes):
        return [word[1:] for word in hashes]
    if _QUOTED.fullmatch(value.strip()):
        return re.findall(r"'([^']*)'", value)
    if value.strip().startswith("["):
        raise UnclearError('is not a JSON list: write it as ["a", "b"]')
    parts = [part.strip() for part in _BETWEEN_TEXTS.split(value) if part.strip()]
    if len(parts) > 1 and "enum" not in items:
        notes.append(f"{name}: the text was read as {len(parts)}: {' | '.join(parts)}.")
    return parts


def _choice(name: str, value: Any, values: Sequence[str], notes: list[str]) -> Any:
    if not isinstance(value, str) or value in values:
        return value
    choice = choice_of(name, value, values)
    if choice is None:
        return value
    if _singular(choice) != _singular(value):
        notes.append(f"{name}: `{value.strip()}` was read as `{choice}`.")
    return choice


def choice_of(name: str, word: str, values: Sequence[str]) -> str | None:
    """The value of a closed set that a word stands for; None where it stands for none."""
    meant = _meant(name, word)
    return next((choice for choice in values if _singular(choice) == _singular(meant)), None)


def _meant(name: str, value: str) -> str:
    """Return the value that a word stands for, in another language too; else the word."""
    word = FOREIGN.get(fold(value), value)
    words = {fold(synonym): choice for synonym, choice in SAME_VALUE.get(name, {}).items()}
    return words.get(fold(word)) or words.get(_singular(word)) or word


def _singular(word: str) -> str:
    folded = fold(word)
    return f"{folded[:-3]}y" if folded.endswith("ies") else folded.removesuffix("s")


def _text(name: str, value: Any, schema: Mapping[str, Any], notes: list[str]) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, float) and isfinite(value) and not value.is_integer():
        return str(value)  # 5.0 may stand for "5" or for "5.0"
    if not isinstance(value, str):
        return value
    handle = _NAMED_HANDLE.fullmatch(value.strip()) if name in NAMED else None
    if handle and handle[1] == NAMED[name]:
        notes.append(f"{name}: the handle `{value.strip()}` was read as `{handle[2]}`.")
        return handle[2]
    most = schema.get("x-cut")
    if most is not None and len(value.strip()) > most:
        short = telling(value, most)
        shown = short if len(short) <= SHOWN else f"{short[:SHOWN]}…"
        notes.append(f"{name}: of {len(value):,} characters (at most {most}) this part was used: {shown}")
        return short
    return value
