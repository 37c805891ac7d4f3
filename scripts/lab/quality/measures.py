"""What a search is worth: the measures of one answer, and of many."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log2

import numpy as np

FIRST = 10
"""Results of a search that are looked at."""

BINS = 10
"""Groups of equal size in which scores are compared with what came true."""


@dataclass(frozen=True, slots=True)
class Hit:
    """`ids` are the memories of the set that it stands for: several where near-duplicates were merged."""

    ids: tuple[str, ...]
    score: float
    right: bool


@dataclass(frozen=True, slots=True)
class Result:
    """One question asked in one mode. `ranks` has a rank, or None, for each piece of evidence; times are in ms.

    `stale` has the same for what was true once. `calibrated`: the scores may be probabilities.
    """

    set: str
    store: str
    question: str
    text: str
    category: str
    lang: str
    counts: bool
    mode: str
    ranks: tuple[int | None, ...]
    stale: tuple[int | None, ...]
    hits: tuple[Hit, ...]
    calibrated: bool
    cpu: float | None
    wall: float

    @property
    def key(self) -> tuple[str, str, str, str]:
        return (self.set, self.store, self.question, self.mode)


def rank(found: Sequence[Iterable[str]], wanted: Iterable[str]) -> int | None:
    """The place, from 1, of the first hit that is one of the wanted."""
    wanted = frozenset(wanted)
    return next((place for place, ids in enumerate(found, start=1) if wanted.intersection(ids)), None)


def recall(result: Result, first: int) -> float:
    """The share of the pieces of evidence that are among the first hits."""
    return sum(rank is not None and rank <= first for rank in result.ranks) / len(result.ranks)


def reciprocal_rank(result: Result) -> float:
    return max((1 / rank for rank in result.ranks if rank), default=0.0)


def ndcg(result: Result) -> float:
    """The gain of each hit is 1 where it brings a new piece of evidence, else 0."""
    gained = sum(1 / log2(rank + 1) for rank in set(result.ranks) if rank)
    most = sum(1 / log2(rank + 1) for rank in range(1, min(FIRST, len(result.ranks)) + 1))
    return gained / most


def stale_share(result: Result) -> float:
    """How many of the first ten places outdated memories take."""
    return len({rank for rank in result.stale if rank}) / FIRST


def old_first(result: Result) -> bool:
    """Whether something outdated stands before the first piece of evidence, or instead of it."""
    outdated = min((rank for rank in result.stale if rank), default=FIRST + 1)
    return outdated < min((rank for rank in result.ranks if rank), default=FIRST + 1)


def calibration_error(hits: Sequence[Hit]) -> float:
    """The mean difference between scores and the share that is right, over bins of equal size."""
    ordered = np.array([(hit.score, hit.right) for hit in sorted(hits, key=lambda hit: hit.score)])
    bins = [part for part in np.array_split(ordered, BINS) if len(part)]
    return float(sum(abs(part[:, 0].mean() - part[:, 1].mean()) * len(part) for part in bins) / len(ordered))


def brier(hits: Sequence[Hit]) -> float:
    return sum((hit.score - hit.right) ** 2 for hit in hits) / len(hits)
