"""Defines what a word is, in every script, and which characters of a text are never stored."""

import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import TypeVar

from memory_server.language.han import TO_SIMPLIFIED
from memory_server.language.lazy import lazy

Segment = Callable[[str], list[str]]
"""A function that splits a run of Han characters into words."""

Meaning = TypeVar("Meaning")


def by_word(words: Mapping[Meaning, str]) -> dict[str, Meaning]:
    """Return the meaning of each word; of each meaning the words stand in one text, with blanks between them."""
    return {word: meaning for meaning, text in words.items() for word in text.split()}


_COMMA = re.compile("[,，、]")


def listed(text: str) -> list[str]:
    """Return what stands between the commas of a text, also the Chinese ones, without what is empty."""
    return [part for piece in _COMMA.split(text) if (part := piece.strip())]


HAN = "\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
"""Han characters, as a character class (Unicode blocks, radicals and 々〆〇 included)."""

KANA_AND_HANGUL = "\u3041-\u30ff\u31f0-\u31ff\uac00-\ud7a3"
"""Japanese kana and Korean hangul, as a character class (Unicode blocks)."""

SPACELESS = HAN + KANA_AND_HANGUL
"""Character class of the scripts in which the word index stores each character as a word of its own."""

_TOKEN = lazy(
    rf"(?P<han>[{HAN}]+)"
    rf"|(?P<kana>[{KANA_AND_HANGUL}]+)"
    rf"|[^\W{SPACELESS}]+(?:['’.\-_/:@+#]+[^\W{SPACELESS}]+)*[+#]*"
)
"""A word, or a run of Han or kana that is still to be split."""

_HAN_CHARACTER = lazy(f"[{HAN}]")
_WORD_BESIDES = lazy(rf"[^\W\d_{SPACELESS}]{{2,}}")

_NEVER_KEPT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # control characters but tab, line feed, carriage return
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks and overrides of direction
    "\u00ad\u180e\u200b\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb"  # of no width
    "\U000e0000-\U000e007f]"  # tag characters
)
"""Characters that a person cannot see but a model may read."""

_JOINED = f"[^\x00-\x7f\\s\u200c\u200d{SPACELESS}]"
"""A character that a zero-width joiner may stand next to."""
_STRAY_JOINER = lazy(f"(?<!{_JOINED})[\u200c\u200d]|[\u200c\u200d](?!{_JOINED})")

_SELECTOR = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
"""Variation selectors, as a character class."""

_STRAY_SELECTOR = re.compile(f"(?<![^\x00-\x7f\\s{_SELECTOR}])(?<![0-9#*])[{_SELECTOR}]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LONG_RUN = re.compile(r"[^\w\s\x00-\x7f]{31,}")
"""More than 30 characters that may all be combining marks (the limit of Unicode's Stream-Safe Text Format)."""


_ESCAPED_SURROGATE = re.compile(
    r"(?<!\\)((?:\\\\)*)(?:(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
"""An escaped surrogate in JSON: a pair, which is kept, or a lone one."""


def without_lone_surrogates(json: str) -> str:
    """JSON with each escaped lone surrogate replaced by U+FFFD, because UTF-8 cannot encode it."""
    if "\\ud" not in json and "\\uD" not in json:
        return json
    return _ESCAPED_SURROGATE.sub(lambda match: match[1] + (match[2] or "\\ufffd"), json)


def visible(text: str) -> str:
    """The text without what people cannot see but a model may obey: control, direction, zero-width, tag characters.

    One joiner stays between two characters of emoji or of scripts that need it, and one variation selector after a
    character that can vary; rows of them can hide a text. A lone surrogate, which UTF-8 cannot encode, becomes U+FFFD.
    Everything else stays unchanged, including spaces and line ends.
    """
    text = _SURROGATE.sub("\ufffd", text)
    text = _NEVER_KEPT.sub("", text)
    if "\u200c" in text or "\u200d" in text:
        text = _STRAY_JOINER.sub("", text)
    return _STRAY_SELECTOR.sub("", text)


def clean(text: str) -> str:
    """A text to be read as prose: only visible characters, no space around it, line feeds as line ends, in NFC."""
    return (
        unicodedata.normalize("NFC", stream_safe(visible(text)))
        .replace("\r\n", "\n")
        .replace("\r", "\n")
        .strip()
    )


def stream_safe(text: str) -> str:
    """The text with a joiner after every 30 marks in a row, because normalizing a longer row takes quadratic time."""
    if text.isascii():
        return text
    return _LONG_RUN.sub(_with_joiners, text)


def _with_joiners(run: re.Match[str]) -> str:
    parts: list[str] = []
    marks = 0
    for character in run[0]:
        marks = marks + 1 if unicodedata.combining(character) else 0
        if marks == 31:
            parts.append("\u034f")
            marks = 1
        parts.append(character)
    return "".join(parts)


def fold(text: str) -> str:
    """The text in lower case, one width (NFKC) and simplified Han, so that two spellings of a word become equal."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", text).lower().translate(TO_SIMPLIFIED)


def width(text: str) -> int:
    """Count the columns that a text takes on a terminal: a Chinese character takes two."""
    wide = unicodedata.east_asian_width
    return sum(2 if wide(letter) in "WF" else not unicodedata.combining(letter) for letter in text)


def is_chinese(text: str) -> bool:
    """True if a text is mainly Chinese: it has more Han characters than words in other scripts."""
    return not text.isascii() and len(_HAN_CHARACTER.findall(text)) > len(_WORD_BESIDES.findall(text))


def has_han(text: str) -> bool:
    return not text.isascii() and _HAN_CHARACTER.search(text) is not None


def words(text: str, segment: Segment) -> list[str]:
    """The words in order, folded; `segment` splits runs of Han. Numbers, versions, paths and `c++` stay whole."""
    tokens: list[str] = []
    for match in _TOKEN.finditer(fold(text)):
        if match["han"]:
            tokens.extend(segment(match["han"]))
        else:
            tokens.append(match[0])
    return tokens
