"""Fits and measures what a prompt brings to mind unasked: `python scripts/lab/quality/reminding.py [--fit] [--held]`.

Each store of `own.jsonl` is filled, with no project. Every question of every store is asked in it: what answers a
question is in its own store, and nothing that answers it is in the others. `small_talk.txt` has prompts that steer an
assistant. Printed is, for the words of a hook and for the words and meaning of a server, at several floors:

- shown: texts a question of the store, at most five;
- right: the share of them that is evidence;
- found: the share of questions for which at least one is;
- elsewhere, small talk: the share of questions of other stores, and of small talk, that bring something to mind.

`--fit` prints the constants of both models of memory_server/domain/reminding.py. They are logistic, without a penalty,
of every text that shares a telling word, and of the five nearest of a search. `--held` asks the questions that were put
aside, on which nothing is fitted.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import log, log1p
from pathlib import Path
from statistics import mean

import numpy as np

from memory_server.storage.words import Index

sys.path[:0] = [str(Path(__file__).resolve().parents[up]) for up in (1, 3)]

from memory_server import app  # noqa: E402
from memory_server.domain import reminding  # noqa: E402
from memory_server.domain.caller import Caller  # noqa: E402
from memory_server.domain.relevance import Numbers  # noqa: E402
from memory_server.domain.reminding import Shared  # noqa: E402
from memory_server.embedding import Embedder  # noqa: E402
from memory_server.embedding.bundled import BundledEmbedder  # noqa: E402
from memory_server.embedding.hashing import HashingEmbedder  # noqa: E402
from memory_server.language import query  # noqa: E402
from memory_server.language.small_talk import is_small_talk  # noqa: E402
from memory_server.language.telling import telling  # noqa: E402
from memory_server.services import shared_words  # noqa: E402
from memory_server.services.by_meaning import ByMeaning  # noqa: E402
from memory_server.services.reminding import READ, SHOWN  # noqa: E402
from quality import own  # noqa: E402
from quality.data import Store  # noqa: E402
from quality.doors import ServicesDoor, built, names_of  # noqa: E402

SMALL_TALK = Path(__file__).with_name("small_talk.txt")

FLOORS = (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6)

EVERY = 2
"""One of so many questions of other stores is asked by meaning, which takes thirty times as long."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a prompt found, best first: the probability of each text, and whether it is evidence.

    `kind` is where the prompt comes from: this store, another one, or small talk. What words alone make likely has the
    probability 1 where meaning is known too: no floor leaves it out.
    """

    kind: str
    found: tuple[tuple[float, bool], ...]


def prompts(store: Store, every: Sequence[Store]) -> Iterator[tuple[str, str, frozenset[str]]]:
    """What is asked in a store: where it comes from, its text, and the ids of its evidence."""
    for other in every:
        for question in other.questions:
            if question.counts and question.gold:
                here = other.name == store.name
                yield (
                    "own" if here else "elsewhere",
                    question.text,
                    question.wanted if here else frozenset(),
                )
    for line in SMALL_TALK.read_text(encoding="utf-8").splitlines():
        yield "small talk", line, frozenset()


def names_nothing(text: str) -> bool:
    """Whether a prompt has only words that are known for small talk: then nothing is looked for."""
    return all(map(is_small_talk, query.parse(telling(text, READ)).terms))


def shared(services: app.Services, text: str) -> dict[int, Shared]:
    """What the memories share with a prompt, as a hook sees it."""
    with services.database.read() as tx:
        return shared_words.shared_by(tx, shared_words.terms_of(telling(text, READ)))[Index.MEMORY]


def filled(services: app.Services, door: ServicesDoor, store: Store) -> dict[int, tuple[str, ...]]:
    """The store in the services, its memories in no project; the ids of the set for each id of the file."""
    memories = [replace(memory, project=None) for memory in store.memories]
    services.queue.work()
    return names_of(store, door.store(memories))


Rows = list[tuple[list[float], bool]]
"""The inputs of a model for each text, the intercept's 1 first, and whether it is evidence."""


