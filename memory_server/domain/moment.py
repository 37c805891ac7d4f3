"""Moments as the file keeps them."""

from datetime import UTC, datetime, timedelta


def timestamp(moment: datetime) -> str:
    """UTC as ISO-8601 text with milliseconds: text order is time order."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse(text: str) -> datetime:
    """A moment in ISO-8601; without a zone it is UTC.

    Raises:
        ValueError: it is none.
    """
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def read(text: str) -> str:
    """A moment that somebody wrote, as `timestamp` writes it.

    Raises:
        ValueError: it is no ISO-8601 date or time.
    """
    try:
        return timestamp(parse(text))
    except (ValueError, OverflowError):  # the latter where a zone leads out of the years 1 to 9999
        raise ValueError("is no ISO-8601 date or time, such as 2026-03-14 or 2026-03-14T09:26:53Z") from None


def of_milliseconds(since_1970: float) -> str:
    """A moment that JavaScript counts, as `timestamp` writes it.

    Raises:
        ValueError: it lies outside the years 1 to 9999, or counts seconds, as other languages than JavaScript do.
    """
    if 1e9 <= since_1970 < 1e10:
        raise ValueError("is in seconds: give milliseconds since 1970")
    try:
        return timestamp(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=since_1970))
    except (ValueError, OverflowError):  # the former where it is no number
        raise ValueError("is no number of milliseconds since 1970") from None
