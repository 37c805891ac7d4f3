"""Decides whether a draft restates a memory, or is only similar in its words.

Word sets (Jaccard) find the candidates, but they ignore the order, and one different word changes them little:
"I spent $15" is close to "I spent $24", and "Alice manages Bob" to "Bob manages Alice". So two texts are a
restatement only if the words and marks that carry meaning are the same, in the same order but for an adverbial that can
belong nowhere else. To merge two different facts loses one of them; to keep a restatement costs one row. So in doubt
both are kept.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

from memory_server.domain import parts
from memory_server.domain.moved import Ordered, only_moved
from memory_server.domain.rearranged import only_rearranged
from memory_server.domain.wording import TextWording
from memory_server.language import function_words as function
from memory_server.language import german
from memory_server.language.han import TO_SIMPLIFIED
from memory_server.language.lazy import lazy
from memory_server.language.numbers import in_digits
from memory_server.language.phrasing import in_one_form
from memory_server.language.spelling import in_one_spelling
from memory_server.language.text import (
    HAN,
    KANA_AND_HANGUL,
    SPACELESS,
    Segment,
    fold,
    has_han,
    is_chinese,
    words,
)

THRESHOLD = 0.6
"""Least Jaccard similarity, from 0 to 1, of two texts that are close in their words. Alone it would merge 46 % of the
hardest Chinese pairs, which state another person's value in the same words."""

LEAST = 0.3
"""Jaccard similarity of words and Chinese characters below which the meaning is not compared. Less than THRESHOLD,
because "don't" and "do not" are different words that say the same."""

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

_RAISED = re.compile("[²³¹⁰-₉¼-¾⅐-⅞]")
"""Raised and lowered digits, and fractions: they get a ^ in front, because NFKC alone turns 10² into 102."""

_DIGITS = re.compile(r"\d+")

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


@dataclass(frozen=True)
class Text:
    """A text prepared for comparison. It has no slots, so that each form of it is computed only when it is needed.

    Only the first part of a long text is compared.
    """

    content: str
    segment: Segment = field(repr=False, compare=False)

    @cached_property
    def plain(self) -> str:
        """The text in one width, with numbers in digits."""
        part = _RAISED.sub(r"^\g<0>", parts.split(self.content)[0])
        return in_digits(unicodedata.normalize("NFKC", part))

    @cached_property
    def in_order(self) -> tuple[str, ...]:
        return tuple(words(self.plain, self.segment))

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(self.in_order)

    @cached_property
    def in_one_spelling(self) -> str:
        text = in_one_form(self.plain)
        text = german.in_one_spelling(text) if self.is_german else text
        return in_one_spelling(text) if _DIGITS.search(text) else text

    @cached_property
    def is_german(self) -> bool:
        return german.is_german(self.plain, self.words)

    @cached_property
    def language(self) -> str:
        """`zh`, `de` or `en`."""
        if is_chinese(self.plain):
            return "zh"
        return "de" if self.is_german else "en"

    @cached_property
    def digits(self) -> list[str]:
        """Its numbers, sorted. They are compared first: most texts with like words differ in them."""
        return sorted(_DIGITS.findall(self.in_one_spelling))

    @cached_property
    def pieces(self) -> frozenset[str]:
        """The words, and the characters of Chinese ones: the segmenter cuts 测试通过 in another way than 测试都通过."""
        return frozenset(part for word in self.words for part in (word if has_han(word) else [word]))

    @cached_property
    def meaning(self) -> TextMeaning:
        return _meaning(self.in_one_spelling, self.segment)

    @cached_property
    def wording(self) -> TextWording:
        return TextWording(self.plain, self.in_order)


class Likeness(StrEnum):
    """Degree of similarity of two texts in what they say."""

    RESTATEMENT = "restatement"
    SIMILAR = "similar"
    DIFFERENT = "different"


def jaccard(left: frozenset[str], right: frozenset[str]) -> float:
    """Shared words over all words, |A ∩ B| / |A ∪ B|; 0.0 for two empty sets."""
    shared = len(left & right)
    return shared / (len(left) + len(right) - shared) if shared else 0.0


def prepare(text: str, segment: Segment) -> Text:
    return Text(text, segment)


