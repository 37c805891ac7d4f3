"""Prints what short-term recall finds of conversations a day later: `python scripts/lab/quality/replay.py DATA ...`.

Each store is replayed as one conversation through the services: at most four messages that were said within ten
minutes become a memory. A day after the last one each question is asked. Told is which share of a question's evidence
is in the memories that came back for their words (two top, one next), of

- the seed: its algorithm read literally, with jieba's own keywords (`seed.py`);
- the product, as it is by default;
- both after 400 questions of the same store whose answers gained score, in the same random order;
- the product after them with `--score-share` (see `--shares`).
"""

import argparse
import dataclasses
import random
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from statistics import mean

sys.path[:0] = [str(Path(__file__).resolve().parents[up]) for up in (1, 3)]

from memory_server.domain.caller import Caller  # noqa: E402
from memory_server.domain.message import Message  # noqa: E402
from memory_server.domain.moment import timestamp  # noqa: E402
from memory_server.domain.short_term import APART, Tier  # noqa: E402
from memory_server.embedding.hashing import HashingEmbedder  # noqa: E402
from memory_server.services.short_term import ShortTermService  # noqa: E402
from quality import data, seed, selection  # noqa: E402
from quality.data import Memory, Question, Store  # noqa: E402
from quality.doors import built  # noqa: E402

START = datetime.fromisoformat("2026-01-01T09:00:00+00:00")
"""When a conversation begins that does not say when."""

BETWEEN = timedelta(minutes=1)
"""Between two messages that do not say when."""

MESSAGES = 4
"""Most messages of a memory: what was said since a client kept the last one."""

LATER = timedelta(days=1)
REWARDED = 400
SHARES = (0.25, 0.1)

CALLER = Caller("replay")


@dataclass(frozen=True, slots=True)
class Said:
    """A memory: its messages, when the last one was said, and the ids of them in the set."""

    messages: tuple[Message, ...]
    at: datetime
    ids: frozenset[str]


@dataclass(frozen=True, slots=True)
class Result:
    """Of one question in one way: the share of its evidence that came back."""

    set: str
    way: str
    found: float


def conversation(store: Store) -> list[Said]:
    """The memories of a store as a client would have kept them: no two messages at the same moment."""
    said: list[Said] = []
    open: list[tuple[Memory, datetime]] = []
    at = START if store.memories[0].time is None else store.memories[0].time - BETWEEN
    for memory in store.memories:
        at = max(memory.time or at, at + BETWEEN)
        if open and (len(open) == MESSAGES or at - open[-1][1] > APART):
            said.append(_said(open))
            open = []
        open.append((memory, at))
    return [*said, _said(open)]


def _said(messages: Sequence[tuple[Memory, datetime]]) -> Said:
    return Said(
        tuple(_message(memory, at) for memory, at in messages),
        messages[-1][1],
        frozenset(memory.id for memory, _ in messages),
    )


def _message(memory: Memory, at: datetime) -> Message:
    """Roles are those that a text begins with; whoever talks to a friend is a user."""
    role, colon, content = memory.text.partition(": ")
    if colon and role in seed.ROLES:
        return Message(role, content, None, timestamp(at))
    return Message("user", memory.text, None, timestamp(at))


class Literal:
    """The seed's algorithm on a conversation."""

    def __init__(self, said: Sequence[Said], now: datetime) -> None:
        self._original = seed.Original()
        self._original.memories = [
            seed.Remembered(seed.keywords(each.messages), 1000 * each.at.timestamp()) for each in said
        ]
        self._places = {id(memory): place for place, memory in enumerate(self._original.memories)}
        self._now = 1000 * now.timestamp()
        self._chance = random.Random(5)

    def answer(self, question: Question) -> list[int]:
        found = self._original.ranked(self._asked(question), self._now)
        return [self._places[id(memory)] for memory in found]

    def reward(self, question: Question) -> None:
        self._original.search(self._asked(question), self._now, self._chance)

    def _asked(self, question: Question) -> seed.Weights:
        return seed.keywords([Message("user", question.text)])


class Product:
    """A conversation kept by the services under a name of its own."""

    def __init__(self, service: ShortTermService, said: Sequence[Said], name: str) -> None:
        self._service = service
        self._name = name
        self._places = {
            service.add(each.messages, name, {}, CALLER).id: place for place, each in enumerate(said)
        }

    def answer(self, question: Question) -> list[int]:
        return self._ask(dataclasses.replace(self._service, count_access=False), question)

    def reward(self, question: Question) -> None:
        self._ask(self._service, question)

    def _ask(self, service: ShortTermService, question: Question) -> list[int]:
        found = service.search([Message("user", question.text)], self._name, {}, caller=Caller())
        return [self._places[each.memory.id] for each in found.memories if each.tier is not Tier.FLASHBACK]


def replayed(store: Store, shares: Sequence[float]) -> Iterator[Result]:
    said = conversation(store)
    now = said[-1].at + LATER
    questions = [each for each in store.questions if each.gold and each.counts]
    chance = random.Random(store.number)
    rewarded = [chance.choice(questions) for _ in range(REWARDED)]

    def results(way: str, replay: Literal | Product) -> Iterator[Result]:
        yield from (Result(store.set, way, _found(question, said, replay)) for question in questions)

    def before_and_after(way: str, after: str, replay: Literal | Product) -> Iterator[Result]:
        yield from results(way, replay)
        for question in rewarded:
            replay.reward(question)
        yield from results(after, replay)

    yield from before_and_after("seed", "seed, rewarded", Literal(said, now))
    with built(HashingEmbedder()) as (services, set_clock):
        set_clock(now)
        plain = services.short_term
        yield from before_and_after("product", "product, rewarded", Product(plain, said, "plain"))
        for share in shares:
            bounded = dataclasses.replace(plain, score_share=share)
            way = f"product, share {share:g}"
            yield from before_and_after(way, f"{way}, rewarded", Product(bounded, said, way))


def _found(question: Question, said: Sequence[Said], replay: Literal | Product) -> float:
    there = {id for place in replay.answer(question) for id in said[place].ids}
    return mean(not piece.isdisjoint(there) for piece in question.gold)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="+", type=Path)
    parser.add_argument("--only", nargs="+", default=[], metavar="SET[:0,1]")
    parser.add_argument("--shares", nargs="*", type=float, default=SHARES)
    given = parser.parse_args()
    every = (store for path in given.data for store in data.read(path))
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for store in selection.only(every, given.only):
        for each in replayed(store, given.shares):
            found[each.way][each.set].append(each.found)
        print(store.set, store.name, f"{time.process_time():.0f} s CPU", file=sys.stderr, flush=True)
    sets = list(next(iter(found.values())))
    print("| way |", " | ".join(f"{name} ({len(found['seed'][name])})" for name in sets), "|")
    print("| --- " * (1 + len(sets)) + "|")
    for way, by_set in found.items():
        print(f"| {way} |", " | ".join(f"{mean(by_set[name]):.3f}" for name in sets), "|")


if __name__ == "__main__":
    main()
