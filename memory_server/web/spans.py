"""Reads the span of days of an address, and says what the control shows that changes it."""

from datetime import date, timedelta
from typing import Any
from urllib.parse import urlencode

from memory_server.domain.timeline import DaySpan
from memory_server.stores import clock
from memory_server.web.view import Visit, given_moment

PRESETS: tuple[int | None, ...] = (7, 30, 90, 365, None)
"""Days back from today; None is all."""

ALL = "all"
USUAL = 30
MOST = 20_000

EARLIEST = date(1970, 1, 1)


def read(visit: Visit, usual: int | None = USUAL) -> DaySpan:
    """Read `since` and `until`, in any order, else `days` back from today, else the usual number of them.

    Raises:
        Invalid: a day is none, or `days` is no number.
    """
    today = _today()
    since, until = (_day(visit.get(name), today) for name in ("since", "until"))
    if since and until:
        return DaySpan(min(since, until), max(since, until))
    if since or until:
        return DaySpan(since, until or today)
    if visit.get("days", ALL if usual is None else "") == ALL:
        return _back(None, today)
    return _back(visit.number("days", usual or USUAL, 1, MOST), today)


def shown(visit: Visit, span: DaySpan) -> dict[str, Any]:
    """Return the span, today, and the presets: days, address, and whether it is the span."""
    today, path = _today(), visit.request.url.path
    project = {"project": visit.get("project")} if visit.get("project") else {}
    addresses = {days: f"{path}?{urlencode({**project, 'days': days or ALL})}" for days in PRESETS}
    presets = [(days, address, _back(days, today) == span) for days, address in addresses.items()]
    return {"span": span, "today": today, "presets": presets}


def _today() -> date:
    return clock().astimezone().date()


def _day(text: str, today: date) -> date | None:
    """Read a day; one to come is today, and one of another age the earliest."""
    return max(EARLIEST, min(given_moment(text).date(), today)) if text else None


def _back(days: int | None, today: date) -> DaySpan:
    return DaySpan(today - timedelta(days=days - 1) if days else None, today)
