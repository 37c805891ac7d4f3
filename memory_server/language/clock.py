"""Times of the day in words: "at 9", "9:30 pm", "in the morning", 下午三点半, "um 15 Uhr"."""

import re
from dataclasses import dataclass
from datetime import time

from memory_server.language.durations import HAN_NUMBER, count_of

_PARTS = {
    "early morning": 7, "morning": 9, "noon": 12, "midday": 12, "lunchtime": 12, "lunch": 12, "afternoon": 15,
    "evening": 19, "night": 21, "midnight": 0, "früh": 9, "morgens": 9, "vormittags": 10, "vormittag": 10,
    "mittags": 12, "mittag": 12, "nachmittags": 15, "nachmittag": 15, "abends": 19, "abend": 19, "nachts": 21,
    "nacht": 21, "mitternacht": 0, "凌晨": 5, "清晨": 7, "一早": 8, "早上": 9, "早晨": 9, "上午": 10,
    "中午": 12, "正午": 12, "下午": 15, "傍晚": 18, "晚上": 20, "夜里": 22, "半夜": 0, "午夜": 0,
}  # fmt: skip
"""The hour that a part of the day stands for."""

_EARLY = 5
"""Up to this hour a clock that names no half of the day is read as in the afternoon: "at 3" is 15:00."""

_HOUR_WORDS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
    "zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf"
)
_PARTS_OF_HOUR = {
    "quarter past": 15, "viertel nach": 15, "quarter to": -15, "viertel vor": -15, "halb": -30
}  # fmt: skip
"""Minutes from the hour that is named: halb neun is 8:30."""
_PART = "|".join(sorted(_PARTS, key=len, reverse=True))
_HAN_PART = "|".join(name for name in _PARTS if not name[0].isascii() and "ü" not in name)

_HALF = r"(?P<half>[ap])\.?m\b\.?"
_CLOCKS = (
    rf"(?:\b(?:at|around|by|about|um|gegen) |@ ?)?\b(?P<hour>\d{{1,2}})(?:[:.](?P<minute>\d\d))? ?{_HALF}",
    r"(?:\b(?:um|gegen|ab) )?\b(?P<hour>\d{1,2})(?:[:.](?P<minute>\d\d))? uhr(?: (?P<minute2>\d\d))?\b",
    r"(?:\b(?:at|around|by|about|um|gegen) |@ ?)?\b(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::\d\d)?\b",
    rf"\b(?:at|around|about) half past (?P<hour>\d{{1,2}}|{_HOUR_WORDS})\b(?P<thirty>)",
    rf"(?:\b(?:at|around|about|um|gegen) )?\b(?:a )?(?P<from>{'|'.join(_PARTS_OF_HOUR)}) "
    rf"(?P<hour>\d{{1,2}}|{_HOUR_WORDS})\b",
    rf"\b(?:at |around |about )?(?P<hour>\d{{1,2}}|{_HOUR_WORDS}) o'?clock\b",
    rf"(?:\b(?:at|around|about|um|gegen) |@ ?)(?P<hour>\d{{1,2}}|{_HOUR_WORDS})\b(?![./:-]\d)",
    rf"(?P<hour>\d{{1,2}}|{HAN_NUMBER})(?:点钟?|时)(?:整|(?P<thirty>半)|(?P<quarters>[一三])刻|(?P<minute>\d{{1,2}}|{HAN_NUMBER})分?)?",
)
_PART_OF_DAY = rf"(?:\b(?:in the|at|am|in der|by|around|the) )?\b(?P<part>{_PART})\b|(?P<han>{_HAN_PART})"


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of the day, and the text around it. `exact` is false where only a part of the day is named."""

    time: time
    remainder: str
    exact: bool


def split(text: str) -> Clock | None:
    """Part a time of the day from a folded text; None where it names none.

    Raises:
        ValueError: there is no such time, or there are two.
    """
    part = re.search(_PART_OF_DAY, text)
    remainder = _without(text, part) if part else text
    name = (part["part"] or part["han"]) if part else ""
    for pattern in _CLOCKS:
        match = re.search(pattern, remainder)
        if match is not None:
            return Clock(_time(match, name), _without(remainder, match), exact=True)
    return Clock(time(_PARTS[name]), remainder, exact=False) if name else None


def _time(match: re.Match[str], part: str) -> time:
    groups = match.groupdict()
    hour = int(count_of(groups["hour"]))
    minute = int(count_of(groups.get("minute") or groups.get("minute2") or "0"))
    if "thirty" in groups and groups["thirty"] is not None:
        minute = 30
    if groups.get("quarters"):
        minute = 15 * int(count_of(groups["quarters"]))
    if half := groups.get("half"):
        if not 1 <= hour <= 12:
            raise ValueError
        hour = hour % 12 + (12 if half == "p" else 0)
    elif hour < 12 and _is_late(hour, part, groups["hour"]):
        hour += 12
    minutes = 60 * hour + minute + _PARTS_OF_HOUR.get(groups.get("from") or "", 0)
    if not 0 <= minutes <= 24 * 60:
        raise ValueError
    return time(minutes // 60 % 24, minutes % 60)


def _is_late(hour: int, part: str, written: str) -> bool:
    """True if an hour up to 11 is one after noon."""
    if not part:
        return 1 <= hour <= _EARLY and not written.startswith("0")
    noon = _PARTS[part]
    return (noon >= 15 and hour > 0 and (noon < 20 or hour >= 5)) or (noon == 12 and hour <= 2)


def _without(text: str, match: re.Match[str]) -> str:
    return " ".join(f"{text[: match.start()]} {text[match.end() :]}".split())
