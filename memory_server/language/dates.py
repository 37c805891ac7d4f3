"""The dates that a question names, as spans of days: "in May 2023", "last week", 去年五月, 三天前."""

import re
from calendar import monthrange
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from memory_server.language import month_parts
from memory_server.language.calendar_words import DAYS, MONTHS
from memory_server.language.durations import count_of
from memory_server.language.spans import HAN_WEEKDAYS, STEPS, UNITS, YEARS, Calendar, month_number
from memory_server.language.spans import Span as Time

_MONTH = (
    "|".join(f"{name[:3]}(?:{name[3:]})?" if name != "may" else "may" for name in MONTHS)
    + "|sept|januar|februar|märz|mai|juni|juli|oktober|dezember"
)
_YEAR = r"(?:19|20)\d\d"
_DAY = r"(?:3[01]|[12]\d|0?[1-9])"
_NO_VERSION = r"(?!\.\d)"
"""2023.1 and 5.7 are versions."""

_NUMBER = r"\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|a couple of|a few"
_HAN_NUMBER = (
    r"(?<![\d十百千万零])(?:\d{1,3}|[二三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九几])"
)
_HAN_MONTH = r"1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九]"

SLACK = timedelta(days=3)
"""What is told of a day is often told some days later, or named some days off."""

LONGEST = timedelta(days=31)
"""The longest span whose texts are looked at because of their date: of a year each store has too many."""


@dataclass(frozen=True, slots=True)
class Days:
    """The days from `first` to `last`. `year` is false where only the month is known: then each year's fits."""

    first: date
    last: date
    year: bool = True

    def fits(self, day: date) -> float:
        """1 in the span and a few days around it, .5 elsewhere in its months, else 0."""
        if not self.year:
            return self._fits_in_any_year(day)
        if self.first - SLACK <= day <= self.last + SLACK:
            return 1.0
        months = (self.first.year, self.first.month), (self.last.year, self.last.month)
        return 0.5 if self._short() and months[0] <= (day.year, day.month) <= months[1] else 0.0

    def periods(self, today: date) -> list[tuple[date, date]]:
        """The first and the last day of what is told of it: itself and a few days around it. None of many months.

        Where only the month is known, those of the last two years in which it was.
        """
        if self.last - self.first > LONGEST:
            return []
        spans = [self]
        if not self.year:
            of_years = [self._in_year(today.year - back) for back in range(3)]
            spans = [span for span in of_years if span.first <= today][:2]
        return [(span.first - SLACK, span.last + SLACK) for span in spans]

    def _in_year(self, year: int) -> "Days":
        last = self.last.replace(year=year, day=min(self.last.day, monthrange(year, self.last.month)[1]))
        return Days(self.first.replace(year=year, day=min(self.first.day, last.day)), last)

    def _fits_in_any_year(self, day: date) -> float:
        if day.month != self.first.month:
            return 0.0
        near = self.first.day - SLACK.days <= day.day <= self.last.day + SLACK.days
        return 1.0 if near or not self._short() else 0.5

    def _short(self) -> bool:
        return self.last - self.first < timedelta(days=21)


def named(text: str, today: date) -> list[Days]:
    """The spans that a folded question names, each once; relative ones count back from `today`."""
    calendar = Calendar(datetime.combine(today, time()), ahead=False, month_first=True)
    date_spans = []
    for pattern, read in _READERS:
        for match in pattern.finditer(text):
            try:
                date_spans.append(read(calendar, match))
            except ValueError:  # the 31st of June
                continue
        text = pattern.sub(" ", text)
    return list(dict.fromkeys(date_spans))


def _of(span: Time, year: bool = True) -> Days:
    return Days(span.first.date(), span.end.date() - timedelta(days=1), year)


def _days(first: date, count: int) -> Days:
    return Days(first, first + timedelta(days=count - 1))


