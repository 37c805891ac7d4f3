"""Ranks the hits of a search: by words, by meaning, by decay and age, and by edges.

The constants were chosen on two development sets and the demo's log (English, Chinese and across both):
`scripts/quality/search.py` prints the figures.
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
"""Share of the cosine in a score, from 0 to 1; the words have the rest. The best on the development sets."""

LEXICAL_WEIGHT = 0.3
"""The same for an embedder that knows spelling only: low, because it adds little to the words."""

BLIND_WEIGHT = 0.05
"""The same for a Chinese query and an embedder that does not know Chinese: with an equal half, recall fell from .52 to
.25."""

WORD_POWER = 1.5
"""Exponent of the word share, which is from 0 to 1. A memory with only a few words of the query gets less than their
share, because these are often common words; a memory with all of them still gets 1."""

PRIOR_WEIGHT = 0.05
"""Share of its score that a fully decayed memory loses. Small: a decayed memory is often still the answer."""

PRIOR_SCALE = 10.0
"""Decayed score with which a memory loses PRIOR_WEIGHT / e. A new memory of importance 10 has this score."""

NEWNESS_WEIGHT = 0.1
"""Share of its score that the oldest candidate loses; the newest loses nothing. A later memory often corrects an
earlier one."""

SUPERSEDED_WEIGHT = 0.8
"""Share of its score that a superseded memory keeps; its successor gets the whole score. With .5, questions about the
past did not find it among the first five."""

BELOW = 0.99
"""Most that a superseded memory may have, as a share of its successor's score: so it ranks below its successor in a
line of several, where both were lowered."""

NEIGHBOUR_WEIGHT = 0.6
"""Share of the best hit's score that its neighbour gets, times the strength of the edge: questions whose answer is one
edge away are answered more often, and others no less often (`scripts/quality/edges.py`). Neighbours of further hits
only made answers longer."""

NEIGHBOURS = 3
"""Number of edges of the best hit that are followed, the strongest first: each neighbour takes the room of a hit."""

_NONE: Mapping[MemoryId, MemoryId] = MappingProxyType({})
"""No memory is superseded."""

INEXACT = 0.85
"""Share of its score that a memory keeps if it lacks a token of the query letter by letter (`pve 01` for `pve-01`). It
is also the most that its words can count. Chosen on the development sets."""

_LETTER = rf"[^\W{SPACELESS}]"
"""A letter, digit or _ in scripts that put spaces between words."""

_MARKED = re.compile(rf"{_LETTER}+(?:[.\-_/:@+#]+{_LETTER}+)+[+#]*|{_LETTER}+[+#]+|{SYMBOL.pattern}")
"""A token with marks in it, such as `C++` or `pve-01`, or a symbol such as 🚀."""

WEAK_MEANING = 0.12
"""Cosine below which a hit without a shared word is weak. Unrelated texts have .14 at the mean, but some answers in the
other language have no more."""

WEAK_HITS = 3
"""Number of weak hits that are shown: they cost tokens and are seldom the answer."""

CUT = 0.3
"""Share of the best score. A hit below it is left out: on the development sets none of these was an answer."""


@dataclass(frozen=True, slots=True)
class Why:
    """The parts of a hit's score: word share and cosine, both at most 1, and the decayed score (0 is fully decayed)."""

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
    """Share of the cosine in a score, from 0 to 1."""
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
    """The weighted mean of words and meaning, lowered a little by decay.

    A memory loses at most PRIOR_WEIGHT of the score, and less with a higher decayed score.
    """
    return joined(why.words, why.meaning, weight) * (1 - PRIOR_WEIGHT * exp(-why.decay / PRIOR_SCALE))


def best(hits: list[Hit], limit: int, successors: Mapping[MemoryId, MemoryId] = _NONE) -> list[Hit]:
    """The best hits in order, the newest first among equals, without those far below the best.

    `successors` maps each superseded memory to its successor. A superseded memory ranks below its successor, but it
    is not left out because of that. Only the first WEAK_HITS weak hits are returned.
    """
    handed = _handed_on(_newer_preferred(hits), successors)
    least = CUT * max((hit.score for hit in handed), default=0.0)
    kept = [hit for hit in handed if hit.score > 0 and hit.score >= least]
    ranked = _ordered(_below_successors(kept, successors))[:limit]
    weak = [hit for hit in ranked if is_weak(hit)]
    return [hit for hit in ranked if hit not in weak[WEAK_HITS:]]


def is_weak(hit: Hit) -> bool:
    """Whether a hit shares no word with the query and hardly any meaning: it is returned, but no access is counted."""
    return hit.why.words == 0 and hit.why.meaning < WEAK_MEANING and hit.why.edge is None


def _ordered(hits: Iterable[Hit]) -> list[Hit]:
    return sorted(hits, key=lambda hit: (-hit.score, -hit.memory.id))


def _newer_preferred(hits: list[Hit]) -> list[Hit]:
    """Each score is lowered by NEWNESS_WEIGHT x the rank in age among the candidates, from 0 (newest) to nearly 1."""
    by_age = sorted(hits, key=lambda hit: (hit.memory.updated_at, hit.memory.id), reverse=True)
    return [
        replace(hit, score=hit.score * (1 - NEWNESS_WEIGHT * rank / len(hits)))
        for rank, hit in enumerate(by_age)
    ]


def _handed_on(hits: list[Hit], successors: Mapping[MemoryId, MemoryId]) -> list[Hit]:
    """A successor gets the score of the memory that it superseded, where that is higher; `why` names the edge."""
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
    """Superseded memories get a lower score, and a lower one than their nearest successor among the hits."""
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
    """The hits and the neighbours of the best hit along the edges `near`; `why` names the edge.

    A neighbour that was found with a better score keeps that score. A superseded neighbour is not added.
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
    """The successor of a memory, its successor, and so on. In a circle, made by hand, each memory comes once."""
    line: list[MemoryId] = []
    seen = {id}
    while id in successors and successors[id] not in seen:
        id = successors[id]
        seen.add(id)
        line.append(id)
    return line


class Literal:
    """The tokens of a query that a text should contain letter by letter, as whole words.

    In a question these are the tokens with marks (`C++`, `pve-01`, `foo_bar`, 🚀), because the word index has only
    their parts. A query of one word is such a token itself: it means this word, not its stem.
    """

    def __init__(self, query: str) -> None:
        folded = fold(query).strip()
        self._whole = _as_words(folded)
        tokens = _MARKED.findall(folded) if any(map(str.isspace, folded)) or has_han(folded) else [folded]
        self._tokens = [_as_words(token) for token in tokens]

    def within(self, folded: str) -> bool:
        """Whether a folded text contains the whole query."""
        return self._whole.search(folded) is not None

    def share(self, folded: str) -> float:
        """1 where a folded text contains every such token, INEXACT where it lacks one."""
        return 1.0 if all(token.search(folded) for token in self._tokens) else INEXACT


def _as_words(text: str) -> re.Pattern[str]:
    """Matches the text where no letter stands directly before or after it, in scripts that put spaces between words."""
    left = f"(?<!{_LETTER})" if re.match(_LETTER, text) else ""
    right = f"(?!{_LETTER})" if re.search(f"{_LETTER}$", text) else ""
    return re.compile(left + re.escape(text) + right)
