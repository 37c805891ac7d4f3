"""The tables of an evaluation, in Markdown."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain

import numpy as np

from quality.measures import (
    Result,
    brier,
    calibration_error,
    ndcg,
    old_first,
    recall,
    reciprocal_rank,
    stale_share,
)

NOTHING = "–"
TITLES = (
    "set", "questions of", "mode", "questions", "r@1", "r@5", "r@10", "MRR", "nDCG@10", "stale@10", "old first",
    "hits", "calibration error", "Brier", "CPU ms p50 / p95", "wall ms p50 / p95",
)  # fmt: skip

MEASURES: tuple[Callable[[Result], float], ...] = (
    partial(recall, first=1),
    partial(recall, first=5),
    partial(recall, first=10),
    reciprocal_rank,
    ndcg,
)


def whole(results: Sequence[Result]) -> Iterable[str]:
    """A line for each set and mode, over the questions that count."""
    yield from _head()
    counting = [result for result in results if result.counts]
    for name in dict.fromkeys(result.set for result in counting):
        of_set = [result for result in counting if result.set == name]
        for mode in dict.fromkeys(result.mode for result in of_set):
            yield _line(name, "all", mode, [result for result in of_set if result.mode == mode])


def by_category(results: Sequence[Result]) -> Iterable[str]:
    """A line for each set, category and mode."""
    yield from _head()
    keys = dict.fromkeys((result.set, result.category, result.mode) for result in results)
    places = {name: place for place, name in enumerate(dict.fromkeys(set for set, _, _ in keys))}
    for name, category, mode in sorted(keys, key=lambda key: (places[key[0]], key[1])):
        rows = [each for each in results if (each.set, each.category, each.mode) == (name, category, mode)]
        yield _line(name, category, mode, rows)


def _head() -> list[str]:
    return [_row(TITLES), _row(["---"] * len(TITLES))]


def _line(name: str, category: str, mode: str, results: Sequence[Result]) -> str:
    answered = [result for result in results if result.ranks]
    outdated = [result for result in answered if result.stale]
    means = [_mean(map(measure, answered)) for measure in MEASURES]
    stale = [_mean(map(stale_share, outdated)), _mean(map(old_first, outdated))]
    shown = f"{sum(len(result.hits) for result in results) / len(results):.1f}"
    times = [_percentiles([r.cpu for r in results if r.cpu]), _percentiles([r.wall for r in results])]
    return _row(
        [name, category, mode, str(len(answered)), *means, *stale, shown, *_calibration(results), *times]
    )


def _calibration(results: Sequence[Result]) -> tuple[str, str]:
    hits = list(chain.from_iterable(result.hits for result in results if result.calibrated))
    return (f"{calibration_error(hits):.3f}", f"{brier(hits):.3f}") if hits else (NOTHING, NOTHING)


def _mean(values: Iterable[float]) -> str:
    known = list(values)
    return f"{sum(known) / len(known):.3f}" if known else NOTHING


def _percentiles(times: Sequence[float]) -> str:
    if not times:
        return NOTHING
    median, high = np.percentile(times, [50, 95])
    return f"{median:.1f} / {high:.1f}"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
