"""Dates in simple conditions: now, a written moment, their parts and their texts."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import ClassVar

from memory_server.triggers.simple.node import Leaf
from memory_server.triggers.simple.scene import Scene
from memory_server.triggers.simple.values import NUMBER, STRING, Kinds, Undecided

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True, slots=True)
class Now:
    """`new Date()`."""

    def moment(self, scene: Scene) -> datetime:
        return scene.now


@dataclass(frozen=True, slots=True)
class Written:
    """A moment that is written with its zone, or a date alone, which JavaScript reads as UTC."""

    at: datetime

    def moment(self, scene: Scene) -> datetime:
        return self.at.astimezone(scene.now.tzinfo)


@dataclass(frozen=True, slots=True)
class Local:
    """A moment that is written without a zone: it is in that of the situation."""

    at: datetime

    def moment(self, scene: Scene) -> datetime:
        zone = scene.now.tzinfo
        if scene.zone is None:
            raise Undecided("the rules of the time zone are not known")
        first, second = self.at.replace(tzinfo=zone), self.at.replace(tzinfo=zone, fold=1)
        if first.utcoffset() != second.utcoffset():
            raise Undecided("the clock is set back or forward then")
        return first


Instant = Now | Written | Local


class Part(StrEnum):
    """A part of the date, by JavaScript's getter; months and days of the week (from Sunday) count from 0."""

    YEAR = "getFullYear"
    MONTH = "getMonth"
    DAY = "getDate"
    WEEKDAY = "getDay"
    HOUR = "getHours"
    MINUTE = "getMinutes"
    SECOND = "getSeconds"


@dataclass(frozen=True, slots=True)
class DatePart(Leaf):
    """A part of the local date and time."""

    part: Part

    kinds: ClassVar[Kinds] = NUMBER

    def value(self, scene: Scene) -> float:
        now = scene.now
        match self.part:
            case Part.YEAR:
                return float(now.year)
            case Part.MONTH:
                return float(now.month - 1)
            case Part.DAY:
                return float(now.day)
            case Part.WEEKDAY:
                return float(now.isoweekday() % 7)
            case Part.HOUR:
                return float(now.hour)
            case Part.MINUTE:
                return float(now.minute)
            case Part.SECOND:
                return float(now.second)


@dataclass(frozen=True, slots=True)
class Time(Leaf):
    """Milliseconds since 1970: a date in a comparison or a calculation."""

    instant: Instant

    kinds: ClassVar[Kinds] = NUMBER

    def value(self, scene: Scene) -> float:
        return float((self.instant.moment(scene) - EPOCH) // timedelta(milliseconds=1))


@dataclass(frozen=True, slots=True)
class IsoText(Leaf):
    """`.toISOString()`."""

    instant: Instant

    kinds: ClassVar[Kinds] = STRING

    def value(self, scene: Scene) -> str:
        moment = self.instant.moment(scene).astimezone(UTC)
        return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"


@dataclass(frozen=True, slots=True)
class DateText(Leaf):
    """`.toDateString()`, such as `Fri Jul 17 2026`."""

    instant: Instant

    kinds: ClassVar[Kinds] = STRING

    def value(self, scene: Scene) -> str:
        moment = self.instant.moment(scene)
        return f"{_DAYS[moment.weekday()]} {_MONTHS[moment.month - 1]} {moment.day:02} {moment.year:04}"


def written(text: str) -> Instant | None:
    """The moment that `new Date('…')` reads; None for a form that is left to JavaScript."""
    for form, zoned in _FORMS:
        try:
            at = datetime.strptime(text, form)
        except ValueError:
            continue
        if len(text) != len(at.strftime(form)) or at.year < 1970:
            return None  # such as one digit for a month, which JavaScript reads otherwise
        return Written(at.replace(tzinfo=UTC)) if zoned else Local(at)
    return None


_FORMS = (
    ("%Y-%m-%d", True),
    ("%Y-%m-%dT%H:%M:%SZ", True),
    ("%Y-%m-%dT%H:%M", False),
    ("%Y-%m-%dT%H:%M:%S", False),
)
"""Forms of a date, and whether they are in UTC."""
