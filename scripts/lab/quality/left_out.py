"""How well a store is searched whose questions chose no constant: `python scripts/lab/quality/left_out.py DATA ...`.

For each store the constants of the ranking are chosen anew on all other stores, and the words of ordinary language
counted without it; then it is asked. So it is for each set, left out whole. A constant takes the value of GRID that is
best for the others, all else as it is; all choices then stand together. A translation counts as the set that it is of.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

sys.path[:0] = [str(Path(__file__).resolve().parents[up]) for up in (1, 3)]

from memory_server.domain import bridging, ranking, relevance  # noqa: E402
from memory_server.domain.embedding import Vector  # noqa: E402
from memory_server.embedding.bundled import BundledEmbedder  # noqa: E402
from memory_server.language import background as ordinary  # noqa: E402
from memory_server.services import retrieval  # noqa: E402
from quality import background, data, own  # noqa: E402
from quality.data import Store  # noqa: E402
from quality.doors import Door, names_of, through_services  # noqa: E402
from quality.evaluate import result  # noqa: E402
from quality.measures import Result, ndcg, recall  # noqa: E402
from quality.vectors import RememberedEmbedder  # noqa: E402

GRID: Mapping[tuple[ModuleType, str], tuple[float, ...]] = {
    (ranking, "MEANING_WEIGHT"): (0.6, 0.7, 0.9),
    (ranking, "TALK_WEIGHT"): (0.35, 0.65, 0.8),
    (relevance, "ANSWER"): (0.6, 0.75),
    (relevance, "WIDENED"): (0.25, 0.75),
    (relevance, "NAMED"): (0.08, 0.25),
    (relevance, "OWN_WORDS"): (0.03, 0.12),
    (relevance, "DATED"): (0.08, 0.25),
    (relevance, "ONLY_ASKS"): (0.0, 0.1),
    (relevance, "SAYS_WHEN"): (0.0, 0.1),
    (relevance, "SAYS_NUMBER"): (0.0, 0.05),
    (bridging, "GAIN"): (0.2, 0.6),
    (bridging, "FEW"): (0.12, 0.4),
    (retrieval, "NEWNESS"): (0.0, 0.04, 0.15),
    (retrieval, "NEWNESS_OF_TALK"): (0.0, 0.08),
    (ordinary, "BACKGROUND"): (20, 150),
}
"""The constants and the values beside the present one."""

LEAST_GAIN = 0.002
"""What another value must be better by, in `worth`: less is chance."""

LENDING = (0.67, 1.33)
"""What all of relevance.LEND is multiplied with."""

Choice = tuple[tuple[ModuleType, str], object]
"""A constant and its value."""

Worths = Sequence[NDArray[np.float64]]
"""What each question is worth, an array for each store."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A store with all its memories in it, and the door to it."""

    store: Store
    door: Door
    names: dict[int, tuple[str, ...]]

    @property
    def group(self) -> str:
        return self.store.set.removesuffix("_zh")

    def asked(self) -> list[Result]:
        return [
            result(self.store, each, "hybrid", self.door.ask(each, "hybrid"), self.names)
            for each in self.store.questions
            if each.counts and each.gold
        ]


class Remembering(RememberedEmbedder):
    """Remembers the vectors of questions too: each is asked many times."""

    def __init__(self, file: Path | None) -> None:
        embedder = BundledEmbedder()
        super().__init__(embedder, file)
        self._questions: dict[str, Vector] = {}

        def embed_questions(texts: Sequence[str]) -> list[Vector]:
            new = [text for text in texts if text not in self._questions]
            self._questions.update(zip(new, embedder.embed_questions(new) if new else [], strict=True))
            return [self._questions[text] for text in texts]

        self.embed_questions = embed_questions


@contextmanager
def chosen(choices: Sequence[Choice]) -> Iterator[None]:
    """With these values of the constants."""
    with ExitStack() as stack:
        for (module, name), value in choices:
            stack.enter_context(patch.object(module, name, value))
        yield


