"""Kinds of events of what is stored, as a timeline counts them, and the days that it counts."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from enum import StrEnum

from memory_server.domain.moment import timestamp


class Happened(StrEnum):
    STORED = "stored"
    RECALLED = "recalled"
    SUPERSEDED = "superseded"
    FORGOTTEN = "forgotten"


@dataclass(frozen=True, slots=True)
class DaySpan:
    """Days from the first to the last, both included, in the zone of this machine; without a first, all before."""

    first: date | None
    last: date

    @property
    def since(self) -> str:
        return _midnight(self.first) if self.first else ""

    @property
    def until(self) -> str:
        """The moment at which the last day is over."""
        return _midnight(self.last + timedelta(days=1))


def _midnight(day: date) -> str:
    return timestamp(datetime.combine(day, time()).astimezone())
