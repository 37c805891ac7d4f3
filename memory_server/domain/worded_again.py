"""Finds the text from outside that another text probably says in other words: its rare words stand together there.

A rare word is one that few ordinary texts hold, and that stands in few places of what the session has heard.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memory_server.domain import sketch
from memory_server.domain.sketch import BLOCK, SPREAD, Flags, Needle, Sketch

Weights = NDArray[np.float32]

LEAST: Final = 0.3
"""Share of a text, weighed by rarity, that must stand together. A quarter finds 1 % more, and takes five times as much
of what others say for a page's."""

RARE: Final = 7.0
"""Nats in a word that stands in one of 1,100 places. Two such words must stand together, and one more than stand in any
text that is not from outside."""

PLACES: Final = 1000
"""Places of ordinary text that are added to those of the session: in a short one each word is rare."""


@dataclass(frozen=True, slots=True)
class _Standing:
    """The hashes of a needle in a sketch: from the index `first` to `end`, both of the shape (hashes,)."""

    sought: Needle
    source: Sketch
    first: NDArray[np.intp]
    end: NDArray[np.intp]

    @classmethod
    def of(cls, sought: Needle, source: Sketch) -> "_Standing":
        first, stands = sketch.standing(sought, source)
        if not stands.any():
            return cls(sought, source, first, first)
        end = np.searchsorted(source.hashes, sought.hashes, "right")
        return cls(sought, source, first, np.where(stands, end, first))

    def weigh(self, weights: Weights, least: Weights) -> Weights:
        """Return how much of each part stands together, in nats; 0 where all that stands is less than `least`."""
        weighed = np.zeros(len(weights), np.float32)
        stands = self.end > self.first
        for part in np.flatnonzero((weights @ stands >= least) & stands.any()):
            length = np.count_nonzero(weights[part, : len(self.sought.words)])
            wide = max(1, ceil(SPREAD * length / BLOCK))
            places = sketch.by_place(self.first, self.end, self.source.places, wide)
            weighed[part] = (places @ weights[part]).max()
        return weighed


def likeliest(sought: Needle, outside: Sequence[Sketch], inside: Sequence[Sketch]) -> int | None:
    """Return the index of the text from outside that says a part of a text in other words, where no text of `inside`
    says nearly as much; None where there is none."""
    if not outside:
        return None
    standings = [_Standing.of(sought, source) for source in (*outside, *inside)]
    weights = np.where(_parts(sought), _rarities(sought, standings), np.float32(0))
    least = np.maximum(LEAST * weights.sum(axis=1), np.float32(2 * RARE))
    weighed = np.stack([standing.weigh(weights, least) for standing in standings[: len(outside)]])
    most = weighed.max(axis=0)
    if (most < least).all():
        return None
    besides = [standing.weigh(weights, most - RARE) for standing in standings[len(outside) :]]
    is_from_outside = (most >= least) & (most - np.max(besides, axis=0, initial=0) > RARE)
    return int((weighed * is_from_outside).max(axis=1).argmax()) if is_from_outside.any() else None


def _parts(sought: Needle) -> Flags:
    """Return the hashes of the whole, of each sentence, and of the words of a Chinese text that are not Chinese, since
    a page in English holds no others; of the shape (parts, hashes)."""
    number = len(sought.words)
    masks = np.zeros((len(sought.starts) + 2, number + len(sought.pairs)), bool)
    for row, (part, _) in enumerate(sought.parts()):
        masks[row, part] = True
        masks[row, number + part.start : number + part.stop - 1] = True
    if sought.is_foreign is not None:
        masks[-1, :number] = sought.is_foreign
    return masks


def _rarities(sought: Needle, standings: Sequence[_Standing]) -> Weights:
    """Return the rarity of each hash, in nats, of the shape (hashes,)."""
    holding = np.sum([standing.end - standing.first for standing in standings], axis=0)
    places = sum(len(standing.source.hashes) for standing in standings) / (2 * BLOCK)
    shares = (PLACES * sought.shares + holding) / (PLACES + places)
    rarities: Weights = (sought.scales * -np.log(np.minimum(shares, 1))).astype(np.float32)
    return rarities
