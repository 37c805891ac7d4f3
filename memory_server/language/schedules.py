"""Times of reminders in words: "on Friday at 9", "every other Monday", 每周一和周四上午, "alle zwei Wochen"."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from memory_server.language import clock, durations, moments
from memory_server.language.calendar_words import WEEKDAYS
from memory_server.language.clock import Clock
from memory_server.language.lazy import lazy
from memory_server.language.spans import HAN_DAYS, HAN_WEEKDAYS

Fits = Callable[[date], bool]

MORNING = time(9)
"""The time of a reminder for a day."""

_EVERY = lazy(
    r"^(?:on )?(?:every|each|once an?)(?: single)? (?P<en>.+)$"
    r"|^(?:jede[nrsm]?|alle) (?P<de>.+)$|^每(?:个|逢)?(?P<zh>.+)$"
)
_ADVERBS = {
    "hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month", "yearly": "year", "annually": "year",
    "stündlich": "hour", "täglich": "day", "wöchentlich": "week", "monatlich": "month", "jährlich": "year",
    "werktags": "weekday", "on weekdays": "weekday", "on workdays": "weekday", "工作日": "weekday",
}  # fmt: skip
_UNITS = {
    "day": "day", "tag": "day", "天": "day", "日": "day", "weekday": "weekday", "workday": "weekday",
    "working day": "weekday", "business day": "weekday", "werktag": "weekday", "arbeitstag": "weekday",
    "工作日": "weekday", "hour": "hour", "stunde": "hour", "小时": "hour", "week": "week", "woche": "week",
    "周": "week", "星期": "week", "month": "month", "monat": "month", "月": "month", "year": "year", "jahr": "year",
    "年": "year",
}  # fmt: skip

_UNIT = "|".join(sorted(_UNITS, key=len, reverse=True))
_NAMES = "|".join(sorted(WEEKDAYS, key=len, reverse=True))
_ON = lazy(
    rf"(?:(?P<count>other|second|{durations.NUMBER}) ?个?)?(?P<unit>{_UNIT})[se]?n?"
    r"(?: ?(?:on|at|am|的|,)? ?(?:the )?(?P<on>.+))?"
)
_MONTHLY = lazy(
    rf"(?:the )?(?P<day>\d{{1,2}}|{durations.HAN_NUMBER})(?:st|nd|rd|th|\.|号|日)(?: (?:day )?(?:of|in) the month)?"
)
_OF_EACH_MONTH = lazy(
    r"^(?:immer )?(?:on |am )?(?P<day>(?:the )?(?:\d{1,2}(?:st|nd|rd|th|\.)|first|ersten)) (?:of )?"
    r"(?:every|each|jede[sn]|des) (?:month|monats?)$"
)
_STARTING = lazy(r"^(?P<what>.+?),? (?:starting|beginning|from|ab)(?: on| am| dem)? (?P<start>.+)$")
# The brackets keep the name of a tool out of this layer, which a test looks for.
_ASKING = lazy(r"^(?:please )?(?:re[m]ind me|erinnere mich|提醒我) ?")
_WEEKDAY = lazy(rf"(?:on )?(?P<name>{_NAMES})|(?:周|星期|礼拜)(?P<han>[{HAN_DAYS}])")
_PLURAL = lazy(rf"^(?:on )?(?P<days>(?:{_NAMES})s(?:(?:,| and|, and) (?:{_NAMES})s)*)$")
_GERMAN_PLURAL = lazy(r"^(?:\w+tags|mittwochs)$")


@dataclass(frozen=True, slots=True)
class Due:
    """A local moment at which a reminder is due, and after how long it is again: `2 weeks`."""

    first: datetime
    every: str | None = None


def read(text: str, now: datetime, *, month_first: bool = True) -> tuple[Due, ...]:
    """Read when a reminder is due; nothing where the words name no moment that is ahead."""
    folded = re.sub(
        r"每隔一(?=个?(?:小时|天|周|星期|礼拜|月|年))", "每两", _ASKING.sub("", moments.normal(text))
    )
    at = _clock(folded)
    repeated = _repeated(at.remainder if at else folded)
    if repeated is None:
        return _once(folded, at, now, month_first)
    try:
        if starting := _STARTING.match(repeated):
            dues = _every(starting["what"], None, now, month_first)
            first = _once(starting["start"], None, now, month_first)
            if len(dues) != 1 or not first:
                return ()
            day = first[0].first.date()
            return (Due(datetime.combine(day, at.time if at else MORNING), dues[0].every),)
        return _every(repeated, at.time if at else None, now, month_first)
    except ValueError:
        return ()


def _clock(folded: str) -> Clock | None:
    folded = re.sub(r"每(早|晚)", r"每天\1上", folded)
    try:
        return clock.split(folded)
    except ValueError:
        return None


def _once(folded: str, at: Clock | None, now: datetime, month_first: bool) -> tuple[Due, ...]:
    span = moments.read(folded, now, month_first=month_first, ahead=True)
    if span is None:
        return ()
    first = span.first if span.end == span.first else datetime.combine(span.first.date(), MORNING)
    if first <= now and at is not None and not at.remainder:  # "at 9", when it is 10
        first += timedelta(days=1)
    if first <= now < span.end:  # "today"
        first = now + timedelta(minutes=1)
    return (Due(_minute(first)),) if first > now else ()


def _repeated(text: str) -> str | None:
    """Return what comes again, without the word that says so; None where it does not come again."""
    text = text.strip(" ,")
    if text in _ADVERBS:
        return _ADVERBS[text]
    adverb, _, on = text.partition(" ")
    if adverb in _ADVERBS and on:
        return f"{_ADVERBS[adverb]} {on}"
    if match := _OF_EACH_MONTH.match(text):
        return re.sub("first|ersten", "1.", match["day"])
    if match := _PLURAL.match(text):
        return re.sub(rf"({_NAMES})s\b", r"\1", match["days"])
    if _GERMAN_PLURAL.match(text) and text in WEEKDAYS:
        return text
    if text in ("every", "each", "每", "jeden", "jede", "jeden morgen"):
        return "day"
    match = _EVERY.match(text)
    return next(filter(None, match.groups())) if match else None


def _every(what: str, at: time | None, now: datetime, month_first: bool) -> tuple[Due, ...]:
    what = re.sub(r"^(?:morning|afternoon|evening|night)$", "day", what.strip(" ,的"))
    if days := _weekdays(what):
        return tuple(Due(_next(now, at, _is_weekday(day)), "1 week") for day in days)
    if (
        alternate := re.fullmatch(rf"(?P<count>other|second|{durations.NUMBER}) (?P<day>{_NAMES})s?", what)
    ) is not None:
        day = WEEKDAYS[alternate["day"]]
        return (Due(_next(now, at, _is_weekday(day)), f"{int(_count(alternate['count']))} weeks"),)
    if what in ("weekend", "wochenende", "周末"):
        return (Due(_next(now, at, _is_weekday(5)), "1 week"),)
    if match := _MONTHLY.fullmatch(what):
        number = int(durations.count_of(match["day"]))
        return (Due(_next(now, at, lambda day: day.day == number), "1 month"),)
    span = moments.read(what, now, month_first=month_first, ahead=True)
    if span is not None and span.end - span.first == timedelta(days=1) and re.search(r"\d", what):
        month, day = span.first.month, span.first.day
        return (Due(_next(now, at, lambda date: (date.month, date.day) == (month, day)), "1 year"),)
    match = _ON.fullmatch(what)
    return _by_unit(match, at, now, month_first) if match else ()


def _by_unit(match: re.Match[str], at: time | None, now: datetime, month_first: bool) -> tuple[Due, ...]:
    unit, count = _UNITS[match["unit"]], _count(match["count"])
    if not count or count != int(count):
        return ()
    every = f"{int(count)} {unit}{'s' if count > 1 else ''}"
    if on := match["on"]:
        days = _weekdays(on) if unit == "week" else ()
        if days:
            return tuple(Due(_next(now, at, _is_weekday(day)), every) for day in days)
        dues = _every(on, at, now, month_first) if unit in ("month", "year") else ()
        return tuple(Due(due.first, every) for due in dues if due.every == f"1 {unit}")
    if unit == "hour":
        return (Due(_minute(now + timedelta(hours=int(count))), every),)
    if unit == "weekday":
        return (Due(_next(now, at, lambda day: day.weekday() < 5), every),)
    if every == "1 day":
        return (Due(_next(now, at, lambda _: True), every),)
    duration = durations.read(every)
    if duration is None:
        return ()
    return (Due(datetime.combine(duration.after(now).date(), at or MORNING), every),)


def _count(text: str | None) -> float:
    if text in ("other", "second"):
        return 2
    return durations.count_of(text) if text else 1


def _weekdays(text: str) -> tuple[int, ...]:
    """Read a list of weekdays; nothing where there is anything else in it."""
    if re.fullmatch(rf"(?:周|星期)[{HAN_DAYS}]{{2,5}}", text):
        return tuple(HAN_WEEKDAYS[day] for day in text.lstrip("周星期"))
    days = []
    for part in re.split(r", ?(?:and |und )?| and | und |和|、| ?& ?", text):
        match = _WEEKDAY.fullmatch(part.strip())
        if match is None:
            return ()
        days.append(WEEKDAYS[match["name"]] if match["name"] else HAN_WEEKDAYS[match["han"]])
    return tuple(days)


def _is_weekday(number: int) -> Fits:
    return lambda day: day.weekday() == number


def _next(now: datetime, at: time | None, fits: Fits) -> datetime:
    """Return the first moment from now on that is on a day that fits.

    Raises:
        ValueError: there is none in the next five years.
    """
    for step in range(5 * 366):
        moment = datetime.combine(now.date() + timedelta(step), at or MORNING)
        if moment > now and fits(moment.date()):
            return moment
    raise ValueError


def _minute(moment: datetime) -> datetime:
    """Return the first whole minute that is not before a moment."""
    return (moment + timedelta(seconds=59, microseconds=999_999)).replace(second=0, microsecond=0)
