"""The Chinese of what people read, on a terminal and on the pages: one catalogue, `chinese.json`, by the English text.

`{}` in the English stands for a value of any length, and `{0}` in the Chinese for the first of these; `{0w}` where that
is a text of ours, `{0l}` where it is a list. A name in braces is filled in afterwards, by the code that has the value.
"""

import json
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from memory_server.language.text import has_han

FILE = Path(__file__).with_name("chinese.json")

_PLACE = re.compile(r"\{(\d)([wl]?)\}")
_OR = re.compile(r", or (?=a command that runs |an act that |an act for which )")


def chinese(text: str) -> str:
    """Return a text in Chinese, also one that has values in it; as it is, where it is none of ours."""
    plain = " ".join(text.split())
    words = entries().get(plain)
    return (_with_values(plain) or text) if words is None else words


def word(text: str) -> str:
    """Return a text without values in Chinese; as it is, where it is none of ours."""
    return entries().get(text, text)


def condition(words: str) -> str:
    """Return the condition of a rule, as `domain.rules` words it, in Chinese."""
    return "；或".join(chinese(part).replace("` or `", "` 或 `") for part in _OR.split(words))


def connection(text: str) -> str:
    """Return the text of a change of an edge, such as `supersedes m4: …`, in Chinese."""
    relation, _, memory = text.partition(" ")
    id, _, content = memory.partition(": ")
    return f"{word(relation)} {id}：{content}"


def reasons(text: str) -> str:
    """Return the reasons for the value of a trigger in Chinese."""
    return "；".join(map(chinese, text.split("; ")))


@cache
def entries() -> dict[str, str]:
    """Read the catalogue."""
    catalogue: dict[str, str] = json.loads(FILE.read_text(encoding="utf-8"))
    return catalogue


def _with_values(text: str) -> str | None:
    for begin, end, english in _patterns():
        if text.startswith(begin) and text.endswith(end) and (match := _pattern(english).fullmatch(text)):
            return _filled(entries()[english], list(map(_value, match.groups())))
    return None


def _value(text: str) -> str:
    """Return a value, in Chinese where it is a sentence of ours; a single word is the person's own."""
    sentence = text.strip()
    return chinese(sentence) if sentence.endswith((".", "?")) else word(text) if " " in text else text


def _filled(words: str, values: Sequence[str]) -> str:
    text, end = "", 0
    for place in _PLACE.finditer(words):
        text = _beside(text, words[end : place.start()])
        text, end = _beside(text, _IN[place[2]](values[int(place[1])])), place.end()
    return _beside(text, words[end:])


_IN: dict[str, Callable[[str], str]] = {
    "": str,
    "w": chinese,
    "l": lambda names: names.replace(", ", "、"),
}
"""By the letter of a place: how its value is put into the Chinese."""


def _beside(left: str, right: str) -> str:
    """Join two pieces: no blank stands between Chinese characters, and one between these and letters or digits."""
    begin, stop = left.rstrip(" "), right.lstrip(" ")
    if not begin or not stop:
        return left + right
    is_han = has_han(begin[-1]), has_han(stop[0])
    if all(is_han):
        return begin + stop
    outer = stop[0] if is_han[0] else begin[-1]
    return f"{begin} {stop}" if any(is_han) and outer.isalnum() else left + right


@cache
def _patterns() -> list[tuple[str, str, str]]:
    """Return the beginning, the end and the whole of each text with values, those with most letters first."""
    texts = [english for english in entries() if "{}" in english]
    by_letters = sorted(texts, key=lambda english: len(english.replace("{}", "")), reverse=True)
    return [(english.partition("{}")[0], english.rpartition("{}")[2], english) for english in by_letters]


@cache
def _pattern(english: str) -> re.Pattern[str]:
    return re.compile(re.escape(english).replace(r"\{\}", "(.*?)"), re.DOTALL)
