"""A moment as people write it: yesterday, last week, November 3, 15.11.2026, 下周五下午三点, "vor drei Tagen".

The whole text must be understood: a word that is not known makes it none. Times are local, without a zone.
"""

import re
from collections.abc import Callable
from datetime import datetime, time, timedelta

from memory_server.language import clock, durations, month_parts
from memory_server.language.calendar_words import MONTH_NUMBERS, WEEKDAYS
from memory_server.language.clock import Clock
from memory_server.language.romance import in_english
from memory_server.language.spans import (
    DAYS,
    HAN_DAYS,
    HAN_WEEKDAYS,
    STEPS,
    UNITS,
    Calendar,
    Span,
    days,
    month_number,
)
from memory_server.language.text import fold

_SAME = (
    (r"\s*\([^()]*\)\s*", " "),  # "next Wednesday (2 December)"
    (r"\blast night\b", "yesterday evening"),
    (r"\btonight\b", "today evening"),
    (r"\b(?:this|later this) (morning|afternoon|evening)\b", r"today \1"),
    (r"\b(heute|gestern|vorgestern) morgen\b", r"\1 früh"),
    (r"\bende (?:des|dieses) monats\b|\bmonatsende\b", "end of the month"),
    (r"\bende (?:des|dieses) jahres\b|\bjahresende\b", "end of the year"),
    (r"\bende (?:der|dieser) woche\b", "end of the week"),
    (r"(今|昨|明)(早|晚)", r"\1天\2上"),
    (r"(?<=[天日周一二三四五六])早(?!上|晨)", "早上"),
    (r"(?<![\d一二三四五六七八九十])月底", "end of the month"),
    (r"年底", "end of the year"),
)  # fmt: skip
_LEADING = (
    r"^(?:(?:since|from|after|before|until|till|up to|by|on|at|as of|of|during|in|seit|ab|bis|am|im|vom|zum"
    r"|den|der|die|das)\b(?: the\b(?! day))?|从|自从?|在|于|到|截至) ?"
)
_TRAILING = r"(?:以来|之后|以后|之前|以前|开始|起|为止|的时候|的)$|[,.，。 ]+$| onwards?$"

_MONTH = "|".join(sorted(MONTH_NUMBERS, key=len, reverse=True))
_WEEKDAY = "|".join(sorted(WEEKDAYS, key=len, reverse=True))
_WHICH = (
    "last|previous|this|the|current|next|coming|(?:letzte|vorige|vergangene|diese|nächste|kommende)[nrsm]?"
)
_YEAR = r"(?:19|20)\d\d"
_HAN = durations.HAN_NUMBER
_WEEK = "周|星期|礼拜"


Read = Callable[[Calendar, re.Match[str]], Span | None]


def _dated(calendar: Calendar, match: re.Match[str]) -> Span:
    """Read the groups `month`, and `year`, `relative` and `d` if there are any."""
    groups = match.groupdict()
    year = groups.get("year") or groups.get("relative")
    return calendar.dated(year, month_number(match["month"]), groups.get("d"))


def _day_of_month(calendar: Calendar, match: re.Match[str]) -> Span:
    number = int(durations.count_of(match["d"] or match["han"]))
    if which := match.groupdict().get("which"):
        return calendar.day(calendar.period("month", STEPS[which]).first.date().replace(day=number))
    return calendar.day_of_month(number)


def _weekday(calendar: Calendar, match: re.Match[str]) -> Span:
    return calendar.weekday(WEEKDAYS[match["day"]], _which(match["which"]))


def _weekday_of_week(calendar: Calendar, match: re.Match[str]) -> Span:
    which, day = match["which"] or match["which2"], match["day"] or match["day2"]
    return calendar.weekday_of_week(WEEKDAYS[day], STEPS[_which(which)])


def _part_of_month(calendar: Calendar, match: re.Match[str]) -> Span:
    """Read the last week, the first Monday, the end … of a month."""
    month = _dated(calendar, match)
    first, last = month_parts.days(match, month.first.date(), month.end.date() - timedelta(1), year=True)
    return days(first, (last - first).days + 1)


