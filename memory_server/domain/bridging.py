"""Questions in two hops, as "the phone number of the man of 39": one text says who that is, another has his number.

A bridge is a term that a good text has and few others do. A second text that has the bridge, and the terms of the
question that the good text lacks, answers together with it.
"""

import string
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np

from memory_server.domain.relevance import Numbers
from memory_server.language import background, query
from memory_server.language.query import Query

GAIN = 0.4
"""Added to a text that has all bridges of the best text and all that this lacks of the question."""

FROM = 3
"""Texts, the best of a question, from which bridges lead."""

BRIDGES = 3
"""Terms of such a text that are bridges: the rarest in ordinary language."""

LOOKED_AT = 4
"""Terms of such a text of which the bridges are chosen."""

FEW = 0.25
"""Share of the candidates that may have a bridge: a term that more have leads everywhere."""


_IN_WORDS = frozenset(string.ascii_lowercase + string.digits)


@dataclass(slots=True)
class Texts:
    """The candidates of a search: the beginning of each, folded; and which of them have the terms of the question.

    They are looked through as one text, because most hold no given term: 17 terms in 100 texts took 0.8 ms one by one.
    """

    texts: Sequence[str]
    _joined: str = field(init=False)
    _starts: list[int] = field(init=False)
    """The place of each text in `_joined`, and its length."""
    _having: dict[str, Numbers] = field(default_factory=dict)
    _terms: dict[int, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._joined = "".join(f"{text}\0" for text in self.texts)
        self._starts = list(accumulate((len(text) + 1 for text in self.texts), initial=0))

    def having(self, term: str) -> Numbers:
        """An array (texts,): 1 for each text that has a term, 0 for the others."""
        if term not in self._having:
            flags = self._having[term] = np.zeros(len(self.texts))
            flags[self._holding(term.replace(" ", ""))] = 1.0
        return self._having[term]

    def _holding(self, word: str) -> list[int]:
        """The numbers of the texts that have a word, not only inside a longer one; one that is not ASCII, anywhere."""
        numbers: list[int] = []
        place = self._joined.find(word)
        while place >= 0:
            following = place + 1
            if not (word.isascii() and _is_inside(self._joined, place, place + len(word))):
                number = bisect_right(self._starts, place) - 1
                numbers.append(number)
                following = self._starts[number + 1]
            place = self._joined.find(word, following)
        return numbers

    def bridges(self, place: int, question_terms: Sequence[str]) -> list[str]:
        """The terms of a text that are not in the question and that few other candidates have."""
        if place not in self._terms:  # the parts of a question often have the same best texts
            self._terms[place] = query.parse(self.texts[place]).terms
        new_terms = [term for term in self._terms[place] if term not in question_terms]
        rare = sorted(new_terms, key=background.share)[:LOOKED_AT]
        most = max(BRIDGES, FEW * len(self.texts))
        return [term for term in rare if 1 < self.having(term).sum() <= most][:BRIDGES]


def _is_inside(text: str, start: int, end: int) -> bool:
    """True if what stands there is a part of a longer word. To compile a pattern for it would take longer."""
    return text[max(0, start - 1) : start] in _IN_WORDS or text[end : end + 1] in _IN_WORDS


def with_bridges(texts: Texts, question: Query, scores: Numbers) -> Numbers:
    """The scores (texts,) for a question, raised by bridges. No text rises above the one that leads to it.

    `scores` has shape (texts,).
    """
    if not question.terms or scores.max() <= 0:
        return scores
    presence = np.array([texts.having(term) for term in question.terms])
    weights = np.array([background.rarity(term) for term in question.terms])
    best = np.argsort(-scores, kind="stable")[:FROM].tolist()
    raised = scores
    for place in best:
        lacks = weights * (1 - presence[:, place])
        bridges = texts.bridges(place, question.terms) if 0 < lacks.sum() < weights.sum() else []
        if not bridges:
            continue
        completed = lacks @ presence / weights.sum()
        shared = np.average(
            [texts.having(term) for term in bridges], axis=0, weights=list(map(background.rarity, bridges))
        )
        more = GAIN * completed * shared * scores[place] / scores[best[0]]
        raised = np.maximum(raised, np.minimum(scores + more, scores[place]))
    return raised
