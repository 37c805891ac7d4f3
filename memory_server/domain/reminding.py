"""Estimates whether a prompt is about a text: by the words that they share, weighed by their rarity, and by meaning.

Logistic models of few inputs: the ranking of a search expects a question, and a prompt is often none.
`python scripts/lab/quality/reminding.py --fit` fits them on the questions of `scripts/lab/quality/own.jsonl`, each
asked in all stores; without `--fit` it prints what they find.
"""

from dataclasses import dataclass
from math import exp, log, log1p

STEERING = 2.0
"""The most that a word of small talk weighs: the weight of a word that one of seven texts has."""

INTERCEPT, PER_COVER, PER_MASS, PER_WORDS = -10.1, 3.4, 4.1, -2.3

LIKELY = 0.25
"""Probability from which on a text is shown. Half of what is shown is then what was asked for."""


MEANING_INTERCEPT, PER_LOGIT, PER_SHARED = -1.0, 1.0, 0.5

LIKELY_BY_MEANING = 0.4
"""The same where meaning is known too; what the words alone make likely is shown in any case."""


@dataclass(frozen=True, slots=True)
class Shared:
    """The words that a text shares with a prompt: `mass` is the weight of the shared words in nats, `full` that of all
    words of the prompt, `words` their number, `rarest` the weight of the rarest of them.
    """

    mass: float
    full: float
    words: int
    rarest: float

    @property
    def probability(self) -> float:
        """The probability that the prompt is about the text; 0 where they share only small talk."""
        if not self.is_telling:
            return 0.0
        cover = self.mass / self.full
        logit = INTERCEPT + PER_COVER * cover + PER_MASS * log1p(self.mass) + PER_WORDS * log(self.words)
        return 1 / (1 + exp(-logit))

    @property
    def is_telling(self) -> bool:
        """True if they share more than small talk."""
        return self.rarest > STEERING


def weight(rarity: float, steers: bool) -> float:
    """The weight of a word with this inverse document frequency; `steers`: it is small talk."""
    return min(STEERING, rarity) if steers else rarity


def with_meaning(probability: float, shared: Shared | None) -> float:
    """The probability that the prompt is about a text to which the ranking of a search gives `probability`.

    The ranking expects a question; a prompt is often about nothing that is stored. So a text without a shared word must
    be closer.
    """
    if not 0 < probability < 1:
        return probability
    mass = shared.mass if shared is not None and shared.is_telling else 0.0
    logit = MEANING_INTERCEPT + PER_LOGIT * log(probability / (1 - probability)) + PER_SHARED * log1p(mass)
    return 1 / (1 + exp(-logit))


def is_likely(probability: float, shared: Shared | None) -> bool:
    """True if a text is shown to which the ranking of a search gives this probability."""
    by_words = shared is not None and shared.probability >= LIKELY
    return by_words or with_meaning(probability, shared) >= LIKELY_BY_MEANING
