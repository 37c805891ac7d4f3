"""Arguments that are a moment or a length of time in words: which moment each one means, and how it was read."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from memory_server.language import durations, moments
from memory_server.language.spans import Span

FORMS = (
    "write 2026-03-14, 2026-03-14T09:26:53Z, yesterday, 3 days ago, last week, November 3, 15.11.2026 or 7d"
)
"""Forms of a moment, for an error."""

LENGTHS = "seconds, or 90 minutes, 12h, 7d, 2 weeks, 3 months, until Friday"
"""Forms of a length of time, for an error."""


class Use(StrEnum):
    """Purposes of a moment: of the words for a span of time, each use takes another moment of it."""

    SINCE = "since"
    UNTIL = "until"
    AT = "at"
    HAPPENED = "happened"
    STARTS = "starts"
    """In the future: when something is tried or begins."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A local moment without a zone, and how the words for it were read."""

    local: datetime
    reading: str


def moment(text: str, use: Use, now: datetime, *, month_first: bool) -> Moment | None:
    """Read the moment that words name for a use; None where they name none. `now` is local, without a zone."""
    span = moments.read(text, now, month_first=month_first, ahead=use is Use.STARTS)
    if span is None:
        return None
    local = _chosen(span, use, now)
    shown = f"{local:%Y-%m-%d %H:%M}"
    before = f"before {shown}" if use is Use.UNTIL else shown
    return Moment(local, f"{span.doubt}: {before}" if span.doubt else before)


def seconds(text: str, now: datetime, *, month_first: bool) -> int | None:
    """Read a length of time, or how long it is until a moment; None where it is none, or that has passed."""
    duration = durations.read(text.strip().removeprefix("in ").removeprefix("for "), m="minutes")
    if duration is not None:
        try:
            length = duration.after(now) - now
        except OverflowError:
            return None
    else:
        span = moments.read(text, now, month_first=month_first, ahead=True)
        if span is None:
            return None
        length = span.end - now
    return int(length / timedelta(seconds=1)) if length >= timedelta(seconds=1) else None


def _chosen(span: Span, use: Use, now: datetime) -> datetime:
    """Return the moment of a span: its begin, its end, or its middle for what happened in it, which is not ahead."""
    match use:
        case Use.UNTIL:
            return span.end
        case Use.AT:
            return min(span.end, now) if span.first <= now else span.end
        case Use.HAPPENED if span.end > span.first:
            middle = span.first + (span.end - span.first) / 2
            return max(span.first, min(middle, now)) if span.first <= now else middle
    return span.first