@contextmanager
def opened(stores: Sequence[Store], embedder: RememberedEmbedder) -> Iterator[list[Opened]]:
    with ExitStack() as stack:
        found = []
        for store in stores:
            door = stack.enter_context(through_services(embedder))
            found.append(Opened(store, door, names_of(store, door.store(store.memories))))
        yield found


def worth(result: Result) -> float:
    """What a choice is judged by: the mean of recall at 10 and nDCG at 10."""
    return (recall(result, 10) + ndcg(result)) / 2


def worths(every: Sequence[Opened]) -> list[NDArray[np.float64]]:
    """What each question of each store is worth."""
    return [np.array([worth(result) for result in each.asked()]) for each in every]


def alternatives() -> Iterator[Choice]:
    for constant, values in GRID.items():
        for value in values:
            yield constant, value
    for factor in LENDING:
        lend = {distance: factor * share for distance, share in relevance.LEND.items()}
        yield (relevance, "LEND"), lend


def best(others: Sequence[int], present: Worths, tried: Sequence[tuple[Choice, Worths]]) -> list[Choice]:
    """For each constant the value that is best for the questions of these stores."""
    best: dict[tuple[str, str], tuple[float, Choice]] = {}
    for choice, found in tried:
        gain = float(np.mean(np.concatenate([found[place] - present[place] for place in others])))
        constant = (choice[0][0].__name__, choice[0][1])
        if gain > best.get(constant, (LEAST_GAIN, choice))[0]:
            best[constant] = (gain, choice)
    return [choice for _, choice in best.values()]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="+", type=Path)
    parser.add_argument("--without", nargs="*", default=[], metavar="SET", help="sets that are not asked")
    parser.add_argument("--vectors", type=Path)
    given = parser.parse_args()
    every = [*(store for path in given.data for store in data.read(path)), *own.stores(held=False)]
    embedder = Remembering(given.vectors)
    with opened([store for store in every if store.set not in given.without], embedder) as doors:
        embedder.save()
        present, tried = worths(doors), []
        for choice in alternatives():
            with chosen([choice]):
                tried.append((choice, worths(doors)))
            gain = np.mean(np.concatenate(tried[-1][1])) - np.mean(np.concatenate(present))
            print(f"{choice[0][1]} = {choice[1]}: {gain:+.4f}", flush=True)
        for title, part in (("store", by_store), ("set", by_group)):
            print(f"\n| {title} left out | r@10 | left out | nDCG@10 | left out | chosen by the others |")
            print("|" + " --- |" * 6)
            for left in dict.fromkeys(map(part, doors)):
                others = [place for place, each in enumerate(doors) if part(each) != left]
                choices = best(others, present, tried)
                for line in _lines([each for each in doors if part(each) == left], every, choices):
                    print(line, flush=True)


def by_store(each: Opened) -> str:
    return f"{each.group} {each.store.name}"


def by_group(each: Opened) -> str:
    return each.group


def _lines(left: Sequence[Opened], every: Sequence[Store], choices: Sequence[Choice]) -> Iterator[str]:
    """A line for each set among the stores that are left out."""
    names = {(each.store.set, each.store.name) for each in left}
    shares = background.shares([store for store in every if (store.set, store.name) not in names])
    text = ", ".join(f"{name} {value}" for (_, name), value in choices)
    for set_ in dict.fromkeys(each.store.set for each in left):
        doors = [each for each in left if each.store.set == set_]
        before = [result for each in doors for result in each.asked()]
        with chosen(choices), patch.object(ordinary, "_shares", lambda: shares):
            after = [result for each in doors for result in each.asked()]
        figures = [
            np.mean([measure(result) for result in results])
            for measure in (lambda result: recall(result, 10), ndcg)
            for results in (before, after)
        ]
        shown = " | ".join(f"{figure:.3f}" for figure in figures)
        yield f"| {' '.join([set_, *([doors[0].store.name] if len(doors) == 1 else [])])} | {shown} | {text} |"


if __name__ == "__main__":
    main()