def compare(left: Text, right: Text) -> Likeness:
    """Compare two texts; their order does not matter.

    A long text restates only an equal one: to compare all of it would take seconds.
    """
    if max(len(left.content), len(right.content)) > parts.LONG:
        return Likeness.RESTATEMENT if left.content == right.content else Likeness.DIFFERENT
    alike = left.digits == right.digits and jaccard(left.pieces, right.pieces) >= LEAST
    if alike and (
        _says_the_same(left.meaning, right.meaning)
        or only_moved(_ordered(left), _ordered(right), left.segment)
        or only_rearranged(left.plain, right.plain)
    ):
        return Likeness.RESTATEMENT
    return Likeness.SIMILAR if jaccard(left.words, right.words) >= THRESHOLD else Likeness.DIFFERENT


def may_be_close(draft: Text, content: str) -> bool:
    """False only if `compare` is certain to find the texts DIFFERENT. Takes a tenth of the time of `compare`.

    Words without digits are searched for as substrings, which finds each word that the text has. The union of the two
    sets of words is at least as large as the draft's set.
    """
    if max(len(draft.content), len(content)) > parts.LONG:
        return draft.content == content
    folded = fold(content)
    return _may_share(draft.words, folded, THRESHOLD) or _may_share(draft.pieces, folded, LEAST)


def _may_share(words: frozenset[str], folded: str, least: float) -> bool:
    """True if at least this share of words may be in a folded text."""
    lacked = sum(word not in folded and not _DIGITS.search(word) for word in words)
    return bool(words) and (len(words) - lacked) / len(words) >= least


# --- Comparing -------------------------------------------------------------------------------------------


def _says_the_same(left: TextMeaning, right: TextMeaning) -> bool:
    if len(left.terms) != len(right.terms):
        left, right = (_without_article(meaning) for meaning in (left, right))
    if len(left.terms) != len(right.terms) or not _pauses_alike(left, right):
        return False
    any_case = _is_case_a_habit(left, right) or _is_case_a_habit(right, left)
    pairs = list(zip(left.terms, right.terms, strict=True))
    if not all(_matches(left_term, right_term, any_case) for left_term, right_term in pairs):
        return False
    # "The admin approves" and "the admins approve" differ in number, not in form alone.
    return not {(True, False), (False, True)} <= {
        (left_term.has_s, right_term.has_s) for left_term, right_term in pairs
    }


def _without_article(meaning: TextMeaning) -> TextMeaning:
    if meaning.limited or not function.opens_a_state([term.written for term in meaning.terms[:4]]):
        return meaning
    return replace(meaning, terms=meaning.terms[1:], pauses=frozenset(pause - 1 for pause in meaning.pauses))


def _ordered(text: Text) -> Ordered:
    words = (term.written if term.exact else term.written.lower() for term in text.meaning.terms)
    return Ordered(tuple(words), text.meaning.pauses, text.plain)


def _pauses_alike(left: TextMeaning, right: TextMeaning) -> bool:
    """True if the pauses are the same, or one side has one comma more, with at least two terms before and after it."""
    extra = left.pauses ^ right.pauses
    if len(extra) != 1:
        return not extra
    (position,) = extra
    if left.limited or right.limited or not 2 <= position <= len(left.terms) - 2:
        return False
    return all(_may_pause(*side.terms[position - 1 : position + 1]) for side in (left, right))


def _may_pause(before: MeaningTerm, after: MeaningTerm) -> bool:
    """True if a comma between the two changes nothing. It matters in Anna, Lee; Anna, and Lee; a, b; 5, 6."""
    if before.exact or after.exact or before.opening or after.opening:
        return False
    if has_han(before.written) or has_han(after.written):
        return True
    plain = [term for term in (before, after) if term.written.islower() and term.written not in {"and", "or"}]
    return bool(plain) and min(len(before.written), len(after.written)) > 1


def _is_case_a_habit(meaning: TextMeaning, counterpart: TextMeaning) -> bool:
    """True if the case of `meaning` tells nothing: all capitals, or all small while the other opens with a capital."""
    if meaning.case == "small":
        return bool(counterpart.terms) and counterpart.terms[0].written[0].isupper()
    return meaning.case == "capitals"


def _matches(left: MeaningTerm, right: MeaningTerm, any_case: bool) -> bool:
    """True if both are the same word, in a case that means the same, or two forms of one word."""
    if left.written == right.written:
        return True
    if left.written.lower() != right.written.lower():
        return not left.stems.isdisjoint(right.stems)
    if left.exact or right.exact:
        return False
    if left.opening or right.opening:
        return True
    if "-" in left.written:
        return False
    return any_case or (len(left.written) > 3 and left.written[1:] == right.written[1:])


# --- Reading ---------------------------------------------------------------------------------------------


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


def _meaning(plain: str, segment: Segment) -> TextMeaning:
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
