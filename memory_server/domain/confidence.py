"""How likely it is that a text answers a question: a logistic model over what a search knows of it.

`scripts/quality/calibrate.py` fits the coefficients on development data and writes them beside this module.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from memory_server.domain.relevance import Boost, Numbers

FAR = 16
"""The place in the ranking with whose score each score is compared."""


@dataclass(frozen=True, slots=True)
class Signals:
    """What a text has of the answer: the share of a full match, what it holds of that itself, and the cosine.

    `distinct` is how far the cosine lies above those of the other candidates, in standard deviations. `score` is what
    it is ranked by, `far` the score of the text at place FAR, `full` the weight of all terms, `terms` their number.
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


def probabilities(ranked: Sequence[Signals], meaning: bool, words: bool = True) -> list[float]:
    """For each text of a ranking the probability that it answers. `meaning` and `words` tell what was searched."""
    if not ranked:
        return []
    intercept, *weights = _coefficients()["words" if not meaning else "hybrid" if words else "meaning"]
    logits = inputs(ranked, meaning) @ np.array(weights) + intercept
    found: list[float] = (1 / (1 + np.exp(-logits))).tolist()
    return found


def inputs(ranked: Sequence[Signals], meaning: bool) -> Numbers:
    """The inputs of the model, a row for each text of a ranking."""
    following = [each.score for each in (*ranked[1:], ranked[-1])]
    rows = [
        [
            each.share,
            each.cover,
            each.score,
            each.score - each.far,
            max(0.0, each.score - after),
            np.log1p(place),
            np.log1p(each.full),
            np.log1p(each.terms),
            float(each.only_asks),
            float(each.boost.named),
            float(each.boost.other_named),
            each.boost.amount,
            *([each.cosine, each.distinct] if meaning else []),
        ]
        for place, (each, after) in enumerate(zip(ranked, following, strict=True))
    ]
    return np.array(rows)


@cache
def _coefficients() -> dict[str, list[float]]:
    text = files("memory_server.domain").joinpath("confidence.json").read_text(encoding="utf-8")
    found: dict[str, list[float]] = json.loads(text)
    return found
