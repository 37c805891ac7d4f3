"""Which threshold of similarity parts examples that should wake a memory from those that should not."""

from collections.abc import Sequence
from itertools import pairwise

MARGIN = 0.03
"""How far a threshold stays from the only examples there are, if all are of one kind. A choice: a beginning, since a
paraphrase of the same matter differs by more."""

DIGITS = range(2, 8)
"""Digits of a threshold: hundredths, unless both examples of the gap would then be on the same side."""


def proposed(wanted: Sequence[float], unwanted: Sequence[float]) -> float | None:
    """The threshold with the fewest examples on the wrong side, in the middle of the widest such gap; None without any.

    The scores are cosines, those of examples that should wake and those of examples that should not.
    """
    if not wanted and not unwanted:
        return None
    if not unwanted:
        return round(min(wanted) - MARGIN, 2)
    if not wanted:
        return round(max(unwanted) + MARGIN, 2)
    scores = sorted({*wanted, *unwanted})
    gaps = list(pairwise(scores))
    gaps += [(scores[0] - 2 * MARGIN, scores[0]), (scores[-1], scores[-1] + 2 * MARGIN)]
    low, high = min(gaps, key=lambda gap: (wrong(sum(gap) / 2, wanted, unwanted), gap[0] - gap[1]))
    rounded = (round((low + high) / 2, digits) for digits in DIGITS)
    return next((each for each in rounded if low < each <= high), high)


def wrong(threshold: float, wanted: Sequence[float], unwanted: Sequence[float]) -> int:
    """How many examples are on the wrong side."""
    return sum(score < threshold for score in wanted) + sum(score >= threshold for score in unwanted)
