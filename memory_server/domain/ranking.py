"""Joins the word score, the meaning score and what a memory still matters into one order.

The constants were chosen on two development sets and the demo's log (English, Chinese and across both):
`scripts/evaluate_search.py` prints the figures.
"""

import re
from dataclasses import dataclass, replace
from math import exp

from memory_server.domain.embedding import Space
from memory_server.domain.memory import Memory
from memory_server.domain.query import SYMBOL
from memory_server.domain.text import SPACELESS, fold, has_han

MEANING_WEIGHT = 0.65
LEXICAL_WEIGHT = 0.3
"""For an embedder that knows spelling only: it says little that the words have not said."""

BLIND_WEIGHT = 0.05
"""For a Chinese query and an embedder that does not know Chinese: as an equal half it halves the recall."""

WORD_POWER = 1.5
"""A few common words shared say less than their share, all words shared say everything."""

PRIOR_WEIGHT = 0.05
PRIOR_SCALE = 10.0

NEWNESS_WEIGHT = 0.1
"""What is said later corrects what was said before: the oldest candidate loses so much, the newest nothing."""

INEXACT = 0.85
"""What a memory keeps of its score that lacks a token of the query letter by letter (`pve 01` for `pve-01`), and
the most that its words can count."""

_LETTER = rf"[^\W{SPACELESS}]"
_MARKED = re.compile(rf"{_LETTER}+(?:[.\-_/:@+#]+{_LETTER}+)+[+#]*|{_LETTER}+[+#]+|{SYMBOL.pattern}")

WEAK_MEANING = 0.12
WEAK_HITS = 3
"""Unrelated texts have a cosine of .14 at the mean, but so have some answers across the languages."""

CUT = 0.3
"""Hits below this part of the best score are left out: on the development sets none of them was an answer."""


@dataclass(frozen=True, slots=True)
class Why:
    """What a hit's score is made of: word share and cosine, both at most 1, and the decayed score."""

    words: float
    meaning: float
    decay: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory found, with its score for this query."""

    memory: Memory
    score: float
    why: Why


def meaning_weight(space: Space | None, mode: str, chinese: bool) -> float:
    """How much of a score the cosine decides, from 0 to 1."""
    if space is None or mode == "keyword":
        return 0.0
    if mode == "semantic":
        return 1.0
    if chinese and not space.chinese:
        return BLIND_WEIGHT
    return LEXICAL_WEIGHT if space.lexical else MEANING_WEIGHT


def score(why: Why, weight: float) -> float:
    """The weighted mean of what words and meaning say, with decay as a gentle prior.

    The prior takes at most PRIOR_WEIGHT of the score; it saturates with the decayed score.
    """
    said: float = (1 - weight) * why.words**WORD_POWER + weight * max(0.0, why.meaning)
    return said * (1 - PRIOR_WEIGHT * exp(-why.decay / PRIOR_SCALE))


def best(hits: list[Hit], limit: int) -> list[Hit]:
    """The best hits in order, the newest first among equals, without those far below the best.

    Of weak hits only the first few are shown: they cost tokens, and are seldom the answer.
    """
    ranked = sorted(_newer_preferred(hits), key=lambda hit: (-hit.score, -hit.memory.id))[:limit]
    worthy = [hit for hit in ranked if hit.score > 0 and hit.score >= CUT * ranked[0].score]
    weak = [hit for hit in worthy if is_weak(hit)]
    return [hit for hit in worthy if hit not in weak[WEAK_HITS:]]


def is_weak(hit: Hit) -> bool:
    """Whether a hit shares no word with the query and hardly any meaning: it is answered, but counts as no access."""
    return hit.why.words == 0 and hit.why.meaning < WEAK_MEANING


def _newer_preferred(hits: list[Hit]) -> list[Hit]:
    """Each score less NEWNESS_WEIGHT x its place in age among the candidates, from 0 (newest) to nearly 1."""
    by_age = sorted(hits, key=lambda hit: (hit.memory.updated_at, hit.memory.id), reverse=True)
    return [
        replace(hit, score=hit.score * (1 - NEWNESS_WEIGHT * place / len(hits)))
        for place, hit in enumerate(by_age)
    ]


class Literal:
    """What of a query a text holds letter by letter, as words of its own.

    A question is about the tokens with marks in it (`C++`, `pve-01`, `foo_bar`, 🚀), which the word index only
    knows in parts; a query of one word is about that word, not about its stem.
    """

    def __init__(self, query: str) -> None:
        folded = fold(query).strip()
        self._whole = _as_words(folded)
        tokens = _MARKED.findall(folded) if any(map(str.isspace, folded)) or has_han(folded) else [folded]
        self._tokens = [_as_words(token) for token in tokens]

    def within(self, text: str) -> bool:
        """Whether the text holds the whole query."""
        return self._whole.search(fold(text)) is not None

    def share(self, text: str) -> float:
        """1 where the text holds every such token, INEXACT where it lacks one."""
        folded = fold(text)
        return 1.0 if all(token.search(folded) for token in self._tokens) else INEXACT


def _as_words(text: str) -> re.Pattern[str]:
    """The text where no letter goes on before or behind it, in scripts that put spaces between words."""
    left = f"(?<!{_LETTER})" if re.match(_LETTER, text) else ""
    right = f"(?!{_LETTER})" if re.search(f"{_LETTER}$", text) else ""
    return re.compile(left + re.escape(text) + right)