def _month_or_day(calendar: Calendar, match: re.Match[str]) -> Days:
    """A month with or without day and year."""
    year = _year(calendar, match)
    of_year = year or (2000 if match["day"] else calendar.now.year)
    return _of(calendar.dated(str(of_year), month_number(match["month"]), match["day"]), year is not None)


def _part_of_month(calendar: Calendar, match: re.Match[str]) -> Days:
    year = _year(calendar, match)
    month = _of(calendar.dated(str(year or 2000), month_number(match["month"]), None))
    is_known = year is not None
    return Days(*month_parts.days(match, month.first, month.last, year=is_known), is_known)


def _half_a_year_ago(calendar: Calendar, _: re.Match[str]) -> Days:
    first, last = (calendar.period("month", step) for step in (-7, -5))
    return Days(first.first.date(), _of(last).last)


def _year(calendar: Calendar, match: re.Match[str]) -> int | None:
    groups = match.groupdict()
    if groups.get("year"):
        return int(groups["year"])
    step = ({"last year": -1, "this year": 0} | YEARS).get(groups.get("relative") or "")
    return None if step is None else calendar.now.year + step


def _ago(calendar: Calendar, match: re.Match[str]) -> Days:
    count, unit = int(count_of(match["count"])), match["unit"].removesuffix("s")
    if unit in ("day", "天", "日"):
        return _of(calendar.near_day(-count))
    unit = UNITS.get(unit, unit)
    if unit == "week":
        return _days(_of(calendar.near_day(-7 * count - 3)).first, 7)
    return _of(calendar.period(unit, -count))


def _named_year(calendar: Calendar, match: re.Match[str]) -> Days:
    return _of(calendar.period("year", int(match["year"] or match["han"]) - calendar.now.year))


def _relative(calendar: Calendar, match: re.Match[str]) -> Days:
    """Last week, 上个月 and the like. What happened on a weekend may have begun on its Friday."""
    step, unit = STEPS.get(match["which"], -1), UNITS.get(match["unit"], match["unit"])
    if unit == "weekend":
        return _days(_of(calendar.week(step)).first + timedelta(days=4), 3)
    return _of(calendar.period(unit, step))


def _weekday(calendar: Calendar, match: re.Match[str]) -> Days:
    """The last such day before today."""
    return _of(calendar.weekday(DAYS.index(match["weekday"]), "last"))


def _weekday_of_week(calendar: Calendar, match: re.Match[str]) -> Days:
    """A day of a week that is named: 上周三 is the Wednesday of last week."""
    return _of(calendar.weekday_of_week(HAN_WEEKDAYS[match["weekday"]], STEPS[match["which"]]))


def _near_day(calendar: Calendar, match: re.Match[str]) -> Days:
    return _of(calendar.near_day(-_NEAR[match["near"] or match["han"]]))


_NEAR = {"today": 0, "tonight": 0, "yesterday": 1, "今天": 0, "昨天": 1, "昨晚": 1, "前天": 2, "大前天": 3}

