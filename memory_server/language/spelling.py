"""Clocks, dates, money and units in one spelling: 6 pm and 18:00, June 14th and 14.6., 5 dollars and $5, 3 Kilo, 3公斤.

What may be two things stays as it is: 7 o'clock, 3/4, 110 pounds, 8块.
"""

import re

from memory_server.language.calendar_words import GERMAN_MONTHS, MONTHS
from memory_server.language.lazy import lazy
from memory_server.language.text import by_word, has_han

_ENGLISH_MONTHS = [month.capitalize() for month in MONTHS]
_GERMAN_MONTHS = [month.capitalize() for month in GERMAN_MONTHS]
_NUMBERS = {
    name: number
    for months in (_ENGLISH_MONTHS, _GERMAN_MONTHS, [month[:3] for month in _ENGLISH_MONTHS], ["Sept"])
    for number, name in enumerate(months, 9 if months == ["Sept"] else 1)
} | {"Jänner": 1, "Feber": 2, "Mrz": 3, "Okt": 10, "Dez": 12}
"""The months by their names."""

_MONTH = "|".join(sorted(_NUMBERS, key=len, reverse=True))
_YEAR = r"(?:,? (?P<year>\d{4})\b)?"
_DATE = lazy(
    rf"\b(?P<day>\d\d?)(?:st|nd|rd|th|\.)?(?: of)? (?P<month>{_MONTH})\b\.?{_YEAR}"
    rf"|\b(?P<name>{_MONTH})\.? (?P<after>\d\d?)(?:st|nd|rd|th)?\b(?![.:]\d){_YEAR.replace('year', 'last')}"
    r"|\b(?P<iso>\d{4})-(?P<of>0[1-9]|1[0-2])-(?P<on>\d\d)\b"
)
_GERMAN_DATE = lazy(
    r"(?P<before>\b(?:[Aa]m|[Aa]b|[Vv]om|[Zz]um|[Bb]is|[Ss]eit|de[mnr]|[a-z]+tag,?|[Mm]ittwoch,?) )"
    r"(?P<day>\d\d?)\. ?(?P<number>0?[1-9]|1[0-2])\.(?:(?P<year>\d{4})\b)?(?!\d)"
)
_CHINESE_DAY = re.compile(r"(?<=月)(\d\d?)号(?![线楼院])")
_TWICE = re.compile(r"\b2 times(?= an?\b| per\b|$)")
_ORDINAL = re.compile(r"\b(?:1st|2nd|3rd|[4-9]th|1[0-2]th)\b")
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()

_PAST = re.compile(r"\b(?:(half|quarter) past|quarter to) (\d\d?)\b", re.IGNORECASE)
_ENGLISH_HOUR = re.compile(
    r"(?<![\d.:])(\d\d?)(?:[:.](\d\d))?(?: ?(?:([ap])m\b|([ap])\.m\.)| in the (?:(morning)|afternoon|evening)\b)",
    re.IGNORECASE,
)
_GERMAN_PAST = lazy(
    r"\b(?:(?P<half>halb)|(?P<past>viertel nach)|(?:viertel vor|drei ?viertel)) (?P<hour>1[0-2]|[1-9]|eins|elf)\b",
    re.IGNORECASE,
)
_DAYPART = r"(?:(?P<early{0}>morgens|früh|vormittags)|(?P<late{0}>mittags|nachmittags|abends))\b"
_GERMAN_HOUR = lazy(
    r"(?<![\d.:])(?P<hour>\d\d?|\belf)(?:[.:](?P<minute>[0-5]\d))?"
    rf"(?: Uhr\b(?: (?P<after>[0-5]\d)\b)?(?: {_DAYPART.format(1)})?| {_DAYPART.format(2)})"
)
_CHINESE_HOUR = re.compile(
    r"(?:(?P<early>凌晨|早上|早晨|清晨|上午)|(?P<late>中午|下午|傍晚|晚上)|(?<!\d)(?=1[3-9]|2[0-3])) ?(?P<hour>\d\d?)"
    r"(?:点[钟整]?(?:(?P<half>半)|(?P<quarter>[一1三3])刻|(?P<minute>\d\d?)分)?|:(?P<after>\d\d))"
)
_ZERO = re.compile(r"(?<![\d:.])0(?=\d:\d\d)")

_CURRENCY = {"$": "$", "dollar": "$", "dollars": "$", "€": "€", "euro": "€", "euros": "€", "eur": "€"}
_MONEY = re.compile(
    r"(?:(?P<sign>[$€]) ?(?P<after>\d+(?:[.,]\d+)*)"
    r"|(?<![\d$€.,])(?P<number>\d+(?:[.,]\d+)*) ?(?P<name>dollars?|euros?|EUR|€)(?!\w)"
    r"(?: (?P<cents>\d\d)(?=\W*$|[.,;] | (?:for|für|pro|per|a|the|each|im|mehr)\b))?)",
    re.IGNORECASE,
)
_DECIMALS = re.compile(r"[.,](\d{1,2})$")
_YUAN = re.compile(r"[¥￥] ?(\d+(?:\.\d+)?)")
_DEGREES = re.compile(r"(?<=\d) ?(?:degrees ?|° ?|Grad )([CF])(?:elsius|ahrenheit)?\b")
_UNITS = by_word(
    {
        "kg": "kilogram kilograms kilogramm kilo kilos 公斤 千克",
        "g": "gram grams gramm 克",
        "km": "kilometre kilometres kilometer kilometers kilometern 公里 千米",
        "m": "metre metres meter meters metern",
        "cm": "centimetre centimetres centimeter centimeters zentimeter zentimetern 厘米",
        "mm": "millimetre millimetres millimeter millimeters",
        "l": "litre litres liter liters",
        "ml": "millilitre millilitres milliliter milliliters 毫升",
        "min": "minute minutes minuten",
        "h": "hour hours stunde stunden",
        "%": "percent prozent",
    }
)
_UNIT = lazy(
    rf"(?<=\d) ?(?:(?<= )({'|'.join(filter(str.isascii, _UNITS))})\b|(公斤|千克|克(?!拉)|公里|千米|厘米|毫升))",
    re.IGNORECASE,
)