def by_word(store: Store, every: Sequence[Store]) -> Iterator[tuple[Asked, Rows]]:
    """Each prompt asked by words: what it found, and the inputs of all that it shares a telling word with."""
    with built(HashingEmbedder()) as (services, set_clock):
        names = filled(services, ServicesDoor(services, set_clock), store)
        for kind, text, wanted in prompts(store, every):
            if names_nothing(text):
                yield Asked(kind, ()), []
                continue
            held = [(each, not wanted.isdisjoint(names[id])) for id, each in shared(services, text).items()]
            found = sorted(((each.probability, right) for each, right in held), reverse=True)
            rows = [
                ([1.0, each.mass / each.full, log1p(each.mass), log(each.words)], right)
                for each, right in held
                if each.is_telling
            ]
            yield Asked(kind, tuple(found[:SHOWN])), rows


def by_meaning(store: Store, every: Sequence[Store], embedder: Embedder) -> Iterator[tuple[Asked, Rows]]:
    """The same by words and meaning, as a server finds it."""
    with built(embedder) as (services, set_clock):
        names, finder = filled(services, ServicesDoor(services, set_clock), store), ByMeaning(services.recall)
        for number, (kind, text, wanted) in enumerate(prompts(store, every)):
            if kind == "elsewhere" and number % EVERY:
                continue
            if names_nothing(text):
                yield Asked(kind, ()), []
                continue
            near = finder.nearest(telling(text, READ), Caller())
            held = [(each.score, words, not wanted.isdisjoint(names[each.id])) for each, words in near]
            found = sorted(((_score(score, words), right) for score, words, right in held), reverse=True)
            rows = [
                ([1.0, _logit(score), log1p(words.mass) if words and words.is_telling else 0.0], right)
                for score, words, right in held[:SHOWN]
            ]
            yield Asked(kind, tuple(found[:SHOWN])), rows


def _score(probability: float, words: Shared | None) -> float:
    if words is not None and words.probability >= reminding.LIKELY:
        return 1.0
    return reminding.with_meaning(probability, words)


def _logit(probability: float) -> float:
    probability = min(0.999, max(0.001, probability))
    return log(probability / (1 - probability))


def fit(samples: Rows) -> Numbers:
    """The intercept and the coefficients that make the samples likeliest: Newton's method."""
    rows = np.array([inputs for inputs, _ in samples], np.float64)
    right = np.array([float(right) for _, right in samples])
    found: Numbers = np.zeros(rows.shape[1])
    for _ in range(50):
        chance = 1 / (1 + np.exp(-rows @ found))
        curve = (rows * (chance * (1 - chance))[:, None]).T @ rows
        found = found + np.linalg.solve(curve, rows.T @ (right - chance))
    return found


def constants(asked: Sequence[tuple[Asked, Rows]]) -> str:
    """Those of a model, fitted on the questions."""
    samples = [sample for each, rows in asked if each.kind != "small talk" for sample in rows]
    return ", ".join(f"{each:.1f}" for each in fit(samples))


def table(name: str, asked: Sequence[Asked], chosen: float) -> Iterator[str]:
    """A row for each floor; the chosen one is marked."""
    yield f"| {name}: floor | shown | right | found | elsewhere | small talk |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for floor in sorted({*FLOORS, chosen}):
        shown = {
            kind: [
                [right for score, right in each.found if score >= floor]
                for each in asked
                if each.kind == kind
            ]
            for kind in ("own", "elsewhere", "small talk")
        }
        right = [one for each in shown["own"] for one in each]
        cells = (
            f"{mean(len(each) for each in shown['own']):.2f}",
            f"{mean(right):.0%}" if right else "-",
            f"{mean(any(each) for each in shown['own']):.0%}",
            *(f"{mean(bool(each) for each in shown[kind]):.1%}" for kind in ("elsewhere", "small talk")),
        )
        mark = "**" if floor == chosen else ""
        yield f"| {mark}{floor}{mark} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fit", action="store_true", help="print the constants of the word model too")
    parser.add_argument("--held", action="store_true", help="ask the questions that were put aside")
    given = parser.parse_args()
    every = list(own.stores(held=given.held))
    embedder = BundledEmbedder()
    words = [each for store in every for each in by_word(store, every)]
    meaning = [each for store in every for each in by_meaning(store, every, embedder)]
    if given.fit:
        print(f"INTERCEPT, PER_COVER, PER_MASS, PER_WORDS = {constants(words)}")
        print(f"MEANING_INTERCEPT, PER_LOGIT, PER_SHARED = {constants(meaning)}\n")
    print("\n".join(table("words", [asked for asked, _ in words], reminding.LIKELY)))
    print(
        "\n".join(
            ("", *table("words and meaning", [asked for asked, _ in meaning], reminding.LIKELY_BY_MEANING))
        )
    )


if __name__ == "__main__":
    main()
