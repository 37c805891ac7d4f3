"""Phrases that say the same, in one form: "on Thursdays" and "every Thursday", jeden Freitag and freitags, 每个星期 and
每周, and a label with its value: "Spare tyre: in the cellar", 门锁密码:4471.

Beside a negation they differ: who does not work on Thursdays is not who does not work every Thursday.
"""

import re

from memory_server.language.calendar_words import DAYS
from memory_server.language.lazy import lazy

_GERMAN_DAYS = "Montag|Dienstag|Mittwoch|Donnerstag|Freitag|Samstag|Sonnabend|Sonntag"
_ON_DAYS = lazy(rf"\b(on) ({'|'.join(DAYS)})s\b", re.IGNORECASE)
_JEDEN_TAG = lazy(rf"\b([Jj])eden ({_GERMAN_DAYS})\b")
_IMMER_TAGS = lazy(rf"\b([Ii])mmer ({'|'.join(f'{day.lower()}s' for day in _GERMAN_DAYS.split('|'))})\b")
_EACH_WEEK = re.compile("每个?(?:星期|礼拜|周)")
_LIMITED = lazy(
    r"\b(?:not?|never|only|just|except|nicht|kein\w*|nie|nur|außer)\b|n['’]t\b|[不没别非未仅只除]",
    re.IGNORECASE,
)
_LABEL = lazy(r"[A-Z][a-z]+((?: [a-z]+){1,3}): (?=[^\s:?]+(?: [^:?]*)?$)")
"""A label of several words, of which none but the first has a capital: the name of a speaker has no such form."""

_CHINESE_LABEL = re.compile(
    r"([㐀-鿿]{1,6}(?:密码|地址|号码|电话|生日|价格|名字|型号|时间|日期)):\s*(?=[^\s:?]+$)"
)


def in_one_form(text: str) -> str:
    """The text with each of these phrases in one form."""
    text = _CHINESE_LABEL.sub(r"\1是", _EACH_WEEK.sub("每周", text))
    if label := _LABEL.match(text):
        text = f"The {text[0].lower()}{label[0][1:-2]} is {text[label.end() :]}"
    if _LIMITED.search(text):
        return text
    text = _ON_DAYS.sub(lambda match: f"{_cased(match, 'every')} {match[2]}", text)
    return _IMMER_TAGS.sub(lambda match: _cased(match, match[2]), _JEDEN_TAG.sub(_on_day, text))


def _on_day(match: re.Match[str]) -> str:
    return _cased(match, f"{match[2].lower()}s")


def _cased(match: re.Match[str], word: str) -> str:
    return word.capitalize() if match[1][0].isupper() else word
