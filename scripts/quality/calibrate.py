"""Fits what a score means: `python scripts/quality/calibrate.py DATA ... [--half first] [--write]`.

The model of memory_server/domain/confidence.py is fitted on the hits of every question, and, at a quarter of the
weight, on what is found for the same question where its evidence is not in the store. Each set has the same weight.
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).resolve().parents[up]) for up in (1, 2)]

from memory_server.domain import confidence  # noqa: E402
from memory_server.domain.confidence import Signals  # noqa: E402
from memory_server.domain.relevance import Numbers  # noqa: E402
from memory_server.embedding.bundled import BundledEmbedder  # noqa: E402
from quality import data, own, selection  # noqa: E402
from quality.data import Store  # noqa: E402
from quality.doors import ServicesDoor, names_of, through_services  # noqa: E402
from quality.vectors import RememberedEmbedder  # noqa: E402

COEFFICIENTS = Path(__file__).resolve().parents[2] / "memory_server/domain/confidence.json"

SHOWN = 10
"""Hits of a question that the model learns from."""

ABSENT = 0.25
"""Weight of a question whose evidence is not there."""

RIDGE = 1e-3
"""Of the squared coefficients, so that inputs that say the same share their weight."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The inputs of the first hits of a question, a row each, and which of them are evidence."""

    set: str
    rows: Numbers
    right: Numbers
    weight: float


MODES = {"hybrid": "hybrid", "meaning": "semantic", "words": "keyword"}
"""The names of the models and the modes of search."""


def samples(store: Store, embedder: RememberedEmbedder, mode: str) -> Iterator[Sample]:
    meaning = mode != "keyword"
    with through_services(embedder) as door:
        assert isinstance(door, ServicesDoor)
        names = names_of(store, door.store(store.memories))
        for question in store.questions:
            if not question.counts or not question.gold:
                continue
            ranked = door.signals(question, mode)
            found = [(signals, not question.wanted.isdisjoint(names[id])) for id, signals in ranked]
            yield _sample(store, found, meaning, 1.0)
            yield _sample(store, [each for each in found if not each[1]], meaning, ABSENT)


def _sample(store: Store, found: Sequence[tuple[Signals, bool]], meaning: bool, weight: float) -> Sample:
    if not found:
        return Sample(store.set, np.zeros((0, 0)), np.zeros(0), weight)
    rows = confidence.inputs([signals for signals, _ in found], meaning)[:SHOWN]
    return Sample(store.set, rows, np.array([float(right) for _, right in found[:SHOWN]]), weight)


def fit(given: Sequence[Sample]) -> Numbers:
    """The coefficients of a logistic model, the intercept first: Newton's method."""
    used = [each for each in given if len(each.right)]
    sizes: dict[str, float] = defaultdict(float)
    for each in used:
        sizes[each.set] += each.weight * len(each.right)
    rows = np.vstack([each.rows for each in used])
    rows = np.hstack([np.ones((len(rows), 1)), rows])
    right = np.concatenate([each.right for each in used])
    weights = np.concatenate([np.full(len(each.right), each.weight / sizes[each.set]) for each in used])
    found = np.zeros(rows.shape[1])
    for _ in range(50):
        chance = 1 / (1 + np.exp(-rows @ found))
        slope = rows.T @ (weights * (right - chance)) - RIDGE * found
        curve = (rows * (weights * chance * (1 - chance))[:, None]).T @ rows + RIDGE * np.eye(len(found))
        found = found + np.linalg.solve(curve, slope)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="*", type=Path)
    parser.add_argument("--half", choices=["first", "second"])
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    every = [*(store for path in given.data for store in data.read(path)), *own.stores(held=False)]
    if given.half:
        every = selection.half(every, given.half)
    embedder = RememberedEmbedder(BundledEmbedder(), given.vectors)
    coefficients = {}
    for name, mode in MODES.items():
        found = [sample for store in every for sample in samples(store, embedder, mode)]
        coefficients[name] = [round(value, 4) for value in fit(found).tolist()]
        print(name, coefficients[name])
    embedder.save()
    if given.write:
        COEFFICIENTS.write_text(json.dumps(coefficients, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
