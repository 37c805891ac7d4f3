"""Prints how well searches find what they should: `python scripts/quality/evaluate.py [DATA ...]`.

DATA are files, or folders of them, in the form that docs/search.md describes; the sets of the repository are always
asked too. Each store is a database of its own with the bundled embedder. BM25 alone and the cosine alone are the
baselines.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[up]) for up in (1, 2)]

from quality import data, tables  # noqa: E402
from quality.baselines import Bm25, Cosine  # noqa: E402
from quality.data import Question, Store  # noqa: E402
from quality.doors import (  # noqa: E402
    Answer,
    Door,
    RememberedEmbedder,
    names_of,
    through_mcp,
    through_services,
)
from quality.measures import Hit, Result, rank  # noqa: E402

from memory_server.embedding import Embedder  # noqa: E402
from memory_server.embedding.bundled import BundledEmbedder  # noqa: E402

MODES = ("hybrid", "semantic", "keyword")
BASELINES = ("bm25", "cosine")

Opened = Callable[[Embedder], AbstractContextManager[Door]]


def evaluated(store: Store, modes: Sequence[str], opened: Opened, embedder: Embedder) -> Iterator[Result]:
    """Every question of a store in every mode."""
    if product := [mode for mode in modes if mode in MODES]:
        with opened(embedder) as door:
            names = names_of(store, door.store(store.memories))
            for mode in product:
                for question in store.questions:
                    yield result(store, question, mode, door.ask(question, mode), names)
    names = names_of(store, range(len(store.memories)))
    for mode in (mode for mode in modes if mode in BASELINES):
        baseline = Bm25(store.memories) if mode == "bm25" else Cosine(store.memories, embedder)
        for question in store.questions:
            yield result(store, question, mode, baseline.ask(question), names)


def result(
    store: Store, question: Question, mode: str, answer: Answer, names: dict[int, tuple[str, ...]]
) -> Result:
    found = [names[id] for id, _ in answer.hits]
    return Result(
        set=store.set,
        store=store.name,
        question=question.id,
        text=question.text,
        category=question.category,
        lang=question.lang,
        counts=question.counts,
        mode=mode,
        ranks=tuple(rank(found, piece) for piece in question.gold),
        stale=tuple(rank(found, [id]) for id in sorted(question.stale)),
        hits=tuple(
            Hit(ids, score, not question.wanted.isdisjoint(ids))
            for ids, (_, score) in zip(found, answer.hits, strict=True)
        ),
        calibrated=mode in MODES,
        cpu=answer.cpu,
        wall=answer.wall,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="*", type=Path)
    parser.add_argument("--modes", type=lambda text: text.split(","), default=[*MODES, *BASELINES])
    parser.add_argument("--mcp", action="store_true")
    given = parser.parse_args()
    stores = [store for path in given.data for store in data.read(path)] + [data.demo()]
    embedder = RememberedEmbedder(BundledEmbedder())
    opened: Opened = through_mcp if given.mcp else through_services
    results: list[Result] = []
    for store in stores:
        began = datetime.now(UTC)
        results += evaluated(store, given.modes, opened, embedder)
        took = (datetime.now(UTC) - began).total_seconds()
        print(f"{store.set} {store.name}: {took:.0f} s", file=sys.stderr)
    print(*tables.whole(results), sep="\n")
    print(*tables.by_category(results), sep="\n")


if __name__ == "__main__":
    main()
