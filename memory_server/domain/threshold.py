"""Proposes a threshold of similarity between examples that should wake a memory and those that should not."""

from collections.abc import Sequence
from itertools import pairwise

MARGIN = 0.03
"""How far a threshold stays from the only examples there are, if all are of one kind. A choice: a beginning, since a
paraphrase of the same matter differs by more."""

DIGITS = range(2, 8)
"""Digits of a threshold: hundredths, unless both examples of the gap would then be on the same side."""


def proposed(waking: Sequence[float], silent: Sequence[float]) -> float | None:
    """The threshold with the fewest examples on the wrong side, in the middle of the widest such gap; None without any.

    `waking` are the cosines of examples that should wake a memory, `silent` those of examples that should not.
    """
    if not waking and not silent:
        return None
    if not silent:
        return round(min(waking) - MARGIN, 2)
    if not waking:
        return round(max(silent) + MARGIN, 2)
    scores = sorted({*waking, *silent})
    gaps = list(pairwise(scores))
    gaps += [(scores[0] - 2 * MARGIN, scores[0]), (scores[-1], scores[-1] + 2 * MARGIN)]
    low, high = min(gaps, key=lambda gap: (wrong(sum(gap) / 2, waking, silent), gap[0] - gap[1]))
    rounded = (round((low + high) / 2, digits) for digits in DIGITS)
    return next((threshold for threshold in rounded if low < threshold <= high), high)


def wrong(threshold: float, waking: Sequence[float], silent: Sequence[float]) -> int:
    """The number of examples on the wrong side of a threshold."""
    return sum(score < threshold for score in waking) + sum(score >= threshold for score in silent)
