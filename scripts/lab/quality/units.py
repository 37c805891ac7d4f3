"""Fits a network of one layer of units beside a plain sum, by Adam, on rows of plain numbers."""

from itertools import count

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float32]
Weights = list[Rows]
"""Inputs to units, biases of units, units to the sum, its bias, inputs to the sum."""

UNITS = 16

EPOCHS = 25

BATCH = 128

RATE = 2e-3

DROPPED = 0.2
"""Of the inputs, in each step."""

DECAY = np.array([1e-4, 0, 1e-4, 0, 1e-3], np.float32)
"""Of the weights, in each step."""


def fit(rows: Rows, wanted: Rows) -> Weights:
    """Fit on inputs whose spread is some quarter."""
    chance = np.random.default_rng(0)
    height, width = rows.shape
    weights = [
        _drawn(chance, (width, UNITS), width),
        np.zeros(UNITS, np.float32),
        _drawn(chance, (UNITS,), UNITS),
        np.zeros(1, np.float32),
        np.zeros(width, np.float32),
    ]
    means = [np.zeros_like(part) for part in weights]
    squares = [np.zeros_like(part) for part in weights]
    steps = count(1)
    for epoch in range(EPOCHS):
        order = chance.permutation(height)
        rate = RATE * (1 - epoch / EPOCHS) + 1e-5
        for start in range(0, height, BATCH):
            batch = order[start : start + BATCH]
            heard = chance.random((len(batch), width), np.float32) > DROPPED
            slopes = _slopes(weights, rows[batch] * heard / np.float32(1 - DROPPED), wanted[batch])
            _step(weights, slopes, means, squares, rate, next(steps))
    return weights


def logits(weights: Weights, rows: Rows) -> Rows:
    result: Rows = _units(weights, rows) @ weights[2] + weights[3] + rows @ weights[4]
    return result


def _drawn(chance: np.random.Generator, shape: tuple[int, ...], width: int) -> Rows:
    drawn: Rows = (chance.standard_normal(shape) / np.sqrt(width)).astype(np.float32)
    return drawn


def _units(weights: Weights, rows: Rows) -> Rows:
    result: Rows = np.tanh(rows @ weights[0] + weights[1])
    return result


def _slopes(weights: Weights, rows: Rows, wanted: Rows) -> Weights:
    units = _units(weights, rows)
    chances = 1 / (1 + np.exp(-(units @ weights[2] + weights[3] + rows @ weights[4])))
    error = ((chances - wanted) / len(wanted)).astype(np.float32)
    behind = np.outer(error, weights[2]) * (1 - units * units)
    sums = [rows.T @ behind, behind.sum(0), units.T @ error, np.array([error.sum()]), rows.T @ error]
    return [slope + decay * part for slope, decay, part in zip(sums, DECAY, weights, strict=True)]


def _step(
    weights: Weights, slopes: Weights, means: Weights, squares: Weights, rate: float, step: int
) -> None:
    """Take one step of Adam (Kingma and Ba, 2015), in place."""
    for part, slope, mean, square in zip(weights, slopes, means, squares, strict=True):
        mean += 0.1 * (slope - mean)
        square += 0.001 * (slope * slope - square)
        part -= rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
