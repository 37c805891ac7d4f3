"""Numbers in one spelling: 1,000 and 1000, 二月五日 and 2月5日, six and 6; and which numbers a text names."""

import re

from memory_server.language.calendar_words import MONTH_NUMBERS, MONTHS
from memory_server.language.spelling import with_one_clock
from memory_server.language.text import fold

_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
"""A number with commas between thousands."""

_DIGITS = {"〇": 0, "两": 2} | {numeral: number for number, numeral in enumerate("零一二三四五六七八九")}
_UNITS = {"十": 10, "百": 100, "千": 1000}
_LARGE = {"万": 10_000, "亿": 100_000_000}

_NUMERAL = re.compile(f"[{''.join([*_DIGITS, *_UNITS, *_LARGE])}]+")
_MEASURES = tuple(
    "年 月 日 号 天 周 岁 人 名 次 小时 分钟 秒 元 米 公里 公斤 斤 克 升 度 层 楼 期 级 倍 "
    "季度 星期 点半 点钟 点整".split()
)
_CLASSIFIERS = (
    *_MEASURES,
    *"个 位 块 台 条 张 份 页 行 版 种 项 步 组 所 家 只 门 套 辆 核 成 折 星 点 段 票 篇 本 间".split(),
)
"""What a numeral of one character must stand before to be a number: 两周 is 2 weeks. 一 is often an article (一个, a)
or a bit (一点), so it must stand before one of _MEASURES."""

_NO_NUMBER = re.compile("[周期拜统唯同逐专万任单每之初]$")
"""Before 一 it makes a word: 周一 is Monday, 统一 to unify."""

_SMALL = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_GERMAN = "zwei drei vier fünf sechs sieben acht neun zehn".split()
_GERMAN_TEENS = "zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn".split()
_GERMAN_TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()
_SPELT = (
    {word: number for number, word in enumerate(_SMALL, 2)}
    | {word: 10 * number for number, word in enumerate(_TENS, 2)}
    | {word: number for number, word in enumerate(_GERMAN, 2)}
    | {word: number for number, word in enumerate(_GERMAN_TEENS, 12)}
    | {word: 10 * number for number, word in enumerate(_GERMAN_TENS, 2)}
    | {
        f"{digit}und{ten}": 10 * tens + ones
        for tens, ten in enumerate(_GERMAN_TENS, 2)
        for ones, digit in enumerate(["ein", *_GERMAN[:8]], 1)
    }
)
_WORD = re.compile(
    rf"(?<![\w-])(?:(?P<tens>{'|'.join(_TENS)})-(?P<ones>{'|'.join(['one', *_SMALL[:8]])})"
    rf"|(?P<one>{'|'.join(_SPELT)}))"
    r"(?![\w'’-])",
    re.IGNORECASE,
)
"""Number words but one, which may be a pronoun, and elf, which is a word in English too."""

_ONES = {"ein": 1} | dict(zip(_GERMAN[:8], range(2, 10), strict=True))
_GERMAN_LARGE = re.compile(
    rf"(?<![\w-])(?:(?P<thousands>{'|'.join(_ONES)})?tausend)?(?:(?P<hundreds>{'|'.join(_ONES)})?hundert)?"
    rf"(?:und)?(?P<rest>elf|{'|'.join(sorted(_SPELT, key=len, reverse=True))})?(?![\w-])",
    re.IGNORECASE,
)
_HUNDREDS = re.compile(r"(?<![\w.,-])([2-9]) hundred(?: and (\d\d?)(?![\d.,:/%-]))?(?![\w-])", re.IGNORECASE)
"""Hundreds in English, whose other numbers are in digits: 2 hundred and 50."""

_METRES = re.compile(
    r"([一二两三四五六七八九\d])米([零一二三四五六七八九])?([一二三四五六七八九])(?![一-龥]*[十百千]|[个条根只张棵])"
)
"""A height or length as it is said: 一米七二 is 1.72米, 两米一 is 2.1米."""

_LARGE_DIGITS = re.compile(r"(\d+(?:\.\d+)?)([万亿])")
_PERCENT = re.compile(r"百分之(\d+(?:\.\d+)?)")

_FULL_HOUR = re.compile(r"(?<!\d)(\d{1,2}):00(?![:\d])")
_DATE = re.compile(r"(?<![\d.])(\d{4}|\d{1,2}(?=\D\d{1,2}\D\d{4}))([-/.])(\d{1,2})\2(\d{1,4})(?![\d.])")
_MONTH = re.compile(
    rf"\b({'|'.join(MONTHS)}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?"
    r"(?=\s*\d)|(?<=\d)((?:st|nd|rd|th)?(?: of)? )(" + "|".join(MONTHS) + r")\b"
)
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_DIGIT = re.compile(r"\d")


