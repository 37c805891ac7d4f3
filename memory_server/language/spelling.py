"""Clocks, dates, money and units in one spelling: 6 pm and 18:00, June 14th and 14 June, 5 dollars and $5.

What may be two things stays as it is: 7 o'clock, halb fünf, 110 pounds, 8块.
"""

import re

from memory_server.language.dates import MONTHS

_MONTH = "|".join(month.capitalize() for month in MONTHS)
_DATE = re.compile(
    rf"\b(?:(\d\d?)(?:st|nd|rd|th)?(?: of)? ({_MONTH})|({_MONTH}) (\d\d?)(?:st|nd|rd|th)?)\b(?:,? (\d{{4}})\b)?"
)
_CHINESE_DAY = re.compile(r"(?<=月)(\d\d?)号(?![线楼院])")
_TWICE = re.compile(r"\b2 times(?= an?\b| per\b|$)")
_ORDINAL = re.compile(r"\b(?:1st|2nd|3rd|[4-9]th|1[0-2]th)\b")
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()

_PAST = re.compile(r"\b(?:(half|quarter) past|quarter to) (\d\d?)\b", re.IGNORECASE)
_ENGLISH_HOUR = re.compile(r"(?<![\d.:])(\d\d?)(?:[:.](\d\d))? ?(?:([ap])m\b|([ap])\.m\.)", re.IGNORECASE)
_GERMAN_HOUR = re.compile(r"(?<![\d.:])(\d\d?)(?:\.(\d\d))?(?= Uhr\b)")
_CHINESE_HOUR = re.compile(
    r"(?:(?P<early>凌晨|早上|早晨|清晨|上午)|(?P<late>中午|下午|傍晚|晚上)|(?<!\d)(?=1[3-9]|2[0-3]))(?P<hour>\d\d?)"
    r"(?:点[钟整]?(?:(?P<half>半)|(?P<quarter>[一1三3])刻|(?P<minute>\d\d?)分)?|:(?P<after>\d\d))"
)
_ZERO = re.compile(r"(?<![\d:.])0(?=\d:\d\d)")

_MONEY = re.compile(r"(?<![\d$€])(\d+(?:[.,]\d+)?) ?(?:(dollars?)|euros?\b|EUR\b|€)(?!\w)", re.IGNORECASE)
_DEGREES = re.compile(r"(?<=\d) ?(?:degrees ?|° ?)([CF])(?:elsius|ahrenheit)?\b")
_UNIT = re.compile(
    r"(?<=\d) (?:(?P<part>kilo|centi|milli)?(?P<unit>met(?:er|re)|gram|lit(?:er|re))s?"
    r"|(?P<time>min|h)(?:ute|our)s?|percent)\b"
)


def in_one_spelling(text: str) -> str:
    """The text, whose numbers are in digits, with its clocks, dates, money and units in one spelling."""
    text = _CHINESE_DAY.sub(r"\1日", _DATE.sub(_date, text)).replace("块钱", "元")
    text = _TWICE.sub("twice", text)
    text = _ORDINAL.sub(lambda match: _ORDINALS[int(match[0][:-2]) - 1], text)
    text = _MONEY.sub(lambda match: f"{'$' if match[2] else '€'}{match[1]}", with_one_clock(text))
    return _UNIT.sub(_unit, _DEGREES.sub(r" °\1", text))


def with_one_clock(text: str) -> str:
    """The text with its hours from 0 to 24, as 18:00."""
    text = _CHINESE_HOUR.sub(_chinese_hour, _ENGLISH_HOUR.sub(_english_hour, _PAST.sub(_past, text)))
    return _ZERO.sub("", _GERMAN_HOUR.sub(lambda match: f"{match[1]}:{match[2] or '00'}", text))


def _date(match: re.Match[str]) -> str:
    return " ".join(filter(None, (match[2] or match[3], match[1] or match[4], match[5])))


def _past(match: re.Match[str]) -> str:
    hour = int(match[2])
    if not 1 <= hour <= 12:
        return match[0]
    if match[1]:
        return f"{hour}:{'30' if match[1].lower() == 'half' else '15'}"
    return f"{hour - 1 or 12}:45"


def _english_hour(match: re.Match[str]) -> str:
    hour, late = int(match[1]), (match[3] or match[4]).lower() == "p"
    return f"{hour % 12 + 12 * late}:{match[2] or '00'}" if 1 <= hour <= 12 else match[0]


def _chinese_hour(match: re.Match[str]) -> str:
    hour = int(match["hour"])
    minute = 30 if match["half"] else {"一": 15, "1": 15, "三": 45, "3": 45}.get(match["quarter"], 0)
    minute = int(match["minute"] or match["after"] or minute)
    if hour == 12 and match["late"] in (None, "晚上"):
        return match[0]  # the day that begins, or the one that ends
    late = match["late"] and hour < (11 if match["late"] == "中午" else 12)
    return f"{hour + 12 if late else hour}:{minute:02}"


def _unit(match: re.Match[str]) -> str:
    if match["unit"]:
        return f" {(match['part'] or '')[:1]}{match['unit'][0]}"
    return f" {match['time']}" if match["time"] else "%"
