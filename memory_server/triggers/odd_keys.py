"""Keys of match_keys that are probably meant otherwise than they are searched for."""

import re
import unicodedata
from collections.abc import Iterable, Iterator

from memory_server.language.keys import UNSPACED
from memory_server.language.text import visible

_REGEX = re.compile(r"/(.+)/([a-z]*)")
_ESCAPE = re.compile(r"\\[bBdDsSwW.]|\.\*|\.\+|\[[^\]]+\][+*?]|^\^|\w\$$|\(\?:|\([^()]+\|[^()]+\)")
_COMMA = re.compile("\\s*[,;，、；]\\s*")
_BLANK = re.compile(f"(?<=[{UNSPACED}]) +(?=[{UNSPACED}])")
_CODE = frozenset(["||", "|", "*", "**", "*/", "/*"])
"""Keys that are signs of programming languages."""


def warnings(keys: Iterable[str]) -> Iterator[str]:
    for key in keys:
        if warning := _warning(key):
            yield warning


def _warning(key: str) -> str:
    if not key.strip():
        return "A key is empty, so it is never found."
    unseen = next((sign for sign in key if _is_unseen(sign)), "")
    if unseen:
        code = f"U+{ord(unseen):04X}"
        return f"The key '{visible(key)}' holds {code}, which nobody sees and few messages have. Remove it."
    regex = _REGEX.fullmatch(key.strip())
    if regex:
        return _said(key, "with its slashes", f"a regular expression without quotes: {key.strip()}")
    if _ESCAPE.search(key):
        return _said(key, "sign by sign", f"a regular expression: /{key.replace('/', chr(92) + '/')}/i")
    if key.strip() in _CODE:
        return "" if key.strip() != "*" else _said(key, "as this sign", "/./ for any text")
    if "|" in key:
        parts = [part.strip() for part in key.split("|") if part.strip()]
        return _said(key, "with the sign |", f"several keys: {_listed(parts)}")
    if "*" in key:
        return _said(key, "with the sign *", f"a regular expression: /{re.escape(key.replace('*', ''))}/i")
    parts = [part for part in _COMMA.split(key) if part]
    if len(parts) > 1 and all(len(part) <= 20 and not re.fullmatch(r"\d+", part) for part in parts):
        return _said(key, "as one text", f"several keys: {_listed(parts)}")
    if _BLANK.search(key):
        return _said(
            key, "with its blank", f"several keys: {_listed(_BLANK.split(key))}, or one without a blank"
        )
    return ""


def _is_unseen(sign: str) -> bool:
    """Return True if it is invisible and joins nothing: emoji and Persian words are joined by invisible signs."""
    return unicodedata.category(sign) == "Cf" and sign not in "\u200c\u200d"


def _said(key: str, how: str, mend: str) -> str:
    shown = key if len(key) <= 40 else f"{key[:40]}…"
    return f"The key '{shown}' is searched for {how}. If you did not mean that, write {mend}."


def _listed(parts: list[str]) -> str:
    return "[" + ", ".join(f"'{part}'" for part in parts[:5]) + "]"
