"""Whether a prompt is about a text, by their words alone: what they share, weighed by how rare each word is.

A logistic model with three inputs, because a hook has no time for the ranking of a search, which needs numpy.
`python scripts/quality/reminding.py` fits it on the questions of `scripts/quality/own.jsonl`, each asked in all stores,
and prints what it finds.
"""

from dataclasses import dataclass
from math import exp, log, log1p

STEERING = 2.0
"""The most that a word of small talk weighs: the weight of a word that one of seven texts has."""

INTERCEPT, PER_COVER, PER_MASS, PER_WORDS = -9.7, 3.4, 4.1, -2.5

LIKELY = 0.25
"""Probability from which on a text is shown. Half of what is shown is then what was asked for."""


LIKELY_BY_MEANING = 0.3
"""The same of the probability that the ranking of a search gives, where a server answers."""


@dataclass(frozen=True, slots=True)
class Shared:
    """What a text shares with a prompt: `mass` is the weight of the shared words in nats, `full` that of all words of
    the prompt, `words` their number, `rarest` the weight of the rarest of them.
    """

    mass: float
    full: float
    words: int
    rarest: float

    @property
    def probability(self) -> float:
        """How likely it is that the text is what the prompt is about; 0 where they share only small talk."""
        if self.rarest <= STEERING:
            return 0.0
        cover = self.mass / self.full
        logit = INTERCEPT + PER_COVER * cover + PER_MASS * log1p(self.mass) + PER_WORDS * log(self.words)
        return 1 / (1 + exp(-logit))


def weight(rarity: float, steers: bool) -> float:
    """What a word of this inverse document frequency weighs, where it steers or not."""
    return min(STEERING, rarity) if steers else rarity
