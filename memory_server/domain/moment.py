"""Moments: the form in which the file stores them, and the forms in which callers write them."""

from datetime import UTC, datetime, timedelta, tzinfo

FORM = "is not a date or time: write it as 2026-03-14 or 2026-03-14T09:26:53Z"
"""What an error says of a text that is not a moment, after the name of the argument."""


def timestamp(moment: datetime) -> str:
    """A moment as ISO-8601 text in UTC with milliseconds: so the order of texts is the order of moments."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse(text: str, zone: tzinfo | None = UTC) -> datetime:
    """Read a moment in ISO-8601. A text without a zone is in `zone`; where that is None, the moment has no zone.

    Raises:
        ValueError: it is not a moment, or is too close to the first or last year (1, 9999) to change its zone.
    """
    try:
        moment = datetime.fromisoformat(text)
        for day in (-1, 1):
            moment + timedelta(days=day)
    except (ValueError, OverflowError):
        raise ValueError(FORM) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)


def read(given: object) -> str:
    """Read what a caller wrote, ISO-8601 text or milliseconds since 1970; the answer is as `timestamp` writes it.

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
    """Read milliseconds since 1970, as JavaScript counts."""
    if 1e9 <= since_1970 < 1e10:
        raise ValueError("is in seconds: give milliseconds since 1970")
    try:
        return timestamp(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=since_1970))
    except (ValueError, OverflowError):  # ValueError where it is not a number
        raise ValueError("is not a number of milliseconds since 1970") from None