_READERS: tuple[tuple[re.Pattern[str], Callable[[Calendar, re.Match[str]], Days]], ...] = tuple(
    (re.compile(pattern), read)
    for pattern, read in (
        (
            rf"(?<![\da-z.])(?P<year>{_YEAR})[-/.](?P<month>1[0-2]|0?[1-9])[-/.](?P<day>{_DAY})(?!\d)",
            _month_or_day,
        ),
        (rf"(?<![\da-z.])(?P<day>{_DAY})\.(?P<month>1[0-2]|0?[1-9])\.(?P<year>{_YEAR})(?!\d)", _month_or_day),
        (rf"(?<![\d/])(?P<month>1[0-2]|0?[1-9])/(?P<day>{_DAY})/(?P<year>{_YEAR})(?![\d/])", _month_or_day),
        (rf"(?<![\d/])(?P<day>{_DAY})/(?P<month>1[0-2]|0?[1-9])/(?P<year>{_YEAR})(?![\d/])", _month_or_day),
        (rf"(?<!\d)(?P<year>{_YEAR})[-/](?P<month>1[0-2]|0[1-9])(?P<day>)(?![-/\d])", _month_or_day),
        *((form, _part_of_month) for form in month_parts.forms(_MONTH, _YEAR, _HAN_MONTH)),
        (
            rf"(?:(?P<year>{_YEAR})\s*年的?|(?P<relative>去年|今年|前年)的?)?\s*"
            rf"(?<!\d)(?P<month>{_HAN_MONTH})月(?:份)?(?:(?P<day>{_DAY})[日号])?",
            _month_or_day,
        ),
        (
            rf"\b(?P<month>{_MONTH})\.? (?P<day>{_DAY})(?:st|nd|rd|th)?\b{_NO_VERSION}(?:,? (?P<year>{_YEAR}))?\b",
            _month_or_day,
        ),
        (
            rf"\b(?P<day>{_DAY})(?:st|nd|rd|th|\.)?(?: of)? (?P<month>{_MONTH})\b\.?(?:,? (?P<year>{_YEAR}))?\b",
            _month_or_day,
        ),
        (
            rf"\b(?<!you )(?:(?P<relative>last year|this year),? )?(?:in |im |during |of |since |seit |by )"
            rf"(?P<month>{_MONTH})\b\.?(?P<day>)(?:,? (?:of )?(?P<year>{_YEAR}))?\b",
            _month_or_day,
        ),
        (rf"\b(?P<month>{_MONTH})\b\.?(?P<day>),? (?:of )?(?P<year>{_YEAR})\b", _month_or_day),
        (r"半年(?:以)?前|\bhalf a year ago\b", _half_a_year_ago),
        (
            rf"\b(?P<count>{_NUMBER}) (?P<unit>days?|weeks?|months?|years?) ago\b",
            _ago,
        ),
        (rf"(?P<count>{_HAN_NUMBER})(?:个)?(?P<unit>天|日|周|星期|礼拜|月|年)(?:以)?前", _ago),
        (r"\b(?P<which>last|this|past) (?P<unit>weekend|week|month|year)\b(?! of\b)", _relative),
        (r"(?P<which>上上|上|这|(?<![基日])本)(?:个)?(?P<unit>周末)", _relative),
        (
            r"(?P<which>上上|上|这|(?<![基日])本)(?:个)?(?P<unit>周|星期|礼拜|月)(?![一二三四五六日天末])",
            _relative,
        ),
        (
            r"(?P<which>(?<!过)去|(?<!如)今|(?<![目以之])前)(?P<unit>年)",
            _relative,
        ),  # not 目前年龄, 如今年轻人
        (rf"\b(?:last|on|this|past) (?P<weekday>{'|'.join(DAYS)})\b", _weekday),
        (r"(?P<which>上上|上|这|本)(?:个)?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])", _weekday_of_week),
        (
            r"\b(?P<near>today|tonight|yesterday)\b|(?P<han>大前天|前天|昨天|昨晚|今天)",
            _near_day,
        ),
        (
            rf"\b(?:in|during|since|of|year) (?P<year>{_YEAR})\b{_NO_VERSION}|(?P<han>{_YEAR})年",
            _named_year,
        ),
    )
)


_DATES = tuple(pattern for pattern, read in _READERS if read is _month_or_day)


def spelled(text: str) -> Iterator[str]:
    """The days that a folded text names by month and day, as `2026-03-04`, or as `03-04` where it names no year.

    3/4/2026 is none: it is in March or in April.
    """
    for pattern in _DATES:
        for match in pattern.finditer(text):
            if not match["day"] or _is_ambiguous(match):
                continue
            day = f"{month_number(match['month']):02}-{int(match['day']):02}"
            yield f"{match['year']}-{day}" if match["year"] else day


def _is_ambiguous(match: re.Match[str]) -> bool:
    return match[0].endswith(f"/{match['year']}") and int(match["day"]) <= 12 >= int(match["month"])
