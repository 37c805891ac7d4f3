"""The same probability by words and by what the embedder makes of a sentence: a small network over both.

`scripts/lab/quality/lasting.py --fit` fits it after the model of `lasting`, and writes its weights beside this module.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files

import numpy as np
from numpy.typing import NDArray

from memory_server.language import lasting
from memory_server.language.lasting import Statement

FILE = "lasting_states.npy"

MOST = 6.0
"""Logits by words beyond it, on both sides, count as much as it."""

Numbers = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Network:
    """`inputs` has a row for each input and one for the bias; its last column goes to the sum, the others to units,
    whose weights are `units`. The inputs are the states of a sentence and its logit by words.
    """

    inputs: Numbers
    units: Numbers

    def logits(self, by_words: Sequence[float], states: Numbers) -> Numbers:
        """Return the logit of each sentence, from that by words and from its states: (sentences, numbers)."""
        clipped = np.clip(np.array(by_words, np.float32), -MOST, MOST)[:, None]
        rows = np.hstack([states, clipped, np.ones_like(clipped)])
        # Without BLAS, whose threads busy-wait afterwards.
        sums = np.einsum("si,iu->su", rows, self.inputs)
        logits: Numbers = np.einsum("su,u->s", np.tanh(sums[:, :-1]), self.units) + sums[:, -1]
        return logits


def judge(
    statements: Sequence[Statement], states: Numbers, model: lasting.Model, network: Network
) -> list[float]:
    """Return the probability of each statement that it tells something lasting."""
    by_words = [model.logit(statement) for statement in statements]
    return [lasting.probability(float(logit)) for logit in network.logits(by_words, states)]


@cache
def of_package() -> Network:
    """The network of the package."""
    with as_file(files("memory_server.language").joinpath(FILE)) as path:
        weights = np.load(path).astype(np.float32)
    return Network(np.ascontiguousarray(weights[:-1]), weights[-1, :-1])
