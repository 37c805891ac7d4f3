"""Moments and lengths of time in words, such as "last week" and "1 day", as the arguments that a tool takes."""

from typing import Any

from memory_server.domain import moment
from memory_server.language import when
from memory_server.language.when import Use
from memory_server.settings import is_month_first
from memory_server.stores import clock

LENGTHS = {"seconds": 1, "minutes": 60}
"""What a parameter for a length of time has instead of a use, in seconds."""

LOCAL = Use.STARTS
"""The use whose moment stays local, as a trigger sees it."""


def understood_time(name: str, value: Any, use: str, notes: list[str]) -> Any:
    """Return the number of seconds or the ISO text that words name, with a note; else the value as it is."""
    if not isinstance(value, str):
        return value
    text, now = value.strip(), clock().astimezone().replace(tzinfo=None)
    if use in LENGTHS:
        return _length(name, text, use, notes, value)
    if _is_iso(text, use):
        return value
    read = when.moment(text, Use(use), now, month_first=is_month_first())
    if read is None:
        return value
    notes.append(f"{name}: `{text}` was read as {read.reading}.")
    return read.local.isoformat() if use == LOCAL else moment.timestamp(read.local.astimezone())


def _length(name: str, text: str, unit: str, notes: list[str], value: str) -> Any:
    """Read a length of time in whole units."""
    now = clock().astimezone().replace(tzinfo=None)
    seconds = None if text.isdigit() else when.seconds(text, now, month_first=is_month_first())
    if seconds is None:
        return value
    length = -(-seconds // LENGTHS[unit])
    notes.append(f"{name}: `{text}` was read as {length:,} {unit}.")
    return length


def _is_iso(text: str, use: str) -> bool:
    try:
        if use == LOCAL:
            moment.parse(text, None)
        else:
            moment.read(text)
    except ValueError:
        return False
    return True
