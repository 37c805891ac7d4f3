"""Questions in two hops, as "the phone number of the man of 39": one text says who that is, another has his number.

A bridge is a term that a good text has and few others do. A second text that has the bridge, and the terms of the
question that the good text lacks, answers together with it.
"""

import string
from collections.abc import Sequence
from dataclasses import dataclass, field

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


@dataclass(frozen=True, slots=True)
class Texts:
    """The candidates of a search: the beginning of each, folded; and which of them have the terms of the question."""

    texts: Sequence[str]
    _having: dict[str, Numbers] = field(default_factory=dict)
    _terms: dict[int, tuple[str, ...]] = field(default_factory=dict)

    def having(self, term: str) -> Numbers:
        """An array (texts,): 1 for each text that has a term, 0 for the others."""
        if term not in self._having:
            plain = term.replace(" ", "")
            holds = _holds_word if plain.isascii() else str.__contains__
            flags = [holds(text, plain) for text in self.texts]
            self._having[term] = np.array(flags, float)
        return self._having[term]

    def bridges(self, place: int, question_terms: Sequence[str]) -> list[str]:
        """The terms of a text that are not in the question and that few other candidates have."""
        if place not in self._terms:  # the parts of a question often have the same best texts
            self._terms[place] = query.parse(self.texts[place]).terms
        new_terms = [term for term in self._terms[place] if term not in question_terms]
        rare = sorted(new_terms, key=background.share)[:LOOKED_AT]
        most = max(BRIDGES, FEW * len(self.texts))
        return [term for term in rare if 1 < self.having(term).sum() <= most][:BRIDGES]


def _holds_word(text: str, word: str) -> bool:
    """True if a text has a word, not only inside a longer one. To compile a pattern for it would take longer."""
    start = text.find(word)
    while start >= 0:
        end = start + len(word)
        if text[max(0, start - 1) : start] not in _IN_WORDS and text[end : end + 1] not in _IN_WORDS:
            return True
        start = text.find(word, start + 1)
    return False


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
