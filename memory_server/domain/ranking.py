"""Joins the word score, the meaning score and what a memory still matters into one order.

The constants were chosen on two development sets and the demo's log (English, Chinese and across both):
`scripts/evaluate_search.py` prints the figures.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp
from types import MappingProxyType

from memory_server.domain.edge import Edge
from memory_server.domain.embedding import Space
from memory_server.domain.memory import Memory, MemoryId
from memory_server.language.query import SYMBOL
from memory_server.language.text import SPACELESS, fold, has_han

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

SUPERSEDED_WEIGHT = 0.8
"""What a superseded memory keeps of its score; its successor takes the whole of it. With a half, questions about the
past missed it among the first five."""

BELOW = 0.99
"""What a superseded memory has at most of its successor's score, where a line of several has halved both."""

NEIGHBOUR_WEIGHT = 0.6
"""What a memory next to the best hit has of that one's score, times the strength of the edge: questions whose answer
is one edge away are answered more often, and others no less (`scripts/evaluate_graph.py`). Neighbours of further
hits added nothing but length."""

NEIGHBOURS = 3

_NONE: Mapping[MemoryId, MemoryId] = MappingProxyType({})

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
    edge: str | None = None


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


def joined(words: float, cosine: float, weight: float) -> float:
    """The weighted mean of the words' share, made smaller where only a few are shared, and the cosine."""
    mean: float = (1 - weight) * words**WORD_POWER + weight * max(0.0, cosine)
    return mean


def score(why: Why, weight: float) -> float:
    """The weighted mean of what words and meaning say, with decay as a gentle prior.

    The prior takes at most PRIOR_WEIGHT of the score; it saturates with the decayed score.
    """
    said = joined(why.words, why.meaning, weight)
    return said * (1 - PRIOR_WEIGHT * exp(-why.decay / PRIOR_SCALE))


def best(hits: list[Hit], limit: int, successors: Mapping[MemoryId, MemoryId] = _NONE) -> list[Hit]:
    """The best hits in order, the newest first among equals, without those far below the best.

    `successors` maps each superseded memory to what took its place; it ranks below that, but is not left out for it.
    Of weak hits only the first few are shown: they cost tokens, and are seldom the answer.
    """
    handed = _handed_on(_newer_preferred(hits), successors)
    least = CUT * max((hit.score for hit in handed), default=0.0)
    kept = [hit for hit in handed if hit.score > 0 and hit.score >= least]
    ranked = _ordered(_below_successors(kept, successors))[:limit]
    weak = [hit for hit in ranked if is_weak(hit)]
    return [hit for hit in ranked if hit not in weak[WEAK_HITS:]]


def is_weak(hit: Hit) -> bool:
    """Whether a hit shares no word with the query and hardly any meaning: it is answered, but counts as no access."""
    return hit.why.words == 0 and hit.why.meaning < WEAK_MEANING and hit.why.edge is None


def _ordered(hits: Iterable[Hit]) -> list[Hit]:
    return sorted(hits, key=lambda hit: (-hit.score, -hit.memory.id))


def _newer_preferred(hits: list[Hit]) -> list[Hit]:
    """Each score less NEWNESS_WEIGHT x its place in age among the candidates, from 0 (newest) to nearly 1."""
    by_age = sorted(hits, key=lambda hit: (hit.memory.updated_at, hit.memory.id), reverse=True)
    return [
        replace(hit, score=hit.score * (1 - NEWNESS_WEIGHT * place / len(hits)))
        for place, hit in enumerate(by_age)
    ]


def _handed_on(hits: list[Hit], successors: Mapping[MemoryId, MemoryId]) -> list[Hit]:
    """What took a memory's place answers as well as that: it takes the score, and `why` names the edge."""
    handed = {hit.memory.id: hit for hit in hits}
    for hit in sorted(hits, key=lambda hit: hit.score, reverse=True):
        old = hit.memory.id
        for id in _line(old, successors):
            above = handed.get(id)
            if above is not None and above.score < hit.score:
                why = replace(above.why, edge=f"{id} supersedes {old}")
                handed[id] = replace(above, score=hit.score, why=why)
            old = id
    return list(handed.values())


def _below_successors(hits: list[Hit], successors: Mapping[MemoryId, MemoryId]) -> list[Hit]:
    """Superseded memories with less score than they had, and less than the nearest above them has."""
    lines = {hit.memory.id: _line(hit.memory.id, successors) for hit in hits}
    scores: dict[MemoryId, float] = {}
    for hit in sorted(hits, key=lambda hit: len(lines[hit.memory.id])):
        line = lines[hit.memory.id]
        above = next((scores[id] for id in line if id in scores), hit.score)
        scores[hit.memory.id] = min(SUPERSEDED_WEIGHT * hit.score, BELOW * above) if line else hit.score
    return [replace(hit, score=scores[hit.memory.id]) for hit in hits]


def with_neighbours(
    hits: list[Hit], near: Sequence[Edge], candidates: Sequence[Hit], limit: int
) -> list[Hit]:
    """The hits, joined by the neighbours of the best one that `near` leads to; `why` names the edge.

    A neighbour that was found with a better score keeps it, and one that was superseded does not join.
    """
    joined = {hit.memory.id: hit for hit in hits}
    known = {hit.memory.id: hit for hit in candidates if hit.memory.superseded_by is None}
    for edge in near:
        top = hits[0]
        id, score = edge.other_end(top.memory.id), NEIGHBOUR_WEIGHT * edge.strength * top.score
        if id in known and score >= CUT * top.score and (id not in joined or joined[id].score < score):
            joined[id] = replace(known[id], score=score, why=replace(known[id].why, edge=str(edge)))
    return _ordered(joined.values())[:limit]


def _line(id: MemoryId, successors: Mapping[MemoryId, MemoryId]) -> list[MemoryId]:
    """What superseded a memory, what superseded that, and so on; a circle, made by hand, is gone round once."""
    line: list[MemoryId] = []
    seen = {id}
    while id in successors and successors[id] not in seen:
        id = successors[id]
        seen.add(id)
        line.append(id)
    return line


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

    def within(self, folded: str) -> bool:
        """Whether a folded text holds the whole query."""
        return self._whole.search(folded) is not None

    def share(self, folded: str) -> float:
        """1 where a folded text holds every such token, INEXACT where it lacks one."""
        return 1.0 if all(token.search(folded) for token in self._tokens) else INEXACT


def _as_words(text: str) -> re.Pattern[str]:
    """The text where no letter goes on before or behind it, in scripts that put spaces between words."""
    left = f"(?<!{_LETTER})" if re.match(_LETTER, text) else ""
    right = f"(?!{_LETTER})" if re.search(f"{_LETTER}$", text) else ""
    return re.compile(left + re.escape(text) + right)