def _han_weekday(calendar: Calendar, match: re.Match[str]) -> Span:
    number = HAN_WEEKDAYS[match["day"]]
    if not match["which"]:
        return calendar.weekday(number, "")
    return calendar.weekday_of_week(number, STEPS[match["which"]])


def _period(calendar: Calendar, match: re.Match[str]) -> Span:
    unit, which = match.groupdict().get("unit") or "周末", match.groupdict().get("which") or ""
    return calendar.period(UNITS.get(unit, unit), STEPS[_which(which)])


def _recent(calendar: Calendar, match: re.Match[str]) -> Span | None:
    length = _any(match)
    span = calendar.moved(length, -1) or calendar.moved(f"1 {length}", -1)
    return None if span is None else Span(span.first, calendar.now)


_READERS: tuple[tuple[str, Read], ...] = (
    (
        "now|right now|just now|jetzt|gerade|现在|刚才|刚刚",
        lambda calendar, _: Span(calendar.now, calendar.now, exact=True),
    ),
    ("|".join(DAYS), lambda calendar, match: calendar.near_day(DAYS[match[0]])),
    (rf"(?P<year>{_YEAR})[-/.年](?P<month>\d{{1,2}})[-/.月](?P<d>\d{{1,2}})日?", _dated),
    (rf"(?P<year>{_YEAR})[-/.](?P<month>\d{{1,2}})", _dated),
    (rf"(?P<d>\d{{1,2}})\.(?P<month>\d{{1,2}})\.(?P<year>{_YEAR}|\d\d)?", _dated),
    (rf"(?P<month>\d{{1,2}})[/.](?P<year>{_YEAR})", _dated),
    (
        rf"(?P<a>\d{{1,2}})[/-](?P<b>\d{{1,2}})(?:[/-](?P<year>{_YEAR}|\d\d))?",
        lambda calendar, match: calendar.slashed(match["a"], match["b"], match["year"]),
    ),
    (rf"(?P<month>{_MONTH})\.? (?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?:,? (?P<year>{_YEAR}))?", _dated),
    (rf"(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.)? (?:of )?(?P<month>{_MONTH})\.?(?:,? (?P<year>{_YEAR}))?", _dated),
    (rf"(?P<month>{_MONTH})\.?(?:,? (?:of )?(?P<year>{_YEAR}))?", _dated),
    (
        rf"(?:(?P<year>{_YEAR})年|(?P<relative>去年|前年|今年|明年)的?)?"
        rf"(?P<month>\d{{1,2}}|{_HAN})月份?(?:(?P<d>\d{{1,2}}|{_HAN})[日号])?",
        _dated,
    ),
    (rf"(?P<which>上|这|本|下)个?月(?P<han>\d{{1,2}}|{_HAN})[号日](?P<d>)", _day_of_month),
    ("(?P<month>0[1-9]|1[0-2])", _dated),
    (
        rf"(?P<year>{_YEAR})年?",
        lambda calendar, match: calendar.period("year", int(match["year"]) - calendar.now.year),
    ),
    (rf"(?:the )?(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.)|(?P<han>\d{{1,2}}|{_HAN})号", _day_of_month),
    (rf"(?:(?P<which>{_WHICH}) )?(?P<day>{_WEEKDAY})\.?", _weekday),
    (
        rf"(?P<day>{_WEEKDAY}),? (?:of )?(?P<which>{_WHICH}) (?:week|woche)"
        rf"|(?P<which2>{_WHICH}) (?:week|woche),? (?:on )?(?P<day2>{_WEEKDAY})",
        _weekday_of_week,
    ),
    (rf"(?P<which>上上|上|这|本|下下|下|)个?(?:{_WEEK})(?P<day>[{HAN_DAYS}])", _han_weekday),
    *(
        (rf"(?:the )?{form}", _part_of_month)
        for form in month_parts.forms(_MONTH, _YEAR, rf"\d{{1,2}}|{_HAN}")
    ),
    (rf"(?P<which>{_WHICH}) (?P<unit>weekend|week|month|year|wochenende|woche|monat|jahr)", _period),
    ("(?P<which>上上|上|这|本|下下|下)个?(?P<unit>周末|周|星期|礼拜|月)", _period),
    ("(?P<which>去|前|今|明|后|本)(?P<unit>年)|周末|(?:the )?weekend|wochenende", _period),
    (
        "(?:the )?end of (?:(?P<which>the|this|next|last) )?(?P<unit>week|month|year)",
        lambda calendar, match: calendar.ends(match["unit"], STEPS[match["which"] or ""]),
    ),
    (
        "(?P<length>.+) (?:ago|earlier|back)|vor (?P<german>.+)|(?P<han>.+?)(?:以前|之前|前)",
        lambda calendar, match: calendar.distant(_any(match), -1),
    ),
    (
        "in (?P<length>.+)|(?P<later>.+) (?:from now|later)|(?P<han>.+?)(?:以后|之后|后)",
        lambda calendar, match: calendar.distant(_any(match), 1),
    ),
    (
        "(?:the )?(?:last|past) (?P<length>.+)|(?:die )?(?:letzten|vergangenen) (?P<german>.+)"
        "|(?:最近|过去|近)(?P<han>.+)",
        _recent,
    ),
    (".+", lambda calendar, match: calendar.moved(match[0], 1 if calendar.ahead else -1)),
)