def in_one_spelling(text: str) -> str:
    """The text, whose numbers are in digits, with its clocks, dates, money and units in one spelling."""
    text = _CHINESE_DAY.sub(r"\1日", _DATE.sub(_date, _GERMAN_DATE.sub(_german_date, text))).replace(
        "块钱", "元"
    )
    text = _TWICE.sub("twice", text)
    text = _ORDINAL.sub(lambda match: _ORDINALS[int(match[0][:-2]) - 1], text)
    text = _YUAN.sub(r"\1元", _MONEY.sub(_money, with_one_clock(text)))
    return _UNIT.sub(_unit, _DEGREES.sub(r" °\1", text))


def with_one_clock(text: str) -> str:
    """The text with its hours from 0 to 24, as 18:00."""
    text = _CHINESE_HOUR.sub(_chinese_hour, _ENGLISH_HOUR.sub(_english_hour, _PAST.sub(_past, text)))
    return _ZERO.sub("", _GERMAN_HOUR.sub(_german_hour, _GERMAN_PAST.sub(_german_past, text)))


def _date(match: re.Match[str]) -> str:
    if match["iso"]:
        month, day, year = int(match["of"]), int(match["on"]), match["iso"]
        return f"{year}年{month}月{day}日" if has_han(match.string) else _day(month, day, year)
    month = _NUMBERS[match["month"] or match["name"]]
    return _day(month, int(match["day"] or match["after"]), match["year"] or match["last"])


def _german_date(match: re.Match[str]) -> str:
    return match["before"] + _day(int(match["number"]), int(match["day"]), match["year"])


def _day(month: int, day: int, year: str | None) -> str:
    return f"{_ENGLISH_MONTHS[month - 1]} {day}" + (f" {year}" if year else "")


def _past(match: re.Match[str]) -> str:
    hour = int(match[2])
    if not 1 <= hour <= 12:
        return match[0]
    if match[1]:
        return f"{hour}:{'30' if match[1].lower() == 'half' else '15'}"
    return f"{hour - 1 or 12}:45"


def _german_past(match: re.Match[str]) -> str:
    hour = _hour(match["hour"])
    if match["past"]:
        return f"{hour}:15"
    return f"{hour - 1 or 12}:{'30' if match['half'] else '45'}"


def _hour(word: str) -> int:
    return {"eins": 1, "elf": 11}.get(word.lower()) or int(word)


def _english_hour(match: re.Match[str]) -> str:
    hour, minute = int(match[1]), match[2] or "00"
    late = (match[3] or match[4] or ("a" if match[5] else "p")).lower() == "p"
    return f"{hour % 12 + 12 * late}:{minute}" if 1 <= hour <= 12 else match[0]


def _german_hour(match: re.Match[str]) -> str:
    hour, minute = _hour(match["hour"]), match["minute"] or match["after"] or "00"
    part = match["early1"] or match["early2"] or match["late1"] or match["late2"] or ""
    if hour == 12 and part and part != "mittags":
        return match[0]  # the day that begins, or the one that ends
    late = (match["late1"] or match["late2"]) and hour < (11 if part == "mittags" else 12)
    return f"{hour + 12 if late else hour}:{minute}"


def _chinese_hour(match: re.Match[str]) -> str:
    hour = int(match["hour"])
    minute = 30 if match["half"] else {"一": 15, "1": 15, "三": 45, "3": 45}.get(match["quarter"], 0)
    minute = int(match["minute"] or match["after"] or minute)
    if hour == 12 and match["late"] in (None, "晚上"):
        return match[0]  # the day that begins, or the one that ends
    late = match["late"] and hour < (11 if match["late"] == "中午" else 12)
    return f"{hour + 12 if late else hour}:{minute:02}"


def _money(match: re.Match[str]) -> str:
    """An amount as $4.20: its last comma or full stop is the decimal one, unless three digits follow."""
    digits = match["after"] or match["number"]
    decimals = _DECIMALS.search(digits)
    whole = digits[: decimals.start()] if decimals else digits
    part = match["cents"] or (decimals[1].ljust(2, "0") if decimals else "")
    sign = match["sign"] or _CURRENCY[match["name"].lower()]
    return f"{sign}{re.sub('[.,]', '', whole)}" + (f".{part}" if part.strip("0") else "")


def _unit(match: re.Match[str]) -> str:
    unit = _UNITS[(match[1] or match[2]).lower()]
    return unit if unit == "%" else f" {unit}"
