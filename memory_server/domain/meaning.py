"""Reads what a restatement of a text must say too: its words and marks that carry meaning, in order, and its pauses."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from memory_server.language import function_words as function
from memory_server.language.han import TO_SIMPLIFIED
from memory_server.language.lazy import lazy
from memory_server.language.text import HAN, KANA_AND_HANGUL, SPACELESS, Segment, has_han

_STOPS = ".,;!?。"
"""Marks that end a sentence or a part of one."""

_RUN = lazy(
    rf"(?P<han>[{HAN}]+)"
    rf"|(?P<kana>[{KANA_AND_HANGUL}]+)"
    rf"|(?P<pause>(?<=[{SPACELESS}])[,;?。]+|(?<=[^\s{_STOPS}])[{_STOPS}]++(?![^\s{SPACELESS}])|\n)"
    rf"|(?P<other>(?:[^\s{SPACELESS}{_STOPS}]|[{_STOPS}]++(?=[^\s{SPACELESS}])|(?<!\S)[{_STOPS}]++)+)"
)
"""Cuts a text into Han, kana and hangul, pauses, and other runs. A mark belongs to the word that it touches ($5, f(x),
-D, [0,) or is a word of its own (`.` the folder). Only the marks of _STOPS, at the end of a word, are a pause."""

_ENDS_SENTENCE = frozenset(".!?。\n")
"""Marks after which a capital letter means nothing."""

_PLAIN = re.compile(r"[^\W\d_]+(?:[-'][^\W\d_]+)*")
"""A word of letters only, perhaps with hyphens or apostrophes inside."""

_CLOCK = re.compile(r"\d\d?:\d\d")
"""A comma before it changes nothing, unlike one between other numbers."""

_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)([A-Za-z]{1,3})")
"""A number and its unit without a space: 64GB means 64 GB."""

_SAME_MARK = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "“": '"', "”": '"', "−": "-", "–": "-", "‐": "-"})
"""Quotation marks and dashes that differ only in their form, each with the plain form."""

_REACH = 20
"""Number of words before and after a word that are looked at to judge it. Without this limit the time is quadratic
for a page without a full stop."""


class MeaningTerm(NamedTuple):
    """A word or mark that carries meaning: a restatement has the same one."""

    written: str
    stems: frozenset[str]
    """The words that it may be a form of, itself included; names, marks and numbers have only themselves."""
    has_s: bool = False
    """Whether it is the form with -s: the plural of a noun, the singular of a verb."""
    opening: bool = False
    """Whether it starts a sentence: then its capital means nothing."""
    exact: bool = False
    """Whether its case always counts: keys, paths, options, units."""


@dataclass(frozen=True, slots=True)
class TextMeaning:
    """The parts of a text that must be the same in a restatement."""

    terms: tuple[MeaningTerm, ...]
    pauses: frozenset[int]
    """The positions of commas, full stops and similar marks: the number of terms before each."""
    limited: bool
    """True if it has a word such as "not" or "only": then a comma decides what that word applies to."""
    case: str
    """`capitals`, `small`, or `mixed`."""


class _Token(NamedTuple):
    written: str
    opening: bool = False
    exact: bool = False
    named: bool = False
    """True if it has a capital inside a sentence: then it is never an article, a filler or a form of another word."""

    @property
    def word(self) -> str:
        return self.written if self.named or self.exact else self.written.lower()


_PAUSE = _Token(",", exact=True)
_QUESTION = _Token("?", exact=True)


def meaning_of(plain: str, segment: Segment) -> TextMeaning:
    """Read a text whose numbers are in digits and whose words are in one spelling."""
    text = plain.translate(TO_SIMPLIFIED)
    case = _case(text)
    tokens = _unopened(_spelled_out(list(_tokens(text.translate(_SAME_MARK), segment, case == "capitals"))))
    limited = any(function.limits(token.written.lower()) for token in tokens)
    terms: list[MeaningTerm] = []
    pauses: set[int] = set()
    for pause, clause in groupby(tokens, _PAUSE.__eq__):
        if pause:
            pauses.add(len(terms))
        else:
            terms.extend(_terms(list(clause), limited, segment))
    return TextMeaning(tuple(terms), frozenset(pauses - {0, len(terms)}), limited, case)


def _case(text: str) -> str:
    """The case of a text. Chinese and short texts are `mixed`: a word in capitals, such as PATH, is a name there."""
    if has_han(text) or len(text.split()) < 4:
        return "mixed"
    return "capitals" if text.isupper() else "small" if text.islower() else "mixed"


def _tokens(text: str, segment: Segment, capitals: bool) -> Iterator[_Token]:
    opening, number = True, False
    for match in _RUN.finditer(text):
        run = match[0]
        if match["pause"]:
            yield _QUESTION if "?" in run else _PAUSE
            opening, number = opening or not _ENDS_SENTENCE.isdisjoint(run), False
            continue
        for part in _parts_of_han(run, segment, number) if match["han"] else _latin(run):
            unit = number and len(part) < 4 and not match["han"]
            exact = unit or not (part == "'s" or _PLAIN.fullmatch(part) or _CLOCK.fullmatch(part))
            capital = part != part.lower() and not opening and not (capitals and len(part) > 2)
            yield _Token(part, opening, exact, capital)
            opening, number = False, part[-1].isdigit()


def _parts_of_han(run: str, segment: Segment, number: bool) -> list[str]:
    """The words of a run; after a number 个 is one of its own: 8个人 is no 个人."""
    cut = [run[:1], *segment(run[1:])] if number and run[0] == "个" and len(run) > 1 else segment(run)
    return [part for word in cut for part in _han(word)]


def _han(word: str) -> list[str]:
    """Separates a particle that the segmenter joined to a word (端的 is 端 and 的), but not in words like 目的."""
    if word in function.COMPOUNDS:
        return list(word)
    if len(word) > 1 and word.endswith(function.FINAL_PARTICLES) and word not in function.ENDS_IN_PARTICLE:
        return [word[:-1], word[-1]]
    return [function.CANONICAL.get(word, word)]


def _latin(run: str) -> list[str]:
    """Contractions are spelled out, 's is separated, a unit is separated from its number; anything else is one word."""
    if amount := _AMOUNT.fullmatch(run):
        return list(amount.groups())
    if run.endswith(":") and _PLAIN.fullmatch(run[:-1]):
        return [run[:-1], ":"]
    if not _PLAIN.fullmatch(run):
        return [run]
    small = run.lower()
    full = function.CONTRACTIONS.get(small, small)
    for ending, spelt in function.CONTRACTED_ENDINGS.items():
        if full.endswith(ending):
            full = full.removesuffix(ending) + spelt
    if full.endswith("'s"):
        owner = full.removesuffix("'s")
        full = f"{owner} is" if owner in function.IS_AFTER else f"{owner} 's"
    first, *words_after = full.split()
    as_written = run[: len(first)] if small.startswith(first) else first
    return [as_written, *(word.upper() if run.isupper() else word for word in words_after)]


def _spelled_out(tokens: list[_Token]) -> list[_Token]:
    """The tokens with `is` or `has` where 's is short for it: the next word tells."""
    return [
        token._replace(written=function.long_for_s(after.word)) if token.written == "'s" else token
        for token, after in zip(tokens, [*tokens[1:], _PAUSE], strict=False)
    ]


def _unopened(tokens: list[_Token]) -> list[_Token]:
    """The tokens without a polite opening, and without the question mark of "could you please"."""
    for opening in function.OPENINGS:
        if tuple(token.word for token in tokens[: len(opening)]) == opening:
            remaining = tokens[len(opening) :]
            while remaining and remaining[0] == _PAUSE:
                remaining = remaining[1:]
            if len(opening) > 1:
                remaining = [token for token in remaining if token != _QUESTION]
            return [token._replace(opening=True, named=False) for token in remaining[:1]] + remaining[1:]
    return tokens


def _terms(clause: Sequence[_Token], limited: bool, segment: Segment) -> Iterator[MeaningTerm]:
    """The terms of one clause. Each Han character is a term, because the segmenter may cut two texts differently."""
    before: list[str] = []
    all_words = [token.word for token in clause]
    for index, token in enumerate(clause):
        previous = all_words[index - 1] if index else ""
        after = all_words[index + 1 : index + 1 + _REACH]
        joined = token.word == "的" and bool(after) and _are_joined(previous, after[0], segment)
        around = function.Surroundings(before[-_REACH:], previous, after, limited, joined)
        if function.is_silent(token.word, around):
            continue
        before.append(token.word)
        if has_han(token.written):
            for character in token.written:
                yield MeaningTerm(character, frozenset({character}), opening=token.opening)
        else:
            yield _term(token, all_words[max(0, index - _REACH) : index])


def _are_joined(before: str, after: str, segment: Segment) -> bool:
    """True if the segmenter ends no word between two adjacent Chinese words: 老板 and 娘."""
    if not (has_han(before) and has_han(after)):
        return False
    length = 0
    for word in segment(before + after):
        length += len(word)
        if length >= len(before):
            return length != len(before)
    return False


def _term(token: _Token, before: Sequence[str]) -> MeaningTerm:
    word = token.written
    if token.exact or word != word.lower():
        return MeaningTerm(word, frozenset({word}), opening=token.opening, exact=token.exact)
    if be := function.progressive_be(before, word):
        return MeaningTerm(word, function.without_ing(word) | {word}, function.PRESENT_BE[be], token.opening)
    stems = function.without_s(word)
    return MeaningTerm(word, stems | {word}, bool(stems), token.opening)
