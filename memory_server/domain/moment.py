"""Moments: as the file keeps them, and as callers write them."""

from datetime import UTC, datetime, timedelta, tzinfo

FORM = "is no date or time: write it as 2026-03-14 or 2026-03-14T09:26:53Z"


def timestamp(moment: datetime) -> str:
    """UTC as ISO-8601 text with milliseconds: text order is time order."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse(text: str, zone: tzinfo | None = UTC) -> datetime:
    """A moment in ISO-8601; without a zone of its own it is in `zone`, or stays without where that is None.

    Raises:
        ValueError: it is none, or lies at the edge of the years 1 to 9999, where no zone can be applied.
    """
    try:
        moment = datetime.fromisoformat(text)
        for day in (-1, 1):
            moment + timedelta(days=day)
    except (ValueError, OverflowError):
        raise ValueError(FORM) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)


def read(given: object) -> str:
    """A moment that a caller wrote, as `timestamp` writes it: ISO-8601 text, or milliseconds since 1970.

    Raises:
        ValueError: it is neither.
    """
    match given:
        case bool():
            raise ValueError(FORM)
        case int() | float():
            return _of_milliseconds(given)
        case str():
            return timestamp(parse(given))
        case _:
            raise ValueError(FORM)


def _of_milliseconds(since_1970: float) -> str:
    """A moment as JavaScript counts it."""
    if 1e9 <= since_1970 < 1e10:
        raise ValueError("is in seconds: give milliseconds since 1970")
    try:
        return timestamp(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=since_1970))
    except (ValueError, OverflowError):  # the former where it is no number
        raise ValueError("is no number of milliseconds since 1970") from None
