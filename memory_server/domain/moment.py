"""Moments: the form in which the file stores them, and the forms in which callers write them."""

import re
from datetime import UTC, datetime, timedelta, tzinfo

FORM = "is not a date or time: write it as 2026-03-14 or 2026-03-14T09:26:53Z"
"""What an error says of a text that is not a moment, after the name of the argument."""


_YEAR_FIRST = re.compile(r"(\d{4})[/.年](\d{1,2})[/.月](\d{1,2})日?(?!\d)")
"""A date whose year comes first, so that day and month cannot be confused."""

_SINCE_1970 = re.compile(r"\d{10}|\d{13}")
"""Seconds or milliseconds since 1970 as text: ISO-8601 has no form of so many digits alone."""

_SECONDS_FROM, _SECONDS_TO = 1e9, 1e10
"""Numbers between these are seconds since 1970, of the years 2001 to 2286; as milliseconds they would be of 1970."""


def timestamp(moment: datetime) -> str:
    """A moment as ISO-8601 text in UTC with milliseconds: so the order of texts is the order of moments."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse(text: str, zone: tzinfo | None = UTC) -> datetime:
    """Read a moment in ISO-8601. A text without a zone is in `zone`; where that is None, the moment has no zone.

    Raises:
        ValueError: it is not a moment, or its zone puts it outside the years 1 to 9999.
    """
    try:
        moment = datetime.fromisoformat(_YEAR_FIRST.sub(_iso_date, text.strip(), count=1))
        if moment.tzinfo is None and zone is not None:
            return moment.replace(tzinfo=zone)
        for day in (-1, 1):  # no zone is further away
            moment + timedelta(days=day)
    except (ValueError, OverflowError):
        raise ValueError(FORM) from None
    return moment


def read(written: object) -> str:
    """Read a caller's ISO-8601 text or time since 1970; return it as `timestamp` writes it.

    Raises:
        ValueError: it is neither.
    """
    match written:
        case bool():
            raise ValueError(FORM)
        case int() | float():
            return _since_1970(written)
        case str() if _SINCE_1970.fullmatch(written.strip()):
            return _since_1970(int(written))
        case str():
            return timestamp(parse(written))
        case _:
            raise ValueError(FORM)


def _since_1970(number: float) -> str:
    """Read seconds, as Unix counts, or milliseconds, as JavaScript does."""
    milliseconds = 1000 * number if _SECONDS_FROM <= number < _SECONDS_TO else number
    try:
        return timestamp(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds))
    except (ValueError, OverflowError):  # ValueError where it is not a number
        raise ValueError("is not a number of seconds or milliseconds since 1970") from None


def _iso_date(date: re.Match[str]) -> str:
    return f"{date[1]}-{int(date[2]):02}-{int(date[3]):02}"
