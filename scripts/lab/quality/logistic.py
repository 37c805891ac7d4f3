"""Fits a logistic model by Newton's method with conjugate gradients, on rows of few features or on plain numbers."""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Product = Callable[[Numbers], Numbers]

BIAS_PENALTY = 0.01

STEPS = 15

INNER_STEPS = 60


class Rows(Protocol):
    """A matrix of the shape (rows, width)."""

    width: int

    def dot(self, weights: Numbers) -> Numbers: ...

    def spread(self, shares: Numbers) -> Numbers:
        """Return the product of the transposed matrix: (width,)."""
        ...


class Plain:
    """A matrix of numbers."""

    def __init__(self, matrix: NDArray[np.float32]) -> None:
        self.matrix, self.width = matrix, matrix.shape[1]

    def dot(self, weights: Numbers) -> Numbers:
        return np.asarray(self.matrix @ weights.astype(np.float32), np.float64)

    def spread(self, shares: Numbers) -> Numbers:
        return np.asarray(self.matrix.T @ shares.astype(np.float32), np.float64)


class Flags:
    """A matrix of 0 and 1: of each row the places of its 1."""

    def __init__(self, places: Sequence[Sequence[int]], width: int) -> None:
        self.width = width
        self.columns = np.concatenate([np.array(row, np.int64) for row in places])
        self.rows = np.repeat(np.arange(len(places)), [len(row) for row in places])
        self.height = len(places)

    def dot(self, weights: Numbers) -> Numbers:
        return np.asarray(np.bincount(self.rows, weights[self.columns], self.height), np.float64)

    def spread(self, shares: Numbers) -> Numbers:
        return np.asarray(np.bincount(self.columns, shares[self.rows], self.width), np.float64)


def solve(rows: Rows, wanted: Numbers, penalty: float | Numbers) -> tuple[Numbers, float]:
    """Return the weights and the bias; `penalty` is that on the squares of the weights."""
    penalties = np.append(np.broadcast_to(penalty, rows.width), BIAS_PENALTY)
    weights = np.zeros(rows.width + 1)

    def dot(weights: Numbers) -> Numbers:
        products = rows.dot(weights[:-1])
        products += weights[-1]
        return products

    def spread(shares: Numbers) -> Numbers:
        return np.append(rows.spread(shares), shares.sum())

    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-np.clip(dot(weights), -50, 50)))
        slope = spread(chance - wanted) + penalties * weights
        if np.linalg.norm(slope) < 1e-3 * np.sqrt(len(wanted)):
            break
        weights = weights + _step(slope, chance * (1 - chance) + 1e-9, penalties, dot, spread)
    return weights[:-1], float(weights[-1])


def _step(slope: Numbers, curve: Numbers, penalties: Numbers, dot: Product, spread: Product) -> Numbers:
    """Return the step of Newton's method, solved to a twentieth."""
    step = np.zeros(len(slope))
    left = -slope
    scaled = left / (penalties + 0.1)
    direction, product = scaled.copy(), left @ scaled
    for _ in range(INNER_STEPS):
        bent = spread(curve * dot(direction)) + penalties * direction
        length = product / (direction @ bent)
        step += length * direction
        left = left - length * bent
        if np.linalg.norm(left) < 0.05 * np.linalg.norm(slope):
            break
        scaled = left / (penalties + 0.1)
        product, before = left @ scaled, product
        direction = scaled + product / before * direction
    return step
