"""Counts what happened on each day, by project."""

from dataclasses import dataclass
from datetime import date, timedelta

from memory_server.domain.timeline import DaySpan, Happened
from memory_server.storage.database import Database

Counts = dict[Happened, int]


@dataclass(frozen=True, slots=True)
class TimelineDays:
    """The counts by day (YYYY-MM-DD, each day of the time, the oldest first), and by project."""

    days: dict[str, Counts]
    projects: dict[str, Counts]


@dataclass(frozen=True, slots=True)
class TimelineService:
    database: Database

    def count(self, span: DaySpan, project: str | None) -> TimelineDays:
        """Count what happened in a span; in one project ('' is none) or in all.

        A span without a first day begins with the first one on which something happened.
        """
        with self.database.read() as tx:
            rows = tx.timeline.counts(span.since, span.until)
        by_day: dict[str, Counts] = {}
        by_project: dict[str, Counts] = {}
        for day, name, what, number in rows:
            counts = by_project.setdefault(name, {})
            counts[what] = counts.get(what, 0) + number
            if project in (None, name):
                counts = by_day.setdefault(day, {})
                counts[what] = counts.get(what, 0) + number
        first = span.first or date.fromisoformat(min(by_day, default=f"{span.last}"))
        days = (f"{first + timedelta(days=number)}" for number in range((span.last - first).days + 1))
        return TimelineDays({day: by_day.get(day, {}) for day in days}, by_project)
