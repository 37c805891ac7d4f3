"""Keeps the results of a run as JSON lines, and compares two runs question by question."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from quality.measures import Hit, Result, ndcg, recall

RESAMPLES = 4000
"""Of the bootstrap: the ends of the interval are then right to about .001."""

MOST_CHANGED = 15

MEASURES: dict[str, Callable[[Result], float]] = {
    "r@10": lambda result: recall(result, 10),
    "r@1": lambda result: recall(result, 1),
    "nDCG@10": ndcg,
}

Pair = tuple[Result, Result]


def save(path: Path, results: Iterable[Result]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for result in results:
            file.write(json.dumps(asdict(result), ensure_ascii=False) + "\n")


def load(path: Path) -> list[Result]:
    results = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        row["hits"] = tuple(Hit(tuple(hit["ids"]), hit["score"], hit["right"]) for hit in row["hits"])
        row["ranks"], row["stale"] = tuple(row["ranks"]), tuple(row["stale"])
        results.append(Result(**row))
    return results


def compared(before: Sequence[Result], after: Sequence[Result], verbose: bool) -> Iterator[str]:
    """A line for each set, mode and measure, over the questions that both runs have and that count."""
    known = {result.key: result for result in before if result.counts and result.ranks}
    pairs = [(known[result.key], result) for result in after if result.key in known]
    yield "| set | mode | questions | measure | before | after | difference | 95 % of it | won | lost |"
    yield "|" + " --- |" * 10
    for group in dict.fromkeys((result.set, result.mode) for result, _ in pairs):
        rows = [pair for pair in pairs if (pair[0].set, pair[0].mode) == group]
        for name, measure in MEASURES.items():
            yield _line(*group, name, [(measure(old), measure(new)) for old, new in rows])
    if verbose:
        yield from _most_changed(pairs)


def interval(differences: NDArray[np.float64]) -> tuple[float, float]:
    """Where the mean lies in 95 of 100 resamples of the questions."""
    chance = np.random.default_rng(0)
    means = [chance.choice(differences, len(differences)).mean() for _ in range(RESAMPLES)]
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def _line(name: str, mode: str, measure: str, values: Sequence[tuple[float, float]]) -> str:
    old, new = np.array(values).T
    low, high = interval(new - old)
    figures = f"{old.mean():.3f} | {new.mean():.3f} | {(new - old).mean():+.3f} | {low:+.3f} to {high:+.3f}"
    won, lost = int((new > old).sum()), int((new < old).sum())
    return f"| {name} | {mode} | {len(values)} | {measure} | {figures} | {won} | {lost} |"


def _most_changed(pairs: Iterable[Pair]) -> Iterator[str]:
    """The questions whose nDCG@10 changed most, the losses first."""
    changed = sorted(
        (ndcg(new) - ndcg(old), new.key, old, new) for old, new in pairs if ndcg(new) != ndcg(old)
    )
    losses = [each for each in changed[:MOST_CHANGED] if each[0] < 0]
    gains = [each for each in changed[: -MOST_CHANGED - 1 : -1] if each[0] > 0]
    for difference, _, old, new in [*losses, *gains]:
        yield f"{difference:+.2f} {new.set} {new.store} {new.question} {new.mode} [{new.category}] {new.text[:200]}"
        yield f"      ranks {list(old.ranks)} → {list(new.ranks)}"
