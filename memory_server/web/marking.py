"""Marks the words of a question in a text, in every script, and cuts a long text to where most of them are."""

import re
from collections.abc import Iterator
from functools import lru_cache

import snowballstemmer
from markupsafe import Markup, escape

from memory_server.language.query import parse
from memory_server.language.text import SPACELESS, fold

EXCERPT = 600
"""Characters of a text that a list shows."""

SEEN = 240
"""Characters that a list shows without a click, about three lines."""

BEFORE = 40
"""Characters of a cut text before the first found word."""

LOOKED_AT = 20_000
"""Characters of a text in which words are looked for: longer ones are shown in parts."""

Span = tuple[int, int]

_PORTER = snowballstemmer.stemmer("porter")
"""The stemmer of the word index."""

_BLANK_LINES = re.compile(r"\n\s*\n")

_PIECES = re.compile(rf"[{SPACELESS}]|[^\W_{SPACELESS}]+[+#]*")
"""A character of a spaceless script, or a word without the marks inside it."""


def marked(text: str, question: str) -> Markup:
    """Return the part of a text that holds most words of a question, escaped, with each of them in `<mark>`."""
    text = _BLANK_LINES.sub("\n", text)
    spans = found_words(text, question)
    start = _start(text, [span[0] for span in spans])
    end = len(text) if len(text) <= start + EXCERPT else start + EXCERPT - 1
    html, place = escape("… " if start else ""), start
    for first, last in spans:
        if start <= first and last <= end:
            html += escape(text[place:first]) + Markup("<mark>{}</mark>").format(text[first:last])
            place = last
    return html + escape(text[place:end]) + ("…" if end < len(text) else "")


def found_words(text: str, question: str) -> list[Span]:
    """Return where the words of a question stand in a text; those that touch each other are one."""
    terms = {tuple(key for _, key in _keyed(term)) for term in parse(question).terms} - {()}
    pieces = list(_keyed(text[:LOOKED_AT]))
    keys = [key for _, key in pieces]
    spans: list[Span] = []
    for place in range(len(pieces)):
        for term in terms:
            if tuple(keys[place : place + len(term)]) == term:
                _add(spans, pieces[place][0][0], pieces[place + len(term) - 1][0][1])
    return spans


def _keyed(text: str) -> Iterator[tuple[Span, str]]:
    """Yield each word of a text with what it has in common with its other forms."""
    for match in _PIECES.finditer(text):
        yield match.span(), _stem(match[0])


@lru_cache(maxsize=4096)
def _stem(word: str) -> str:
    folded = fold(word)
    return str(_PORTER.stemWord(folded)) if folded.isascii() and folded.isalpha() else folded


def _add(spans: list[Span], first: int, last: int) -> None:
    """Add a place, which begins behind the others or in the last of them."""
    if spans and first <= spans[-1][1]:
        spans[-1] = spans[-1][0], max(last, spans[-1][1])
    else:
        spans.append((first, last))


def _start(text: str, places: list[int]) -> int:
    """Return where the excerpt begins: at 0, unless more of the found words are seen further on."""
    best = max(places, key=lambda place: sum(place <= start < place + SEEN for start in places), default=0)
    if best + BEFORE < SEEN or len(text) <= SEEN:
        return 0
    cut = max(text.rfind("\n", 0, best), text.rfind(" ", 0, best - BEFORE))
    return cut + 1 if cut > best - 2 * BEFORE else best - BEFORE
