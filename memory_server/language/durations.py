"""Lengths of time as people write them: 7d, "1 day", "half an hour", 三天, "zwei Wochen", 1h30m."""

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import datetime, timedelta

from memory_server.language.romance import in_english
from memory_server.language.text import fold

COUNTS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "a couple of": 2, "couple of": 2, "a few": 3, "few": 3, "paar": 3,
    "half a": 0.5, "half an": 0.5,
    "a half": 0.5, "ein": 1, "eine": 1, "einer": 1, "einem": 1, "einen": 1, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5,
    "sechs": 6, "sieben": 7, "acht": 8, "neun": 9, "zehn": 10, "elf": 11, "zwölf": 12, "eine halbe": 0.5,
    "einer halben": 0.5, "einem halben": 0.5, "半": 0.5,
}  # fmt: skip
_DIGITS = {"〇": 0, "零": 0, "两": 2, "几": 3} | {
    digit: number for number, digit in enumerate("零一二三四五六七八九")
}

HAN_NUMBER = "[零〇一二两三四五六七八九十几]{1,3}"
NUMBER = rf"\d{{1,6}}(?:\.\d{{1,3}})?|{'|'.join(sorted(COUNTS, key=len, reverse=True))}|{HAN_NUMBER}"

_UNITS: tuple[tuple[str, str], ...] = (
    ("months", r"months?|mos?|monate?n?|个?月"),
    ("minutes", r"minutes?|mins?|minuten?|分钟|分"),
    ("seconds", r"seconds?|secs?|s|sekunden?|秒钟?"),
    ("hours", r"hours?|hrs?|h|stunden?|std|个?小时|个?钟头"),
    ("days", r"days?|d|tage?n?|天|日"),
    ("weeks", r"weeks?|wks?|w|wochen?|个?星期|个?礼拜|周"),
    ("years", r"years?|yrs?|y|jahre?n?|年"),
)
UNIT = "|".join(pattern for _, pattern in _UNITS) + "|m"
_PART = rf"(?P<count>{NUMBER})[ -]?(?P<unit>{UNIT})(?![a-z])"


@dataclass(frozen=True, slots=True)
class Duration:
    """`months` are counted by the calendar."""

    months: int = 0
    time: timedelta = timedelta()

    def after(self, moment: datetime, sign: int = 1) -> datetime:
        """Return the moment that is so long after another one; before it if `sign` is -1.

        Raises:
            OverflowError: it is outside the years 1 to 9999.
        """
        return _moved(moment, sign * self.months) + sign * self.time


_ISO = re.compile(
    r"p(?:(?P<years>\d{1,4})y)?(?:(?P<months>\d{1,4})m)?(?:(?P<weeks>\d{1,4})w)?(?:(?P<days>\d{1,5})d)?"
    r"(?:t(?:(?P<hours>\d{1,5})h)?(?:(?P<minutes>\d{1,6})m)?(?:(?P<seconds>\d{1,9})s)?)?"
)
"""A length of time by ISO 8601, such as P3D and PT2H30M."""


def _iso(folded: str) -> Duration | None:
    match = _ISO.fullmatch(folded)
    counts = {unit: int(count) for unit, count in match.groupdict().items() if count} if match else {}
    if not counts:
        return None
    months = 12 * counts.pop("years", 0) + counts.pop("months", 0)
    return Duration(months, timedelta(**counts))


def read(text: str, m: str = "") -> Duration | None:
    """Read a length of time; None where the text is none. `m` is the unit that "m" stands for, if it is clear."""
    folded = in_english(" ".join(fold(text).split())).replace("半个", "半")
    if iso := _iso(folded):
        return iso
    months, time, at = 0.0, timedelta(), 0
    for match in re.finditer(_PART, folded):
        if folded[at : match.start()].strip(" ,") not in ("", "and", "und"):
            return None
        count, unit = count_of(match["count"]), _unit(match["unit"], m)
        m = "minutes" if unit == "hours" else m
        if unit in ("months", "years"):
            months += count * (12 if unit == "years" else 1)
        elif unit:
            time += timedelta(**{unit: count})
        else:
            return None
        at = match.end()
    if not at or folded[at:].strip():
        return None
    whole = int(months)
    return Duration(whole, time + timedelta(days=round(30 * (months - whole))))


def count_of(text: str) -> float:
    """Read a number in digits or words."""
    if text in COUNTS:
        return COUNTS[text]
    if text[0].isdigit():
        return float(text)
    tens, ten, ones = text.partition("十")
    if ten:
        return 10 * _DIGITS.get(tens, 1) + _DIGITS.get(ones, 0)
    return float("".join(str(_DIGITS[digit]) for digit in text))


def _unit(text: str, m: str) -> str:
    if text == "m":
        return m
    return next(unit for unit, pattern in _UNITS if re.fullmatch(pattern, text))


def _moved(moment: datetime, months: int) -> datetime:
    """Return the same day so many months later, or the last day of that month where it has no such day."""
    if not months:
        return moment
    count = moment.year * 12 + moment.month - 1 + months
    year, month = divmod(count, 12)
    if not 1 <= year <= 9999:
        raise OverflowError
    return moment.replace(year=year, month=month + 1, day=min(moment.day, monthrange(year, month + 1)[1]))
