"""Cuts a text into sentences, and shortens one to so many tokens."""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence

from memory_server.language.lazy import lazy
from memory_server.language.sentence_ends import ends
from memory_server.language.text import SPACELESS, has_han
from memory_server.language.tokens import cumulated

_BULLET = re.compile(r"\s*(?:#+|[-*•])\s+")
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

_PER_TOKEN = 12
"""Characters: no token of prose is longer on average, so more of a text need not be looked at."""

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


def shortened(text: str, most: float) -> str:
    """The text, or its first clauses, or words where a clause is longer; with … where something is left out."""
    return lengths(text, (most,))[0]


def lengths(text: str, limits: Sequence[float]) -> list[str]:
    """The text shortened to each of several limits in tokens."""
    text = line(text)
    looked_at = text[: int(max(limits) * _PER_TOKEN)]
    places, sums = cumulated(looked_at)

    def weight(end: int) -> float:
        return sums[bisect_right(places, end) - 1]

    if len(looked_at) == len(text) and sums[-1] <= min(limits):
        return [text] * len(limits)
    clauses = [match.start() for match in _CLAUSE_END.finditer(looked_at)]
    words = [match.start() for match in _WORD_END.finditer(looked_at) if match.start()]

    def cut(most: float) -> str:
        if len(looked_at) == len(text) and sums[-1] <= most:
            return text
        end = _last(clauses, most, weight)
        if end is None or weight(end) < _NEAR * most:
            end = _last(words, most, weight) or end or places[bisect_right(sums, most) - 1]
        return looked_at[:end].rstrip(_LEFT_AT_END) + "…"

    return [cut(most) for most in limits]


def _last(ends: list[int], most: float, weight: Callable[[int], float]) -> int | None:
    """The last of these places up to which the text has at most so many tokens."""
    fitting = bisect_right(ends, most, key=weight)
    return ends[fitting - 1] if fitting else None


def ended(text: str) -> str:
    """The text with a full stop, unless it ends with one."""
    if text.endswith(_STOPS):
        return text
    last = text[-1:]
    return text + ("。" if has_han(last) or "\u3041" <= last <= "\u30ff" else ".")
