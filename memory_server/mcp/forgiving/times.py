"""Moments and lengths of time in words, such as "last week" and "1 day", as the arguments that a tool takes."""

import re
from datetime import datetime
from typing import Any

from memory_server.domain import moment
from memory_server.language import moments, when
from memory_server.language.when import Use
from memory_server.mcp.forgiving.names import fold
from memory_server.settings import is_month_first
from memory_server.stores import clock

LENGTHS = {"seconds": 1, "minutes": 60}
"""What a parameter for a length of time has instead of a use, in seconds."""

FOREVER = frozenset(
    "forever never permanent permanently always unlimited infinite none 永久 永远 immer nie toujours".split()
)
"""Words for a length of time without an end."""

LOCAL = Use.STARTS
"""The use whose moment stays local, as a trigger sees it."""


def understood_time(name: str, value: Any, use: str, notes: list[str]) -> Any:
    """Return the number of seconds or the ISO text that words name, with a note; else the value as it is."""
    if not isinstance(value, str):
        return value
    if re.fullmatch(r"-\s*\d.*", value.strip()) and use != LOCAL and use not in LENGTHS:
        value = value.strip().removeprefix("-")  # "-7d" is 7 days ago, as "7d" is
    text = value.strip()
    if use in LENGTHS:
        return _length(name, text, use, notes, value)
    if _is_iso(text, use):
        return value
    read = when.moment(text, Use(use), _now(), month_first=is_month_first())
    if read is None:
        return value
    notes.append(f"{name}: `{text}` was read as {read.reading}.")
    return read.local.isoformat() if use == LOCAL else moment.timestamp(read.local.astimezone())


def _now() -> datetime:
    """Return the local moment, without a zone."""
    return clock().astimezone().replace(tzinfo=None)


def _length(name: str, text: str, unit: str, notes: list[str], value: str) -> Any:
    """Read a length of time in whole units."""
    seconds = None if text.isdigit() else when.seconds(text, _now(), month_first=is_month_first())
    if seconds is None and fold(text) in FOREVER and unit == "seconds":
        notes.append(f"{name}: `{text}` was read as no end.")
        return None
    if seconds is None:
        return value
    length = -(-seconds // LENGTHS[unit])
    notes.append(f"{name}: `{text}` was read as {length:,} {unit}.")
    return length


def names_span(text: str) -> bool:
    """True for words for a span of days, such as "last week"; false for a moment and a length."""
    now = _now()
    span = moments.read(text, now, month_first=is_month_first())
    return span is not None and span.end > span.first and span.end != now


def _is_iso(text: str, use: str) -> bool:
    try:
        if use == LOCAL:
            moment.parse(text, None)
        else:
            moment.read(text)
    except ValueError:
        return False
    return True
