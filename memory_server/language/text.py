"""What counts as a word, in every script, and what is never kept of a text."""

import re
import unicodedata
from collections.abc import Callable

from memory_server.language.han import TO_SIMPLIFIED

Segment = Callable[[str], list[str]]
"""Cuts a run of Han characters into words."""

HAN = "\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
KANA_AND_HANGUL = "\u3041-\u30ff\u31f0-\u31ff\uac00-\ud7a3"
SPACELESS = HAN + KANA_AND_HANGUL
"""Character class of the scripts whose characters the word index sets apart."""

_TOKEN = re.compile(
    rf"(?P<han>[{HAN}]+)"
    rf"|(?P<kana>[{KANA_AND_HANGUL}]+)"
    rf"|[^\W{SPACELESS}]+(?:['’.\-_/:@+#]+[^\W{SPACELESS}]+)*[+#]*"
)
_HAN_CHARACTER = re.compile(f"[{HAN}]")

_NEVER_KEPT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # control characters but tab, line feed, carriage return
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks and overrides of direction
    "\u00ad\u180e\u200b\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb"  # of no width
    "\U000e0000-\U000e007f]"  # tag characters
)
_JOINED = f"[^\x00-\x7f\\s\u200c\u200d{SPACELESS}]"
_STRAY_JOINER = re.compile(f"(?<!{_JOINED})[\u200c\u200d]|[\u200c\u200d](?!{_JOINED})")
_SELECTOR = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_STRAY_SELECTOR = re.compile(f"(?<![^\x00-\x7f\\s{_SELECTOR}])(?<![0-9#*])[{_SELECTOR}]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LONG_RUN = re.compile(r"[^\w\s\x00-\x7f]{31,}")


_ESCAPED_SURROGATE = re.compile(
    r"(?<!\\)((?:\\\\)*)(?:(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


def without_lone_surrogates(json: str) -> str:
    """JSON with each escaped lone surrogate, which no file and no message can hold, as U+FFFD."""
    if "\\ud" not in json and "\\uD" not in json:
        return json
    return _ESCAPED_SURROGATE.sub(lambda match: match[1] + (match[2] or "\\ufffd"), json)


def visible(text: str) -> str:
    """Without what a reader cannot see and a model may obey: control, direction, zero-width and tag characters.

    One joiner stays between two characters of emoji and of scripts that need it, one variation selector
    after a character that can vary; rows of them only hide text. A lone surrogate, which no file can hold,
    becomes U+FFFD. All else stays as it is, spaces and line ends too.
    """
    text = _SURROGATE.sub("\ufffd", text)
    text = _NEVER_KEPT.sub("", text)
    return _STRAY_SELECTOR.sub("", _STRAY_JOINER.sub("", text))


def clean(text: str) -> str:
    """Text that is read as prose: what is visible, without space around it, line feeds as line ends, in NFC."""
    return (
        unicodedata.normalize("NFC", stream_safe(visible(text)))
        .replace("\r\n", "\n")
        .replace("\r", "\n")
        .strip()
    )


def stream_safe(text: str) -> str:
    """No more than 30 marks in a row without a joiner between: to normalize a longer row takes quadratic time."""
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
    """Lower case, one width (NFKC), simplified Han: two spellings of a word become one."""
    return unicodedata.normalize("NFKC", text).lower().translate(TO_SIMPLIFIED)


def has_han(text: str) -> bool:
    return _HAN_CHARACTER.search(text) is not None


def words(text: str, segment: Segment) -> list[str]:
    """The words in order, folded; runs of Han are cut by `segment`. Numbers, versions, paths and `c++` stay whole."""
    found: list[str] = []
    for match in _TOKEN.finditer(fold(text)):
        if match["han"]:
            found.extend(segment(match["han"]))
        else:
            found.append(match[0])
    return found