def read(text: str, now: datetime, *, month_first: bool = True, ahead: bool = False) -> Span | None:
    """Read a moment or a span of time, local as `now` is; None where the text is none, or no such day exists.

    A day or a month without a year is the last one, or the next one with `ahead`.
    """
    folded = normal(text)
    calendar = Calendar(now, ahead, month_first)
    try:
        whole = _day(folded, calendar)
        if whole is not None:
            return whole
        at = clock.split(folded)
        if at is None:
            return None
        span = _day(at.remainder, calendar) if at.remainder else calendar.day(now.date())
        return None if span is None else _at(span, at)
    except (ValueError, OverflowError, KeyError):
        return None


def normal(text: str) -> str:
    folded = in_english(" ".join(fold(text).split()).strip(" ,!?。，"))
    for pattern, replacement in _SAME:
        folded = re.sub(pattern, replacement, folded)
    return folded


def _day(text: str, calendar: Calendar) -> Span | None:
    """Read a text without a time of the day, also with a word such as "since" before it."""
    for form in _forms(text):
        for pattern, read_match in _READERS:
            match = re.fullmatch(pattern, form)
            span = read_match(calendar, match) if match else None
            if span is not None:
                return span
    return None


def _forms(text: str) -> list[str]:
    """Return the text, without what leads or trails it, and without the name of a weekday before a date."""
    forms = [text]
    for pattern in (_TRAILING, _LEADING, _TRAILING):
        forms.append(re.sub(pattern, "", forms[-1]).strip())
    forms.append(re.sub(rf"^(?:{_WEEKDAY})\.?,? (?:the |den |dem )?(?=\d|{_MONTH})", "", forms[-1]))
    return list(dict.fromkeys(filter(None, forms)))


def _at(span: Span, at: Clock) -> Span | None:
    """Return the moment of a day at this time; of a longer span there is none."""
    if span.end - span.first > timedelta(days=1) or span.exact:
        return None
    first = span.first if span.end > span.first else datetime.combine(span.first.date(), time())
    moment = datetime.combine(first.date(), at.time)
    return Span(moment, moment, span.doubt, at.exact)


def _which(text: str | None) -> str:
    """Return a word such as `next` without the ending that German adds."""
    return re.sub(r"(?<=[a-z]e)[nrsm]$", "", text or "")


def _any(match: re.Match[str]) -> str:
    return str(next(filter(None, match.groups())))
