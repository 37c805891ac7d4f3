"""Counts what happened on each day, by project."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from memory_server.domain.moment import timestamp
from memory_server.domain.timeline import Happened
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

    def count(self, days: int, project: str | None) -> TimelineDays:
        """Count what happened in the last so many days, today included; in one project ('' is none) or in all."""
        with self.database.read() as tx:
            today = datetime.fromisoformat(tx.now).astimezone()
            first = today.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=days - 1)
            rows = tx.timeline.counts(timestamp(first))
        by_day: dict[str, Counts] = {
            f"{first + timedelta(days=number):%Y-%m-%d}": {} for number in range(days)
        }
        by_project: dict[str, Counts] = {}
        for day, name, what, number in rows:
            counts = by_project.setdefault(name, {})
            counts[what] = counts.get(what, 0) + number
            if day in by_day and project in (None, name):
                by_day[day][what] = by_day[day].get(what, 0) + number
        return TimelineDays(by_day, by_project)