def in_digits(text: str) -> str:
    """The text with its numbers written in digits, without commas between thousands.

    A number word stays where it may be something else: 万一, 一点, one.
    """
    text = without_commas(text)
    if not text.isascii():
        text = _NUMERAL.sub(_from_han, _METRES.sub(_from_metres, text))
        text = _PERCENT.sub(r"\1%", _LARGE_DIGITS.sub(_multiplied, text))
    if "hundert" in (folded := text.lower()) or "tausend" in folded:
        text = _GERMAN_LARGE.sub(_from_german, text)
    return _HUNDREDS.sub(_from_hundreds, _WORD.sub(_from_word, text))


def without_commas(text: str) -> str:
    """The text without commas between thousands."""
    return _THOUSANDS.sub(lambda match: match[0].replace(",", ""), text)


def named(text: str) -> frozenset[str]:
    """The numbers that a text names. Hours count from 0 to 24, months are numbers, a date is three of them."""
    text = in_digits(text)
    if not _DIGIT.search(text):  # as in most texts; all that follows takes 20 µs
        return frozenset()
    text = _FULL_HOUR.sub(r"\1", fold(with_one_clock(text)))
    text = _DATE.sub(r" \1 \3 \4 ", _MONTH.sub(_month, text))
    return frozenset(map(_plain, _NUMBER.findall(text)))


def value_of_han(text: str) -> int | None:
    """The value of a text that is nothing but a Chinese numeral."""
    return _value(text) if _NUMERAL.fullmatch(text) else None


def _plain(number: str) -> str:
    """A number without leading zeros, and without zeros at the end of a decimal fraction."""
    whole, point, fraction = number.partition(".")
    if point and "." not in fraction:
        fraction = fraction.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{fraction}" if fraction else "")


def _from_han(match: re.Match[str]) -> str:
    numeral, text = match[0], match.string
    before, after = text[: match.start()][-1:], text[match.end() : match.end() + 4]
    if len(numeral) == 1:
        counted = _MEASURES if numeral == "一" else _CLASSIFIERS
        is_word = numeral == "一" and _NO_NUMBER.search(before)
        if numeral not in {*_DIGITS, "十"} or not (
            before == "第" or (after.startswith(counted) and not is_word)
        ):
            return numeral
    elif all(character in _DIGITS for character in numeral):
        is_year = len(numeral) == 4 and after.startswith("年")
        return "".join(str(_DIGITS[digit]) for digit in numeral) if is_year else numeral
    value = _value(numeral)
    return numeral if value is None else str(value)


def _value(numeral: str) -> int | None:
    """The value of a Chinese numeral; None where it is not well formed, as 三四 (three or four) or 万一 (in case)."""
    total, section, digit, unit = 0, 0, None, 10_000
    for character in numeral:
        if character in _DIGITS:
            if digit:
                return None
            digit = _DIGITS[character]
        elif character in _UNITS:
            if (digit is None and (character != "十" or section or total)) or _UNITS[character] >= unit:
                return None
            unit = _UNITS[character]
            section, digit = section + (digit or 1) * unit, None
        else:
            if not section and not digit:
                return None
            counted = section + (digit or 0)
            total = total + counted * 10_000 if character == "万" else (total + counted) * _LARGE["亿"]
            section, digit, unit = 0, None, 10_000
    if digit and unit in (100, 1000) and numeral[-2] in _UNITS:  # 三千二 is 3200
        digit *= unit // 10
    return total + section + (digit or 0)


def _from_word(match: re.Match[str]) -> str:
    if match["one"]:
        return str(_SPELT[match["one"].lower()])
    ones = match["ones"].lower()
    return str(_SPELT[match["tens"].lower()] + (1 if ones == "one" else _SPELT[ones]))


def _from_german(match: re.Match[str]) -> str:
    folded = match[0].lower()
    if "hundert" not in folded and "tausend" not in folded:
        return match[0]
    value = 1000 * _ONES.get((match["thousands"] or "ein").lower(), 1) if "tausend" in folded else 0
    value += 100 * _ONES.get((match["hundreds"] or "ein").lower(), 1) if "hundert" in folded else 0
    rest = (match["rest"] or "").lower()
    return str(value + (11 if rest == "elf" else _SPELT.get(rest, 0)))


def _from_hundreds(match: re.Match[str]) -> str:
    return str(100 * int(match[1]) + int(match[2] or 0))


def _from_metres(match: re.Match[str]) -> str:
    digits = "".join(str(_DIGITS.get(digit, digit)) for digit in match.groups() if digit)
    return f"{digits[0]}.{digits[1:]}米"


def _multiplied(match: re.Match[str]) -> str:
    value = float(match[1]) * _LARGE[match[2]]
    return str(int(value)) if value == int(value) else match[0]


def _month(match: re.Match[str]) -> str:
    return f" {MONTH_NUMBERS[match[1] or match[3]]} "
