"""Fits what a score means: `python scripts/lab/quality/calibrate.py DATA ... [--write]`.

The model of memory_server/domain/confidence.py is fitted on the hits of every question, and, at a fraction of the
weight, on what is found where its evidence is not in the store, and in stores that it is not about. Each set has the
same weight. With `--left-out` it is fitted without each store, and prints how well its scores are calibrated there; so
it does with `--sets` for each set that is left out whole.

The model that tells whether anything answers is fitted on the best text of each question, and of questions about other
stores and of `never_stored.txt`. Its intercept is such that MISSED of the stored questions of the own set fall below 0,
by models that have not seen the store. Printed is how many of both do in each set.
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).resolve().parents[up]) for up in (1, 3)]

from memory_server.domain import confidence  # noqa: E402
from memory_server.domain.confidence import Signals  # noqa: E402
from memory_server.domain.relevance import Numbers  # noqa: E402
from memory_server.embedding.bundled import BundledEmbedder  # noqa: E402
from quality import data, own, repeating  # noqa: E402
from quality.data import Question, Store  # noqa: E402
from quality.doors import ServicesDoor, names_of, through_services  # noqa: E402
from quality.measures import Hit, brier, calibration_error  # noqa: E402
from quality.vectors import RememberedEmbedder  # noqa: E402

COEFFICIENTS = Path(__file__).resolve().parents[3] / "memory_server/domain/confidence.json"

MOST = 250
"""Questions of a store that are asked: each set has the same weight, however many it has."""

FOREIGN = 0.1
"""The same of a question about another store."""

ASKED_ELSEWHERE = 4
"""One of so many questions is asked in stores that it is not about."""

SHOWN = 10
"""Hits of a question that the model learns from."""

ABSENT = 0.05
"""Weight of a question whose evidence is not there."""

RIDGE = 1e-3
"""Of the squared coefficients, so that inputs that say the same share their weight."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The inputs of the first hits of a question, a row each, and which of them are evidence.

    Of a question whose evidence was taken out, none is; its weight is ABSENT.
    """

    set: str
    store: str
    rows: Numbers
    right: Numbers
    weight: float


NEVER_STORED = Path(__file__).with_name("never_stored.txt").read_text(encoding="utf-8").splitlines()
"""Everyday questions that no store answers."""

WITHOUT_WORDS = np.array([0, 1, 0, 0, 1, 0, 0, 0])
"""The inputs of `of_best` that hold where question and text are in two languages: the cosine and the lead."""

UNFOUND = 0.3
"""Weight of a question whose evidence is not among the first FIRST texts, where it is told whether anything answers."""

FIRST = 5

MISSED = 0.12
"""Share of the stored questions of the own set that may get no answer."""

MODES = {"hybrid": "hybrid", "meaning": "semantic", "words": "keyword"}
"""The names of the models and the modes of search."""


def samples(store: Store, embedder: RememberedEmbedder, mode: str) -> Iterator[Sample]:
    meaning = mode != "keyword"
    with through_services(embedder) as door:
        assert isinstance(door, ServicesDoor)
        names = names_of(store, door.store(store.memories))
        for question in store.questions[:: -(-len(store.questions) // MOST)]:
            if not question.counts or not question.gold:
                continue
            ranked = door.signals(question, mode)
            found = [(signals, not question.wanted.isdisjoint(names[id])) for id, signals in ranked]
            yield _sample(store, found, meaning, 1.0)
            yield _sample(store, [each for each in found if not each[1]], meaning, ABSENT)
        for question in foreign(store):
            ranked = door.signals(question, mode)
            yield _sample(store, [(signals, False) for _, signals in ranked], meaning, FOREIGN)


def best_texts(store: Store, embedder: RememberedEmbedder) -> Iterator[tuple[str, Sample]]:
    """Yield the inputs of the models that tell whether anything answers: a row for each question, and its model."""
    with through_services(embedder) as door:
        assert isinstance(door, ServicesDoor)
        names = names_of(store, door.store(store.memories))
        questions = [question for question in store.questions if question.counts and question.gold]
        stored = questions[:: -(-len(questions) // MOST)]
        never = [*foreign(store), *(replace(stored[0], text=text, asked_at=None) for text in NEVER_STORED)]
        for question in (*stored, *never):
            ranked = door.signals(question, "hybrid")
            if len(ranked) < confidence.FAR:
                continue
            signals = [signals for _, signals in ranked]
            model = confidence.TRANSLATED if signals[0].translated else confidence.ANSWERED
            row = confidence.of_best(signals[0], confidence.probabilities(signals, meaning=True)[0])
            if model == confidence.TRANSLATED:
                row = row * WITHOUT_WORDS
            is_stored = any(question is other for other in stored)
            is_found = any(not question.wanted.isdisjoint(names[id]) for id, _ in ranked[:FIRST])
            weight = UNFOUND if is_stored and not is_found else 1.0
            yield model, Sample(store.set, store.name, row[None], np.array([float(is_stored)]), weight)


def balanced(samples: Sequence[Sample]) -> list[Sample]:
    """Return the samples with weights by which stored and never stored questions count equally."""
    sizes: dict[tuple[str, bool], float] = defaultdict(float)
    for sample in samples:
        sizes[sample.set, bool(sample.right[0])] += sample.weight
    return [
        replace(sample, weight=sample.weight / sizes[sample.set, bool(sample.right[0])]) for sample in samples
    ]


def fit_floor(name: str, samples: Sequence[Sample]) -> Numbers:
    """Return the coefficients of a model whose floor is 0, and print the shares below it for each set."""
    logits: dict[tuple[str, bool], list[float]] = defaultdict(list)
    for left in dict.fromkeys(sample.store for sample in samples):
        model = fit(balanced([sample for sample in samples if sample.store != left]))
        for sample in samples:
            if sample.store == left and sample.weight == 1:
                logits[sample.set, bool(sample.right[0])] += (sample.rows @ model[1:] + model[0]).tolist()
    floor = np.quantile(logits["own", True], MISSED)
    for (set_name, is_stored), values in logits.items():
        below = np.mean(np.array(values) < floor)
        kind = "stored" if is_stored else "never stored"
        print(f"{name}: {set_name}, {len(values)} {kind}: {below:.2f} below the floor")
    model = fit(balanced(samples))
    model[0] -= floor
    return model


def foreign(store: Store) -> list[Question]:
    """Questions of the own set about other stores: nothing here answers them."""
    texts = {memory.text for memory in store.memories}
    others = [each for each in own.stores(held=False) if each.memories[0].text not in texts]
    return [question for each in others for question in each.questions][::ASKED_ELSEWHERE]


def _sample(store: Store, found: Sequence[tuple[Signals, bool]], meaning: bool, weight: float) -> Sample:
    if not found:
        return Sample(store.set, store.name, np.zeros((0, 0)), np.zeros(0), weight)
    rows = confidence.inputs([signals for signals, _ in found], meaning)[:SHOWN]
    right = np.array([float(right) for _, right in found[:SHOWN]])
    return Sample(store.set, store.name, rows, right, weight)


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


def left_out(given: Sequence[Sample], part: Callable[[Sample], object]) -> Iterator[str]:
    """A line for each set: how well its scores are calibrated by a model that has not seen the part of each sample."""
    yield "| set | hits | right | calibration error | Brier |"
    yield "|" + " --- |" * 5
    hits: dict[str, list[Hit]] = defaultdict(list)
    for left in dict.fromkeys(map(part, given)):
        model = fit([each for each in given if part(each) != left])
        for each in given:
            if part(each) == left and each.weight == 1 and len(each.right):
                chances = 1 / (1 + np.exp(-each.rows @ model[1:] - model[0]))
                pairs = zip(chances.tolist(), each.right.tolist(), strict=True)
                hits[each.set] += [Hit((), chance, bool(right)) for chance, right in pairs]
    for name, found in hits.items():
        share = np.mean([hit.right for hit in found])
        yield f"| {name} | {len(found)} | {share:.2f} | {calibration_error(found):.3f} | {brier(found):.3f} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="*", type=Path)
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--left-out", action="store_true")
    parser.add_argument("--sets", action="store_true")
    parser.add_argument(
        "--answered", action="store_true", help="only the model that tells whether anything answers"
    )
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    every = [store for path in given.data for store in data.read(path)]
    every += [*own.stores(held=False), *repeating.stores()]
    embedder = RememberedEmbedder(BundledEmbedder(), given.vectors)
    coefficients: dict[str, list[float]] = json.loads(COEFFICIENTS.read_text(encoding="utf-8"))
    for name, mode in MODES.items() if not given.answered else ():
        # By words alone it cannot be seen that texts say the same.
        asked = [store for store in every if mode != "keyword" or store.set != repeating.SET]
        found = [sample for store in asked for sample in samples(store, embedder, mode)]
        coefficients[name] = [round(value, 4) for value in fit(found).tolist()]
        print(name, coefficients[name], flush=True)
        if given.left_out:
            print(*left_out(found, lambda each: (each.set, each.store)), sep="\n", flush=True)
        if given.sets:
            print(*left_out(found, lambda each: each.set.removesuffix("_zh")), sep="\n", flush=True)
    stores = [store for store in every if store.set != repeating.SET]
    best = [sample for store in stores for sample in best_texts(store, embedder)]
    for name in (confidence.ANSWERED, confidence.TRANSLATED):
        model = fit_floor(name, [sample for model_name, sample in best if model_name == name])
        coefficients[name] = [round(value, 4) for value in model.tolist()]
    embedder.save()
    if given.write:
        COEFFICIENTS.write_text(json.dumps(coefficients, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
