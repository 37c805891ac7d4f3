"""The values in a text that another text may state anew: numbers, times, days, dates, months, names and codes."""

import re
from dataclasses import dataclass

from memory_server.language import background, calendar_words, query
from memory_server.language.lazy import lazy
from memory_server.language.text import has_han

NEAR = 4.0
"""Times that a number without unit may be larger or smaller than the one that it replaces."""

DAYS = (
    "mon(?:day)?s?|tue(?:s(?:day)?)?s?|wed(?:nesday)?s?|thu(?:rs?(?:day)?)?s?|fri(?:day)?s?|sat(?:urday)?s?"
    "|sun(?:day)?s?"
)
MONTHS = "|".join(calendar_words.MONTHS)

_LETTER = r"[^\W\u4e00-\u9fff]"
_LETTER_OR_MARK = rf"(?:{_LETTER}|['’/-])"

_VALUE = lazy(
    r"(?i:(?P<time>(?<![\d.])\d{1,2}[:.]\d\d(?!\.?\d)(?:\s?[ap]m\b)?|(?<!\d)\d{1,2}\s?(?:[ap]m\b|[点时](?:半|\d{1,2}分?)?)))"
    rf"|(?i:(?P<date>(?<!\d)\d{{1,2}}(?:st|nd|rd|th)\b|(?<!\d)\d{{1,2}}(?=\s(?:{MONTHS})\b)"
    r"|(?<=\d月)\s?\d{1,2}\s?[日号]?|(?<!\d)\d{1,2}\s?[号日](?![线楼院门])))"
    rf"|(?i:\b(?P<day>{DAYS})\b)|(?P<zh_day>(?:周|星期|礼拜)[一二三四五六日天])"
    rf"|(?i:\b(?P<month>{MONTHS})\b)|(?P<zh_month>(?<!\d)\d{{1,2}}\s?月)"
    r"|(?P<code>(?<![\w/])/[\w./-]+|\b[A-Za-z]+(?:[-_][A-Za-z0-9]+)*[-_]?\d[\w.-]*\b)"
    r"|(?P<number>(?<![A-Za-z0-9_.])(?<!\d\sto\s)\d+(?:[.,]\d+)*)"
    rf"|(?P<name>(?<![A-Za-z0-9])[A-Z](?={_LETTER}){_LETTER_OR_MARK}*(?:\s[A-Z]{_LETTER_OR_MARK}+)*)"
    r"|(?i:\b(?:called|named)\s(?!(?:them|him|her|me|you|us|it|in|for|on|off|out)\b))(?P<called>[\w'’-]+)"
    r"|(?<=[用到成是叫找换走上])\s?(?P<latin>[A-Za-z][\w.+-]+)|(?<=[叫姓])(?P<zh_name>(?!了)[\u4e00-\u9fff]{1,3})"
)
_UNIT = lazy(r"\s?([%‰°]|[A-Za-z]+|[\u4e00-\u9fff])")
_LABEL = lazy(r"([A-Za-z]+|[\u4e00-\u9fff]{2})\s?$")
_NO_UNITS = frozenset("了的是到在吧就和与也才还都起去")
_NOUN = lazy(r"(?:ings?|tions?|ments?|ers)$")
_BEFORE_A_TIME = frozenset("|to|at|until|till|from|by|before|after".split("|"))
_NAMES = frozenset({"name", "code"})
_OF_TIME = lazy(f"{DAYS}|{MONTHS}")


@dataclass(frozen=True, slots=True)
class StatedValue:
    """A value with its kind. Of a number, `unit` is the word behind it, of a Chinese one its first character, and
    `label` the word before it."""

    text: str
    kind: str
    unit: str
    label: str
    start: int

    @property
    def names(self) -> bool:
        return self.kind in _NAMES

    @property
    def shape(self) -> str:
        """The value with 0 for each number: one of gpu-07 and gpu-11."""
        return re.sub(r"\d+", "0", self.text)


def read(text: str) -> list[StatedValue]:
    """Return the values in a text, whose numbers are in digits."""
    values = [_value(match) for match in _VALUE.finditer(text)]
    return [value for value in values if value.start or value.kind != "name" or _is_rare(value.text)]


def alike(new: StatedValue, old: StatedValue) -> bool:
    """True if one value may take the place of the other."""
    if new.names and old.names:
        return not old.text.startswith(new.text) and not new.text.startswith(old.text)
    if {new.kind, old.kind} == {"number", "time"}:
        number = new if new.kind == "number" else old
        return not number.unit and _size(number) <= 24 and number.label in _BEFORE_A_TIME
    if new.kind != old.kind or new.kind != "number":
        return new.kind == old.kind
    if new.unit and old.unit:
        return new.unit == old.unit or new.label == old.label != ""
    return new.label == old.label != "" or are_near(new, old, NEAR)


def are_near(new: StatedValue, old: StatedValue, times: float) -> bool:
    """True if two numbers are of one size."""
    return _size(old) <= times * _size(new) and _size(new) <= times * _size(old)


def is_of_time(word: str) -> bool:
    """True if a word is a day, a month, or has a number."""
    return word[0].isdigit() or _OF_TIME.fullmatch(word) is not None


def _value(match: re.Match[str]) -> StatedValue:
    group = match.lastgroup or ""
    kind = {"called": "name", "latin": "name"}.get(group, group.removeprefix("zh_"))
    text = match[group].casefold().strip()
    is_number = kind == "number"
    unit = _UNIT.match(match.string, match.end()) if is_number else None
    label = _LABEL.search(match.string[: match.start()]) if is_number else None
    return StatedValue(
        text.removesuffix("s") if kind == "day" and len(text) > len("thurs") else text,
        kind,
        _unit(unit[1].casefold()) if unit else "",
        label[1].casefold() if label else "",
        match.start(group),
    )


def _unit(word: str) -> str:
    is_none = word in query.ENGLISH_STOP_WORDS or word in _NO_UNITS
    return "" if is_none else word if has_han(word) else word.removesuffix("s")


def _size(value: StatedValue) -> float:
    digits = re.match(r"\d+(?:\.\d+)?", value.text.replace(",", ""))
    return float(digits[0]) if digits else 0.0


def _is_rare(name: str) -> bool:
    """True if the first word of a text is a name, and not only written in a capital."""
    if " " in name:
        return True
    if _NOUN.search(name):
        return False
    return (
        name not in query.ENGLISH_STOP_WORDS
        and background.share(query.uncontracted(name)) <= background.UNSEEN
    )
