"""When a draft says again what a memory says already, and when it only looks so.

Word sets find the candidates (Jaccard), but say nothing of order and too little of one word: "I spent $15" is
close to "I spent $24", and "Alice manages Bob" to "Bob manages Alice". So two texts are a restatement only if
their meaning-carrying words and marks are the same in the same order. To merge two facts loses one for good, to
keep a restatement costs a line: in doubt they are kept apart. So is a moved block ("yesterday we deployed"),
which without a parser cannot be told from swapped roles.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

from memory_server.language import function_words as function
from memory_server.language.han import TO_SIMPLIFIED
from memory_server.language.text import HAN, KANA_AND_HANGUL, SPACELESS, Segment, has_han, words

THRESHOLD = 0.6

_STOPS = ".,;!?。"
_RUN = re.compile(
    rf"(?P<han>[{HAN}]+)"
    rf"|(?P<kana>[{KANA_AND_HANGUL}]+)"
    rf"|(?P<pause>(?<=[{SPACELESS}])[,;?。]+|(?<=[^\s{_STOPS}])[{_STOPS}]++(?![^\s{SPACELESS}])|\n)"
    rf"|(?P<other>(?:[^\s{SPACELESS}{_STOPS}]|[{_STOPS}]++(?=[^\s{SPACELESS}])|(?<!\S)[{_STOPS}]++)+)"
)
"""Marks belong to the word they touch ($5, f(x), -D, [0,) or stand alone (`.` the folder); only those that end a
sentence or a part of it, at the end of a word, are a pause."""

_ENDS_SENTENCE = frozenset(".!?。\n")
_PLAIN = re.compile(r"[^\W\d_]+(?:[-'][^\W\d_]+)*")
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)([A-Za-z]{1,3})")
"""64GB is 64 GB."""

_RAISED = re.compile("[²³¹⁰-₉¼-¾⅐-⅞]")
"""NFKC would make 10² a hundred and two."""

_SAME_MARK = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "“": '"', "”": '"', "−": "-", "–": "-", "‐": "-"})

_REACH = 20
"""How many words of its clause may decide on a word: else a page without a full stop took quadratic time."""


class Place(NamedTuple):
    """A word or mark that must have its like in the other text."""

    written: str
    stems: frozenset[str]
    """What it may be an inflection of, itself included; only itself for names, marks and numbers."""
    has_s: bool = False
    """Whether it is the form with -s: the plural of a noun, the singular of a verb."""
    opening: bool = False
    """Whether it begins a sentence, so that its capital means nothing."""
    exact: bool = False
    """Whether its case always counts: keys, paths, options, units."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What of a text must be the same in another that restates it."""

    places: tuple[Place, ...]
    pauses: frozenset[int]
    """How many places there are in front of each comma, full stop and the like."""
    limited: bool
    """Whether it says not or only, so that a comma decides of what."""
    case: str
    """`capitals`, `small`, or `mixed`."""


@dataclass(frozen=True)
class Text:
    """A text prepared for comparison; not slotted, for most candidates never need their `meaning`."""

    content: str
    words: frozenset[str]
    segment: Segment = field(repr=False, compare=False)

    @cached_property
    def meaning(self) -> Meaning:
        return _meaning(self.content, self.segment)


class Likeness(StrEnum):
    """How much two texts say the same."""

    RESTATEMENT = "restatement"
    SIMILAR = "similar"
    DIFFERENT = "different"


def jaccard(left: frozenset[str], right: frozenset[str]) -> float:
    """Shared words over all words, |A ∩ B| / |A ∪ B|; 0.0 for two empty sets."""
    shared = len(left & right)
    return shared / (len(left) + len(right) - shared) if shared else 0.0


def prepare(text: str, segment: Segment) -> Text:
    return Text(text, frozenset(words(text, segment)), segment)


def compare(left: Text, right: Text) -> Likeness:
    """Symmetric."""
    if jaccard(left.words, right.words) < THRESHOLD:
        return Likeness.DIFFERENT
    return Likeness.RESTATEMENT if _says_the_same(left.meaning, right.meaning) else Likeness.SIMILAR


# --- Comparing -------------------------------------------------------------------------------------------


def _says_the_same(left: Meaning, right: Meaning) -> bool:
    if len(left.places) != len(right.places) or not _pauses_alike(left, right):
        return False
    any_case = _is_case_a_habit(left, right) or _is_case_a_habit(right, left)
    pairs = list(zip(left.places, right.places, strict=True))
    if not all(_matches(one, other, any_case) for one, other in pairs):
        return False
    # "The admin approves" and "the admins approve" differ in number, not in form alone.
    return not {(True, False), (False, True)} <= {(one.has_s, other.has_s) for one, other in pairs}


def _pauses_alike(left: Meaning, right: Meaning) -> bool:
    """In the same places, or one comma more on one side, with two places at least before and after it."""
    extra = left.pauses ^ right.pauses
    if len(extra) != 1:
        return not extra
    (place,) = extra
    if left.limited or right.limited or not 2 <= place <= len(left.places) - 2:
        return False
    return all(_may_pause(*side.places[place - 1 : place + 1]) for side in (left, right))


def _may_pause(one: Place, other: Place) -> bool:
    """Whether a comma between them may come and go: not in Anna, Lee; Anna, and Lee; a, b; 5, 6."""
    if one.exact or other.exact or one.opening or other.opening:
        return False
    if has_han(one.written) or has_han(other.written):
        return True
    plain = [
        place for place in (one, other) if place.written.islower() and place.written not in {"and", "or"}
    ]
    return bool(plain) and min(len(one.written), len(other.written)) > 1


def _is_case_a_habit(one: Meaning, other: Meaning) -> bool:
    """Written in capitals throughout; or in small letters, beside a text that begins with a capital."""
    if one.case == "small":
        return bool(other.places) and other.places[0].written[0].isupper()
    return one.case == "capitals"


def _matches(one: Place, other: Place, any_case: bool) -> bool:
    """The same word in a case that says the same, or two forms of one word."""
    if one.written == other.written:
        return True
    if one.written.lower() != other.written.lower():
        return not one.stems.isdisjoint(other.stems)
    if one.exact or other.exact:
        return False
    if one.opening or other.opening:
        return True
    if "-" in one.written:
        return False
    return any_case or (len(one.written) > 3 and one.written[1:] == other.written[1:])


# --- Reading ---------------------------------------------------------------------------------------------


class _Token(NamedTuple):
    written: str
    opening: bool = False
    exact: bool = False
    named: bool = False
    """Whether it has a capital within a sentence: then it is never an article, a filler or a form of another."""

    @property
    def word(self) -> str:
        return self.written if self.named or self.exact else self.written.lower()


_PAUSE = _Token(",", exact=True)
_QUESTION = _Token("?", exact=True)


def _meaning(content: str, segment: Segment) -> Meaning:
    text = unicodedata.normalize("NFKC", _RAISED.sub(r"^\g<0>", content)).translate(TO_SIMPLIFIED)
    case = _case(text)
    tokens = _unopened(list(_tokens(text.translate(_SAME_MARK), segment, case == "capitals")))
    limited = any(function.limits(token.written.lower()) for token in tokens)
    places: list[Place] = []
    pauses: set[int] = set()
    for pause, clause in groupby(tokens, _PAUSE.__eq__):
        if pause:
            pauses.add(len(places))
        else:
            places.extend(_places(list(clause), limited))
    return Meaning(tuple(places), frozenset(pauses - {0, len(places)}), limited, case)


def _case(text: str) -> str:
    """Only a text of several Latin words has a habit of writing; in Chinese, PATH is a name among few words."""
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
        parts = [part for word in segment(run) for part in _han(word)] if match["han"] else _latin(run)
        for part in parts:
            unit = number and len(part) < 4 and not match["han"]
            exact = unit or not (part == "'s" or _PLAIN.fullmatch(part))
            capital = part != part.lower() and not opening and not (capitals and len(part) > 2)
            yield _Token(part, opening, exact, capital)
            opening, number = False, part[-1].isdigit()


def _han(word: str) -> list[str]:
    """端的 is 端 and 的 in one piece: the segmenter's mistake, unless it is a word like 目的."""
    if word in function.COMPOUNDS:
        return list(word)
    if len(word) > 1 and word.endswith(function.FINAL_PARTICLES) and word not in function.ENDS_IN_PARTICLE:
        return [word[:-1], word[-1]]
    return [function.CANONICAL.get(word, word)]


def _latin(run: str) -> list[str]:
    """Contractions spelt out, the 's of owners and names apart, number and unit apart; all else is one word."""
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
    first, *rest = full.split()
    return [run[: len(first)], *(word.upper() if run.isupper() else word for word in rest)]


def _unopened(tokens: list[_Token]) -> list[_Token]:
    """Without the politeness in front, and without the question mark of "could you please"."""
    for opening in function.OPENINGS:
        if tuple(token.word for token in tokens[: len(opening)]) == opening:
            rest = tokens[len(opening) :]
            while rest and rest[0] == _PAUSE:
                rest = rest[1:]
            if len(opening) > 1:
                rest = [token for token in rest if token != _QUESTION]
            return [token._replace(opening=True, named=False) for token in rest[:1]] + rest[1:]
    return tokens


def _places(clause: Sequence[_Token], limited: bool) -> Iterator[Place]:
    """The words of one clause that carry meaning; Han characters have a place each, for two texts are not always
    cut alike."""
    before: list[str] = []
    all_words = [token.word for token in clause]
    for index, token in enumerate(clause):
        previous = all_words[index - 1] if index else ""
        after = all_words[index + 1 : index + 1 + _REACH]
        place = function.Place(before[-_REACH:], previous, after, limited)
        if function.is_silent(token.word, place):
            continue
        before.append(token.word)
        if has_han(token.written):
            for character in token.written:
                yield Place(character, frozenset({character}), opening=token.opening)
        else:
            yield _place(token, all_words[max(0, index - _REACH) : index])


def _place(token: _Token, before: Sequence[str]) -> Place:
    word = token.written
    if token.exact or word != word.lower():
        return Place(word, frozenset({word}), opening=token.opening, exact=token.exact)
    if be := function.progressive_be(before, word):
        return Place(word, function.without_ing(word) | {word}, function.PRESENT_BE[be], token.opening)
    stems = function.without_s(word)
    return Place(word, stems | {word}, bool(stems), token.opening)
