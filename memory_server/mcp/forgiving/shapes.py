"""Reads arguments whose name says how their value is meant: a prefix, a delay, an interval, a span of time."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from memory_server.language.text import by_word
from memory_server.mcp.forgiving.names import ENVELOPES, fold
from memory_server.mcp.forgiving.times import names_span
from memory_server.mcp.forgiving.words import NAMES

_INSIDE = frozenset({"filter", "filters", "options", "where", "updates", "fields", "changes"})
"""Names under which some arguments are sent in one object, beside others."""

_INTERVALS = "every repeat repeats interval frequency recurrence"
_DAYS = frozenset({"date", "day", "duedate", "when", "on"})
_TIMES = frozenset({"time", "hour", "clock", "at"})
_SPANS = frozenset({"date", "day", "on", "when", "period", "timerange", "daterange", "timeframe", "range"})
_EVERY = re.compile(r"(?:every|each|once|jede|alle|每|on |\w+ly\b|\w+lich\b)", re.IGNORECASE)


def _pattern(value: Any) -> Any:
    return f"{value.strip()}*" if isinstance(value, str) and value.strip() and "*" not in value else value


def _delay(value: Any) -> Any:
    return f"in {value}" if isinstance(value, str) and not value.lower().startswith("in ") else value


def _topic(value: Any) -> Any:
    return f"when we talk about {value}" if isinstance(value, str) and len(value.split()) < 4 else value


def _interval(value: Any) -> Any:
    return f"every {value}" if isinstance(value, str) and not _EVERY.match(value.strip()) else value


def _date(value: Any) -> Any:
    """A number would be a moment, and not a length."""
    return value if isinstance(value, str) and not value.strip().isdigit() else None


def _words(value: Any) -> Any:
    if isinstance(value, str) and re.fullmatch(r"[\w ,，、;-]+", value):
        return [word.strip() for word in re.split("[,，、;]", value) if word.strip()]
    return value if isinstance(value, list) else None


_Shape = Callable[[Any], Any]

_SHAPES: Mapping[str, tuple[str, _Shape]] = by_word(
    {
        ("pattern", _pattern): "prefix startswith",
        ("when", _delay): "in delay wait",
        ("when", _interval): _INTERVALS,
        ("when", _topic): "topic",
        ("ttl", _date): "expiresat expires expiry expiration validuntil expireat",
        ("trigger", _words): "keywords keyword keys words",
    }
)
"""By a name the parameter that it means, and how it shapes the value; a value that it does not fit becomes None."""


def shaped(properties: Mapping[str, Any], sent: Mapping[str, Any], notes: list[str]) -> dict[str, Any]:
    """Return the arguments with those under the name of a parameter whose own name shapes their value."""
    sent = _joined(properties, _flat(properties, sent, notes), notes)
    arguments: dict[str, Any] = {}
    for name, value in sent.items():
        for parameter, meant in _meant(properties, sent, name, value).items():
            arguments[parameter] = meant
            if parameter != name:
                notes.append(f"`{name}` was read as `{parameter}`.")
    return arguments


def _meant(properties: Mapping[str, Any], sent: Mapping[str, Any], name: str, value: Any) -> dict[str, Any]:
    """Return the parameters with their values that one argument means; as it is where its name says no more."""
    word = NAMES.get(fold(name), fold(name))
    present = {fold(written) for written in sent}
    if {"since", "until"} <= properties.keys() and word in _SPANS and not {"since", "until"} & present:
        spans = isinstance(value, str) and names_span(value)
        return {"since": value, "until": value} if spans else {"since": value}
    parameter, shape = _SHAPES.get(word, ("", None))
    if word == "in" and "when" not in properties:  # nothing is due then: it is stored for so long
        parameter, shape = "ttl", _date
    if shape is None or parameter not in properties or parameter in present or "purge" in properties:
        return {name: value}
    meant = shape(value)
    return {name: value} if meant is None else {parameter: meant}


def _flat(properties: Mapping[str, Any], sent: Mapping[str, Any], notes: list[str]) -> dict[str, Any]:
    """Return the arguments with those of an object of filters or changes beside the others."""
    flat: dict[str, Any] = {}
    for name, value in sent.items():
        is_inside = fold(name) in _INSIDE | ENVELOPES and name not in properties and isinstance(value, dict)
        if not is_inside or "purge" in properties or value.keys() & sent.keys():
            flat[name] = value
            continue
        flat |= value
        notes.append(f"The arguments in `{name}` were taken out of it.")
    return flat


def _joined(properties: Mapping[str, Any], sent: Mapping[str, Any], notes: list[str]) -> Mapping[str, Any]:
    """Return the arguments with a day and a time of the day as one text, where the tool takes one moment."""
    if not {"when", "occurred_at"} & properties.keys():
        return sent
    english = {
        NAMES.get(fold(name), fold(name)): name for name, value in sent.items() if isinstance(value, str)
    }
    days = _DAYS.union(_INTERVALS.split() if "when" in properties else ())
    day = next((english[word] for word in sorted(days & english.keys())), None)
    clock = next((english[word] for word in sorted(_TIMES & english.keys())), None)
    if day is None or clock is None:
        return sent
    without_clock = {name: value for name, value in sent.items() if name != clock}
    at = "at " if sent[clock].strip().isdigit() else ""
    notes.append(f"`{day}` and `{clock}` were read together.")
    return {**without_clock, day: f"{sent[day]} {at}{sent[clock]}"}
