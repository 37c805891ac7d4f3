"""Prints how well searches find what they should: `python scripts/lab/quality/evaluate.py [DATA ...]`.

DATA are files, or folders of them, in the form that data.py reads; the sets of the repository are always
asked too. Each store is a database of its own with the bundled embedder. BM25 alone and the cosine alone are the
baselines.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[up]) for up in (1, 3)]

from memory_server.embedding import Embedder  # noqa: E402
from memory_server.embedding.bundled import BundledEmbedder  # noqa: E402
from quality import data, own, saved, selection, tables  # noqa: E402
from quality.baselines import Bm25, Cosine  # noqa: E402
from quality.data import Question, Store  # noqa: E402
from quality.doors import Answer, Door, names_of, through_mcp, through_services  # noqa: E402
from quality.measures import Hit, Result, rank  # noqa: E402
from quality.vectors import RememberedEmbedder  # noqa: E402

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
    given = _arguments()
    if given.compare:
        before, after = map(saved.load, given.compare)
        print(*saved.compared(before, after, given.verbose), sep="\n")
        return
    if given.show:
        _print(saved.load(given.show))
        return
    embedder = RememberedEmbedder(BundledEmbedder(), given.vectors)
    opened: Opened = (
        through_mcp
        if given.mcp
        else partial(through_services, postgres=given.postgres, compared=given.compared)
    )
    results: list[Result] = []
    for store in _stores(given):
        began = time.perf_counter()
        results += evaluated(store, given.modes, opened, embedder)
        print(f"{store.set} {store.name}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
        embedder.save()
    if given.save:
        saved.save(given.save, results)
    print(f"python scripts/lab/quality/evaluate.py {' '.join(sys.argv[1:])}\n")
    _print(results)


def _print(results: Sequence[Result]) -> None:
    print(*tables.whole(results), "", *tables.by_category(results), sep="\n")


def _stores(given: argparse.Namespace) -> list[Store]:
    every = [store for path in given.data for store in data.read(path)]
    every += [*own.stores(held=given.held), data.demo()]
    chosen = selection.only(every, given.only)
    if given.half:
        chosen = selection.half(chosen, given.half)
    if given.cut:
        chosen = [cut for store in chosen for cut in selection.cuts(store, given.cut)]
    return [selection.joined(chosen)] if given.joined else chosen


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add(
        "data",
        nargs="*",
        type=Path,
        help="files or folders of sets; those of the repository are always there",
    )
    add("--only", nargs="+", default=[], metavar="SET[:0,1]", help="these sets, or these stores of them")
    add("--half", choices=["first", "second"], help="every other store: fit on one half, report the other")
    add("--held", action="store_true", help="the part of the own set that was put aside, and only it")
    add("--cut", type=int, metavar="N", help="stores cut to N memories around the evidence")
    add("--joined", action="store_true", help="all these stores in one")
    add("--compared", action="store_true", help="look for what each memory may replace, as a server does")
    add("--modes", type=_modes, default=[*MODES, *BASELINES], help=f"of {','.join([*MODES, *BASELINES])}")
    add("--mcp", action="store_true", help="through a server over stdio, not through the services")
    add("--postgres", metavar="ADDRESS", help="on this PostgreSQL database, a new tenant for each store")
    add("--vectors", type=Path, metavar="FILE", help="keep the vectors of memories there for the next run")
    add("--save", type=Path, metavar="FILE", help="write the result of each question as a line of JSON")
    add("--show", type=Path, metavar="FILE", help="the tables of a saved run; asks nothing")
    add("--compare", nargs=2, type=Path, metavar=("BEFORE", "AFTER"), help="two saved runs; asks nothing")
    add("--verbose", action="store_true", help="with --compare: the questions that changed most")
    return parser.parse_args()


def _modes(text: str) -> list[str]:
    modes = text.split(",")
    if unknown := set(modes) - {*MODES, *BASELINES}:
        raise argparse.ArgumentTypeError(f"no mode {', '.join(sorted(unknown))}")
    return modes


if __name__ == "__main__":
    main()
