"""The probability that a text answers a question, and whether anything does: logistic models over what a search knows.

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

UNRELATED = 0.1
"""Score and cosine of a text that has nothing to do with the question. The only text of a store is compared with these
figures: compared with itself it would never stand out, and the first memory would never be told."""

FIRST = 10
"""Texts, the best of a ranking, among which a text may be said again."""

NEAR = 0.4
"""Cosine from which on it counts in full that a text is said again: notes alike that are far from the question tell
nothing."""

LIKELY = 0.25
"""Probability from which on a text answers."""

LIKELY_BY_WORDS = 0.15
"""The same of the best text where meaning is not known."""

SURELY = 0.8
"""The probability that counts instead of LIKELY_BY_WORDS where no text has a name of the question."""

ANSWERED, TRANSLATED = "answered", "answered in another language"
"""The models that tell whether anything answers. A question counts as answered from a logit of 0 on."""

NAMES_UNKNOWN = 5.0
"""Logit from which on a text in the language of the question answers it, where the store does not have a name of the
question. Of 530 stored questions of seven sets none has such a name."""

SPELT_OTHERWISE = 1.0
"""The same of a text in the other script, in which a name is spelt otherwise."""

SURE = 1e-4
"""Probabilities nearer to 0 or 1 than this count as this."""


@dataclass(frozen=True, slots=True)
class Signals:
    """Signals that a text answers: the `share` of a full match, the `cover` that it has itself, and the `cosine`.

    `distinct` is how far the cosine lies above those of the other candidates, in standard deviations. `score` is what
    it is ranked by, `far` the score of the text at place FAR, `full` the weight of all terms, `terms` their number,
    `unheld` the share of `full` whose terms no text of the store holds. `translated`: the text is mainly Chinese and
    the question has no Chinese character, or the other way round.
    `names_unknown`: the question names somebody or something that no text of the store has.
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
    unheld: float = 0.0
    translated: bool = False
    names_unknown: bool = False
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
    last = ranked[-1].score if len(ranked) > 1 else UNRELATED
    following = [*(signals.score for signals in ranked[1:]), last]
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


def is_answered(ranked: Sequence[Signals], chances: Sequence[float], meaning: bool) -> bool:
    """True if what is stored answers a question at all; `chances` are the `probabilities` of the same ranking.

    Where meaning is not known, the probability of the best text decides. Of several questions, whose best texts come
    first, one that is answered is enough.
    """
    if not ranked:
        return False
    if chances[0] > 1 - SURE:
        return True
    if not meaning:
        return chances[0] >= (SURELY if ranked[0].names_unknown else LIKELY_BY_WORDS)
    firsts = zip(ranked[: ranked[0].questions], chances, strict=False)
    return any(_seems_answered(best, chance) for best, chance in firsts)


def _seems_answered(best: Signals, chance: float) -> bool:
    intercept, *weights = _coefficients()[TRANSLATED if best.translated else ANSWERED]
    unknown = SPELT_OTHERWISE if best.translated else NAMES_UNKNOWN
    least = unknown if best.names_unknown else 0.0
    return float(of_best(best, chance) @ np.array(weights)) + intercept >= least


def of_best(best: Signals, chance: float) -> Numbers:
    """The inputs of the model that tells whether anything answers, of shape (inputs,): all are of the best text.

    `chance` is the probability that it answers.
    """
    chance = min(max(chance, SURE), 1 - SURE)
    return np.array(
        [
            log(chance / (1 - chance)),
            best.cosine,
            best.distinct,
            best.cover,
            best.score - best.far,
            log1p(best.full),
            log1p(best.terms),
            best.unheld,
        ]
    )


def _restated(signals: Signals) -> float:
    return min(1.0, signals.cosine / NEAR) * log1p(signals.restated)


@cache
def _coefficients() -> dict[str, list[float]]:
    text = files("memory_server.domain").joinpath("confidence.json").read_text(encoding="utf-8")
    coefficients: dict[str, list[float]] = json.loads(text)
    return coefficients
