"""Decides whether a draft restates a memory, or is only similar in its words.

Word sets (Jaccard) find the candidates, but they ignore the order, and one different word changes them little:
"I spent $15" is close to "I spent $24", and "Alice manages Bob" to "Bob manages Alice". So two texts are a
restatement only if the words and marks that carry meaning are the same, in the same order but for an adverbial that can
belong nowhere else. To merge two different facts loses one of them; to keep a restatement costs one row. So in doubt
both are kept.
"""

import re
import unicodedata
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

from memory_server.domain import parts
from memory_server.domain.meaning import MeaningTerm, TextMeaning, meaning_of
from memory_server.domain.moved import Ordered, only_moved
from memory_server.domain.rearranged import only_rearranged
from memory_server.domain.wording import TextWording
from memory_server.language import function_words as function
from memory_server.language import german
from memory_server.language.numbers import in_digits
from memory_server.language.phrasing import in_one_form
from memory_server.language.spelling import in_one_spelling
from memory_server.language.text import (
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

_RAISED = re.compile("[²³¹⁰-₉¼-¾⅐-⅞]")
"""Raised and lowered digits, and fractions: they get a ^ in front, because NFKC alone turns 10² into 102."""

_DIGITS = re.compile(r"\d+")


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
        return meaning_of(self.in_one_spelling, self.segment)

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
