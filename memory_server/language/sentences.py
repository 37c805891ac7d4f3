"""Cuts a text into sentences, and shortens one to so many tokens."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from memory_server.language.lazy import lazy
from memory_server.language.sentence_ends import ends
from memory_server.language.text import SPACELESS, has_han, width
from memory_server.language.tokens import cumulated

_BULLET = re.compile(r"^\s*(?:#+|[-*•])\s+")
"""What opens a line of a list or a title."""

_CLAUSE_END = re.compile(
    r"[,;](?=\s)|[，；、]|\s+(?=[(（–—])|(?<=\S)——"
    r"|\s+(?=(?:because|since|so that|which|while|but|although|unless)\b)"
)
"""Where a clause ends. A comma between two digits ends none."""

_WORD_END = lazy(rf"\s+|(?<=[{SPACELESS}])|(?=[{SPACELESS}])")

_STOPS = (".", "!", "?", "。", "！", "？", "…")

_NEAR = 0.6
"""A clause that ends before this share of the tokens is too short: the text is cut at a word, later."""

_SPARED = 6.0
"""Tokens, some 25 letters or 9 characters of Chinese: a text or a clause that is longer by fewer is not cut."""

_PER_TOKEN = 12
"""Characters: no token of prose is longer on average, so more of a text need not be looked at."""

_SIGNS, _CLOSING = ".!?…。！？,;:，；：、-–—", "\"'“”‘’`»)]）】」』 "
"""Signs that end a sentence or a clause, and what may stand behind them."""

_WRAPPED = 50
"""Columns from which on a line that no sign ends may be a sentence that goes on in the next line of a file."""

_LEFT_AT_END = " ,;:，；：、.。-–—(（"
"""Marks that do not stand before …."""


def split(text: str) -> list[str]:
    """The sentences, each on one line: a second line could look like a heading."""
    text = text.strip()
    parts, begin = [], 0
    for end, following in ends(text):
        parts.append(text[begin:end])
        begin = following
    lines = (_BULLET.sub("", line(part), count=1) for part in (*parts, text[begin:]))
    return [part for part in lines if part.strip()]


def line(text: str) -> str:
    """The text on one line."""
    return " ".join(text.split())


def joined(pieces: Sequence[str]) -> str:
    """The sentences and lines of a text on one line. A semicolon ends a line that no sign ends: two lines that run
    together would say something else.
    """
    text = pieces[0]
    for before, after in pairwise(pieces):
        text += _between(before, after) + after
    return text


def _between(before: str, after: str) -> str:
    last = before.rstrip(_CLOSING)[-1:]
    if last in _SIGNS:
        return "" if has_han(before) else " "
    if width(before) >= _WRAPPED:
        return " "
    return "；" if has_han(last + after[0]) else "; "


def shortened(text: str, most: float) -> str:
    """The text, or its first clauses, or words where a clause is longer; with … where something is left out."""
    return lengths(text, (most,))[0]


def lengths(text: str, limits: Sequence[float], *, spare: bool = False) -> list[str]:
    """The text shortened to each of several limits in tokens.

    `spare`: a limit may be passed by a few, where the text or a clause ends soon behind it.
    """
    text = line(text)
    looked_at = text[: int((max(limits) + spare * _SPARED) * _PER_TOKEN)]
    return list(_lengths(looked_at, len(looked_at) == len(text), tuple(limits), spare * _SPARED))


@lru_cache(maxsize=2048)
def _lengths(looked_at: str, is_whole: bool, limits: tuple[float, ...], spared: float) -> list[str]:
    """The lengths of a line, kept: each briefing shortens mostly the lines of the one before it."""
    places, sums = cumulated(looked_at)
    if is_whole and sums[-1] <= min(limits):
        return [looked_at] * len(limits)
    clauses = [match.start() for match in _CLAUSE_END.finditer(looked_at)]

    def weight(end: int) -> float:
        return sums[bisect_right(places, end) - 1]

    def cut(most: float) -> str:
        if is_whole and sums[-1] <= most + spared:
            return looked_at
        fitting = bisect_right(sums, most)
        too_far = places[fitting] if fitting < len(places) else len(looked_at) + 1
        end = _last(clauses, too_far)
        if end is None or weight(end) < _NEAR * most:
            soon = next((clause for clause in clauses if clause >= too_far), None) if spared else None
            if soon and weight(soon) <= most + spared:
                end = soon
            else:
                end = _last_word(looked_at, too_far) or end or places[fitting - 1]
        return looked_at[:end].rstrip(_LEFT_AT_END) + "…"

    return [cut(most) for most in limits]


def _last(ends: list[int], too_far: int) -> int | None:
    """The last of these places that is before another one."""
    before = bisect_left(ends, too_far)
    return ends[before - 1] if before else None


def _last_word(text: str, too_far: int) -> int | None:
    """The end of the last word of a line that ends before this place."""
    if text.isascii():
        return max(text.rfind(" ", 1, too_far), 0) or None
    return _last([match.start() for match in _WORD_END.finditer(text, 0, too_far)], too_far) or None


def ended(text: str) -> str:
    """The text with a full stop, unless it ends with one."""
    if text.endswith(_STOPS):
        return text
    last = text[-1:]
    return text + ("。" if has_han(last) or "\u3041" <= last <= "\u30ff" else ".")
