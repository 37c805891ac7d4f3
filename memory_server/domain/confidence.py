"""The probability that a text answers a question: a logistic model over what a search knows of the text.

`scripts/lab/quality/calibrate.py` fits the coefficients on development data and writes them beside this module.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import log, log1p
from statistics import fmean

import numpy as np

from memory_server.domain.relevance import Boost, Numbers

FAR = 16
"""The place in the ranking with whose score each score is compared."""

FIRST = 10
"""Texts, the best of a ranking, among which a text may be said again."""

NEAR = 0.4
"""Cosine from which on it counts in full that a text is said again: notes alike that are far from the question tell
nothing."""


@dataclass(frozen=True, slots=True)
class Signals:
    """Signals that a text answers: the `share` of a full match, the `cover` that it has itself, and the `cosine`.

    `distinct` is how far the cosine lies above those of the other candidates, in standard deviations. `score` is what
    it is ranked by, `far` the score of the text at place FAR, `full` the weight of all terms, `terms` their number.
    `questions` is the number of questions that were asked in one. `restated` is how often the FIRST texts say nearly
    the same, and `summed` how often they say the like where the question asks for a sum, to which each of them belongs.
    """

    share: float
    cover: float
    cosine: float
    distinct: float
    score: float
    far: float
    boost: Boost
    only_asks: bool
    full: float
    terms: int
    questions: int = 1
    restated: float = 0.0
    summed: float = 0.0


def probabilities(ranked: Sequence[Signals], meaning: bool, words: bool = True) -> list[float]:
    """The probability that each text of a ranking answers. `meaning` and `words` say what was searched."""
    if not ranked:
        return []
    intercept, *weights = _coefficients()["words" if not meaning else "hybrid" if words else "meaning"]
    logits = inputs(ranked, meaning) @ np.array(weights) + intercept
    answering: list[float] = (1 / (1 + np.exp(-logits))).tolist()
    return answering


def inputs(ranked: Sequence[Signals], meaning: bool) -> Numbers:
    """The inputs of the model, an array (texts of the ranking, inputs).

    The number of texts that answer is estimated from their cosines with each other, so only where meaning is known.
    """
    following = [signals.score for signals in (*ranked[1:], ranked[-1])]
    lead = ranked[0].score - following[0]
    usual = fmean(map(_restated, ranked[:FIRST]))
    rows = [
        [*_alone(signals, after, place), *(_among(signals, lead, usual, place) if meaning else ())]
        for place, (signals, after) in enumerate(zip(ranked, following, strict=True))
    ]
    return np.array(rows)


def _alone(signals: Signals, after: float, place: int) -> list[float]:
    """The inputs of one text by itself; `after` is the score of the next text."""
    return [
        signals.share,
        signals.cover,
        signals.score,
        signals.score - signals.far,
        max(0.0, signals.score - after),
        log1p(place),
        log1p(signals.full),
        log1p(signals.terms),
        float(signals.only_asks),
        float(signals.boost.named),
        float(signals.boost.other_named),
        signals.boost.amount,
    ]


def _among(signals: Signals, lead: float, usual: float, place: int) -> list[float]:
    """The inputs of a text among the others: how far it stands out, and how many others answer too.

    `lead` is the score of the best text less that of the next one, `usual` the mean restatement of the first ones.
    """
    return [
        signals.distinct,
        log(signals.questions),
        max(0.0, lead) if place else 0.0,
        _restated(signals),
        usual,
        log1p(signals.summed),
    ]


def _restated(signals: Signals) -> float:
    return min(1.0, signals.cosine / NEAR) * log1p(signals.restated)


@cache
def _coefficients() -> dict[str, list[float]]:
    text = files("memory_server.domain").joinpath("confidence.json").read_text(encoding="utf-8")
    coefficients: dict[str, list[float]] = json.loads(text)
    return coefficients
