"""Parts of a month: its last week, the first weekend, the first three days, the end; 最后一周, 月底, letzte Woche."""

import re
from collections.abc import Iterable
from datetime import date, timedelta

from memory_server.language.calendar_words import WEEKDAYS
from memory_server.language.durations import COUNTS, HAN_NUMBER, count_of

_NTH = {
    "first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "last": -1, "final": -1,
}  # fmt: skip
_GERMAN_NTH = {"erste": 1, "zweite": 2, "dritte": 3, "vierte": 4, "letzte": -1}
_HAN_NTH = {"头": 1, "前": 1, "最后": -1} | {
    f"第{digit}": number for number, digits in enumerate(("一1", "二2", "三3", "四4"), 1) for digit in digits
}
_EVERY_NTH = _NTH | _GERMAN_NTH | _HAN_NTH
_SEVERAL = {"days": 3, "tage": 3, "tagen": 3, "weeks": 2, "wochen": 2}
"""How many are meant where no number is named."""

_STAGES = {
    "beginning": 0, "start": 0, "early": 0, "anfang": 0, "初": 0, "上旬": 0,
    "middle": 1, "mid": 1, "mitte": 1, "中旬": 1, "end": 2, "late": 2, "ende": 2, "底": 2, "末": 2, "下旬": 2,
}  # fmt: skip
_LENGTHS = {
    "day": 1, "days": 1, "tag": 1, "tage": 1, "tagen": 1, "天": 1, "week": 7, "weeks": 7, "woche": 7, "wochen": 7,
    "周": 7, "星期": 7, "礼拜": 7,
}  # fmt: skip
_HALVES = ("half", "hälfte")
_WEEKENDS = dict.fromkeys(("weekend", "wochenende", "周末"), 5)
_WEEKDAYS = WEEKDAYS | _WEEKENDS


def forms(month: str, year: str, han_month: str) -> tuple[str, ...]:
    """Return the patterns of a part with its month; the parameters are the patterns of the groups of these names.

    The other groups are those that `days` reads. Several patterns have a year, or `relative` for 去年.
    """
    nth = rf"(?P<nth>{_any(_NTH)}|(?:{_any(_GERMAN_NTH)})(?=[nrms]? ))[nrms]?"
    unit = _any([*_LENGTHS, *_HALVES, *_WEEKDAYS])
    named = rf"(?P<month>{month})\b\.?(?! \d\d?\b)(?:,? (?:of )?(?P<year>{year}))?\b"
    return (
        rf"\b{nth}(?: (?P<count>{_any(COUNTS)}|\d\d?))? (?P<unit>{unit}) (?:of|in|im|des|vom) {named}",
        rf"\b(?P<nth>{_any(_GERMAN_NTH)})[nrms]? (?P<month>{month})(?P<unit>wochenende|woche)\b(?: (?P<year>{year}))?",
        rf"\b(?P<stage>beginning(?= of)|start(?= of)|middle(?= of)|end(?= of)|early|late|mid|anfang|mitte|ende)"
        rf"(?: of | |-){named}",
        rf"(?:(?P<year>{year})\s*年的?|(?P<relative>去年|今年|前年)的?)?(?<!\d)(?P<month>{han_month})月(?:份)?的?"
        rf"(?:(?P<nth>{_any(_HAN_NTH)})(?P<count>{HAN_NUMBER}|\d\d?)?个?(?P<unit>周末|周|星期|礼拜|天)"
        r"|(?P<stage>初(?![一二三四五六七八九十])|底|末|上旬|中旬|下旬))",
    )


def days(match: re.Match[str], first: date, last: date, *, year: bool) -> tuple[date, date]:
    """Return the first and the last day of a part of the month from `first` to `last`.

    Where the year is not known, a weekend or a weekday is all the days on which it can be.

    Raises:
        ValueError: the month has no such part.
    """
    groups = match.groupdict()
    if stage := groups.get("stage"):
        start = first + timedelta(10 * _STAGES[stage])
        return start, last if _STAGES[stage] == 2 else start + timedelta(9)
    number, unit, count = _EVERY_NTH[match["nth"]], match["unit"], groups.get("count")
    if unit in _HALVES:
        middle = first + timedelta(15)
        return (first, middle - timedelta(1)) if number == 1 else (middle, last)
    more = timedelta(unit in _WEEKENDS)
    if unit in _LENGTHS or not year:
        length = _LENGTHS.get(unit, 7) * (max(1, int(count_of(count))) if count else _SEVERAL.get(unit, 1))
        start, end = _counted(first, last, number, length)
        return start, min(last, end + more)
    every = (first + timedelta(day) for day in range((last - first).days + 1))
    start = [day for day in every if day.weekday() == _WEEKDAYS[unit]][number - (number > 0)]
    return start, start + more


def _counted(first: date, last: date, number: int, length: int) -> tuple[date, date]:
    """Return the part of this length, the first, second, … or last (-1) of a month."""
    if number < 0:
        return max(first, last - timedelta(length - 1)), last
    start = first + timedelta(length * (number - 1))
    if start > last:
        raise ValueError
    return start, min(last, start + timedelta(length - 1))


def _any(texts: Iterable[str]) -> str:
    return "|".join(sorted(texts, key=len, reverse=True))
