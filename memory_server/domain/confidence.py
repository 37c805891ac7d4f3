"""How likely it is that a text answers a question: a logistic model over what a search knows of it.

`scripts/quality/calibrate.py` fits the coefficients on development data and writes them beside this module.
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
    """What a text has of the answer: the share of a full match, what it holds of that itself, and the cosine.

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
    """For each text of a ranking the probability that it answers. `meaning` and `words` tell what was searched."""
    if not ranked:
        return []
    intercept, *weights = _coefficients()["words" if not meaning else "hybrid" if words else "meaning"]
    logits = inputs(ranked, meaning) @ np.array(weights) + intercept
    found: list[float] = (1 / (1 + np.exp(-logits))).tolist()
    return found


def inputs(ranked: Sequence[Signals], meaning: bool) -> Numbers:
    """The inputs of the model, a row for each text of a ranking.

    How many texts answer is seen from what they say to each other, so only where meaning is known.
    """
    following = [each.score for each in (*ranked[1:], ranked[-1])]
    lead = ranked[0].score - following[0]
    usual = fmean(map(_restated, ranked[:FIRST]))
    rows = [
        [*_alone(each, after, place), *(_among(each, lead, usual, place) if meaning else ())]
        for place, (each, after) in enumerate(zip(ranked, following, strict=True))
    ]
    return np.array(rows)


def _alone(each: Signals, after: float, place: int) -> list[float]:
    """What a text has of the answer; `after` is the score of the next one."""
    return [
        each.share,
        each.cover,
        each.score,
        each.score - each.far,
        max(0.0, each.score - after),
        log1p(place),
        log1p(each.full),
        log1p(each.terms),
        float(each.only_asks),
        float(each.boost.named),
        float(each.boost.other_named),
        each.boost.amount,
    ]


def _among(each: Signals, lead: float, usual: float, place: int) -> list[float]:
    """How far a text stands out, and how many others answer too.

    `lead` is how far the best text is before the next one, `usual` how often the first ones are restated.
    """
    return [
        each.distinct,
        log(each.questions),
        max(0.0, lead) if place else 0.0,
        _restated(each),
        usual,
        log1p(each.summed),
    ]


def _restated(each: Signals) -> float:
    return min(1.0, each.cosine / NEAR) * log1p(each.restated)


@cache
def _coefficients() -> dict[str, list[float]]:
    text = files("memory_server.domain").joinpath("confidence.json").read_text(encoding="utf-8")
    found: dict[str, list[float]] = json.loads(text)
    return found
