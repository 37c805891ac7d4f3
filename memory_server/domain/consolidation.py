"""When a draft says again what a memory says already, and when it only looks so.

Word sets find the candidates (Jaccard), but say nothing of order and too little of one word: "I spent $15" is
close to "I spent $24", and "Alice manages Bob" to "Bob manages Alice". So two texts are a restatement only if
their meaning-carrying words are the same in the same order. To merge two facts loses one for good, to keep a
restatement costs a line: in doubt they are kept apart. So is a moved block ("yesterday we deployed"), which
without a parser cannot be told from swapped roles.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from memory_server.domain import function_words as function
from memory_server.domain.text import HAN, KANA_AND_HANGUL, SPACELESS, Segment, fold, has_han, words

THRESHOLD = 0.6

_TOKEN = re.compile(
    rf"(?P<han>[{HAN}]+)"
    rf"|(?P<kana>[{KANA_AND_HANGUL}]+)"
    rf"|(?P<word>[^\W{SPACELESS}]+(?:(?:['.\-_/:@+#]+|(?<=\d),(?=\d))[^\W{SPACELESS}]+)*[+#]*)"
    r"|(?P<mark>[^\w\s]+)"
)
"""As the words of `text`, and besides: 1,000 whole, and every mark that stands between words."""

_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)([a-z]{1,3})")
"""64gb is 64 gb."""

_RAISED = re.compile("[²³¹⁰-₉¼-¾⅐-⅞]")
"""NFKC would make 10² a hundred and two."""

_SAME_MARK = str.maketrans(
    {"’": "'", "ʼ": "'", "−": "-", "–": "-", "‐": "-"}
    | dict.fromkeys('"`()[]{}“”‘«»《》〈〉「」『』【】', " ")
    | dict.fromkeys("🙂😊😀😄😃😁✨🎉\ufe0f", " ")
)
"""A minus has four shapes; quotes, brackets, code marks and smiles (but not 👍 and 👎) come and go."""

_SEPARATORS = ",;:?…、。·—'"
"""What separates wherever it stands; `.`, `!`, `~` and `-` do so only if no word is joined to their right."""


@dataclass(frozen=True)
class Text:
    """A text prepared for comparison; not slotted, for most candidates never need their `meaning`."""

    content: str
    words: frozenset[str]
    segment: Segment = field(repr=False, compare=False)

    @cached_property
    def meaning(self) -> tuple[frozenset[str], ...]:
        """The words that carry meaning, in order: in each place a word and what it may be an inflection of.

        Han characters have a place each, as two texts are not always cut alike.
        """
        return tuple(_meaning(_unasked(_tokens(self.content, self.segment))))


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
    """Symmetric. Two places match if their words share a base: deploys and deployed, not plan and plane."""
    if jaccard(left.words, right.words) < THRESHOLD:
        return Likeness.DIFFERENT
    if len(left.meaning) != len(right.meaning):
        return Likeness.SIMILAR
    differs = any(map(frozenset.isdisjoint, left.meaning, right.meaning))
    return Likeness.SIMILAR if differs else Likeness.RESTATEMENT


def _tokens(text: str, segment: Segment) -> list[str]:
    """Words, marks that matter, and `,` where punctuation stands."""
    text = fold(_RAISED.sub(r"^\g<0>", text)).translate(_SAME_MARK)
    found: list[str] = []
    for match in _TOKEN.finditer(text):
        if match["han"]:
            for word in segment(match["han"]):
                found.extend(_han(word))
        elif match["word"]:
            found.extend(_latin(match["word"]))
        elif match["mark"]:
            found.extend(_mark(match["mark"], text[match.end() : match.end() + 2]))
        else:
            found.append(match[0])
    return found


def _han(word: str) -> list[str]:
    """端的 is 端 and 的 in one piece: the segmenter's mistake, unless it is a word like 目的."""
    if word in function.COMPOUNDS:
        return list(word)
    if len(word) > 1 and word.endswith(function.FINAL_PARTICLES) and word not in function.ENDS_IN_PARTICLE:
        return [word[:-1], word[-1]]
    return [word]


def _latin(word: str) -> list[str]:
    """Contractions spelt out, the owner's 's off, number and unit apart."""
    if amount := _AMOUNT.fullmatch(word):
        return list(amount.groups())
    if "'" not in word:
        return function.CONTRACTIONS.get(word, word).split()
    for ending, full in function.CONTRACTED_ENDINGS.items():
        if word.endswith(ending):
            return function.CONTRACTIONS.get(word, word.removesuffix(ending) + full).split()
    owner = word.removesuffix("'s")
    return [owner, "is"] if owner != word and owner in function.IS_AFTER else [owner]


def _mark(mark: str, following: str) -> list[str]:
    """$, %, <, ->, the sign of -5, the dashes of --delete, a question; of all other punctuation only `,`."""
    question = ["?"] if "?" in mark else []
    kept = mark.lstrip(_SEPARATORS).rstrip(_SEPARATORS)
    if not (following[:1].isascii() and following[:1].isalnum()):
        kept = kept.rstrip(".!~" + _SEPARATORS if following[1:].isdigit() else ".!~-" + _SEPARATORS)
    return [kept, *question] if kept else question or [","]


def _unasked(tokens: Sequence[str]) -> Sequence[str]:
    """Without the politeness in front, and without the question mark of "could you please"."""
    for opening in function.POLITE_OPENINGS:
        if tuple(tokens[: len(opening)]) == opening:
            rest = tokens[len(opening) :]
            return rest if len(opening) == 1 else [word for word in rest if word != "?"]
    return tokens


def _meaning(tokens: Sequence[str]) -> Iterator[frozenset[str]]:
    """The places of every clause; a comma is one too if the word before it governs what follows."""
    clauses = [list(clause) for comma, clause in itertools.groupby(tokens, ",".__eq__) if not comma]
    for number, clause in enumerate(clauses, start=1):
        kept = list(_kept(clause))
        for position, (word, progressive) in enumerate(kept):
            yield from _places(word, position == 0, progressive)
        if kept and function.governs(kept[-1][0]) and number < len(clauses):
            yield frozenset(",")


def _kept(clause: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """The words of one clause that carry meaning, each with whether it is a progressive (is running)."""
    before: list[str] = []
    content = [index for index, word in enumerate(clause) if not function.is_filler(word)]
    for order, index in enumerate(content, start=1):
        after = [clause[later] for later in content[order : order + 4]]
        word = function.plain(clause[index], after)
        previous = clause[index - 1] if index else ""
        if not function.is_silent(word, function.Place(previous, before, after)):
            before.append(word)
            yield word, function.is_progressive(clause[:index], word)


def _places(word: str, opening: bool, progressive: bool) -> Iterator[frozenset[str]]:
    if has_han(word):
        yield from map(frozenset, word)
    else:
        yield function.bases(word, opening, progressive)
