"""Joins the word score, the meaning score and what a memory still matters into one order.

The constants were chosen on two development sets and the demo's log (English, Chinese and across both):
`scripts/evaluate_search.py` prints the figures.
"""

import re
from dataclasses import dataclass, replace
from math import exp

from memory_server.domain.embedding import Space
from memory_server.domain.memory import Memory
from memory_server.domain.text import fold

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

CUT = 0.25
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
    """The best hits in order, the newest first among equals, without those far below the best."""
    ranked = sorted(_newer_preferred(hits), key=lambda hit: (-hit.score, -hit.memory.id))[:limit]
    return [hit for hit in ranked if hit.score > 0 and hit.score >= CUT * ranked[0].score]


def _newer_preferred(hits: list[Hit]) -> list[Hit]:
    """Each score less NEWNESS_WEIGHT x its place in age among the candidates, from 0 (newest) to nearly 1."""
    by_age = sorted(hits, key=lambda hit: (hit.memory.updated_at, hit.memory.id), reverse=True)
    return [
        replace(hit, score=hit.score * (1 - NEWNESS_WEIGHT * place / len(hits)))
        for place, hit in enumerate(by_age)
    ]


class Literal:
    """Whether a text holds the whole query letter by letter, as words of its own: `C++`, `pve-01`, `TODO: x`."""

    def __init__(self, query: str) -> None:
        folded = fold(query).strip()
        left = r"(?<![a-z0-9_])" if re.match(r"[a-z0-9_]", folded) else ""
        right = r"(?![a-z0-9_])" if re.search(r"[a-z0-9_]$", folded) else ""
        self._pattern = re.compile(left + re.escape(folded) + right)

    def within(self, text: str) -> bool:
        return self._pattern.search(fold(text)) is not None
