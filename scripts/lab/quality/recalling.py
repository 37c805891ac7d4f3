"""Prints how much evidence `recall` puts into so many tokens: `python scripts/lab/quality/recalling.py DATA ...`.

The memories of each set are split over the kinds by rule: what was said in the last session becomes short-term
memories, what names a date becomes turns, what says what something is becomes facts, the rest memories. Compared with

- one kind: `memory_search` where all of it is memories, hits in the form of its answer, in the same tokens;
- apart: each kind searched for itself, with a fourth of the tokens each, lines in the form of `recall`.

A row of its own has the questions that ask for several things. A question that counts as never answered gets nothing.

Tokens are those of o200k. Also told: the largest share of the limit that an answer took, and how many answers had an
item twice.
"""

import argparse
import dataclasses
import importlib
import json
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path
from statistics import mean
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parents[up]) for up in (1, 3)]

from memory_server import app  # noqa: E402
from memory_server.domain import recall  # noqa: E402
from memory_server.domain.caller import Caller  # noqa: E402
from memory_server.domain.fact import FactDraft, Scope  # noqa: E402
from memory_server.domain.memory import Filter  # noqa: E402
from memory_server.domain.message import Message  # noqa: E402
from memory_server.domain.moment import timestamp  # noqa: E402
from memory_server.domain.project import DEFAULT_CONVERSATION  # noqa: E402
from memory_server.domain.recall import Found, Recallable  # noqa: E402
from memory_server.domain.turn import TurnDraft  # noqa: E402
from memory_server.embedding.bundled import BundledEmbedder  # noqa: E402
from memory_server.language import dates  # noqa: E402
from memory_server.language import question as language  # noqa: E402
from memory_server.language.text import fold  # noqa: E402
from memory_server.mcp.tools.memories import RESULT, results_of  # noqa: E402
from memory_server.mcp.tools.recall import RECALLED  # noqa: E402
from memory_server.project import Project  # noqa: E402
from memory_server.services.recall import Recalled, RecallService, RecallWish  # noqa: E402
from quality import data, own, selection  # noqa: E402
from quality.data import Memory, Question, Store  # noqa: E402
from quality.doors import LATER, LONGEST_QUESTION, ServicesDoor, built, names_of, stored, unmerged  # noqa: E402
from quality.vectors import RememberedEmbedder  # noqa: E402

TOKENS = (400, 800, 1200, 2400)

CALLER = Caller("evaluate", "now", Project("", ""))

_SAYS_WHAT = re.compile(r"\b(?:is|are|was|name|works?|lives?|likes?|prefers?)\b|[是叫住]|喜欢", re.IGNORECASE)
_SHORT = 90
"""Characters of a memory that says what something is."""

_BPE: Any = importlib.import_module("bpe_openai").get_encoding("o200k_base")


@dataclass(frozen=True, slots=True)
class Result:
    """Of one question in one way: which share of its evidence so many tokens hold."""

    set: str
    way: str
    found: dict[int, float]
    several: bool
    filled: float = 0.0
    twice: bool = False


def _json(answer: dict[str, Any]) -> str:
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))


def _tokens(text: str) -> int:
    return len(_BPE.encode(text))


def kinds_of(store: Store) -> list[Recallable]:
    """The kind of each memory of a set."""
    sessions = [memory.session for memory in store.memories if memory.session]
    last = sessions[-1] if len(set(sessions)) > 1 else None
    return [_kind(memory, last) for memory in store.memories]


def _kind(memory: Memory, last: str | None) -> Recallable:
    if last is not None and memory.session == last:
        return Recallable.SHORT_TERM
    if dates.named(fold(memory.text), (memory.time or datetime.now(UTC)).date()):
        return Recallable.TURN
    if len(memory.text) <= _SHORT and _SAYS_WHAT.search(memory.text):
        return Recallable.FACT
    return Recallable.MEMORY


def fill(services: app.Services, set_clock: Callable[[datetime], None], store: Store) -> dict[str, str]:
    """Store all of it; the memory of the set for each handle."""
    memories = unmerged(services.memories)
    handles: dict[str, str] = {}
    now = datetime.now(UTC)
    for number, (memory, kind) in enumerate(zip(store.memories, kinds_of(store), strict=True)):
        now = memory.time or now
        set_clock(now)
        moment = timestamp(memory.time) if memory.time else None
        text = memory.text[:20_000]
        match kind:
            case Recallable.MEMORY:
                handles[f"m{stored(memories, memory).memory.id}"] = memory.id
            case Recallable.TURN:
                turn = TurnDraft(text, text[:2_000], moment, memory.session)
                handles[f"t{services.turns.register(turn, {}, CALLER)}"] = memory.id
            case Recallable.FACT:
                key = f"noted.{number}"
                services.facts.write(FactDraft(key, text), Scope.PROJECT, CALLER)
                handles[f"f {key}"] = memory.id
            case _:
                said = [Message("user", text, None, moment)]
                caller = dataclasses.replace(CALLER, session=memory.session)
                added = services.short_term.add(said, DEFAULT_CONVERSATION, {}, caller)
                handles[f"s{added.id}"] = memory.id
    set_clock(max((each.time for each in store.memories if each.time), default=now) + LATER)
    services.queue.warm_up()
    services.queue.drain()
    return handles


def recalled(store: Store, embedder: RememberedEmbedder) -> Iterator[Result]:
    with built(embedder) as (services, set_clock):
        handles = fill(services, set_clock, store)
        service = services.recall
        for question in store.questions:
            if question.gold and question.counts:
                if question.asked_at:
                    set_clock(question.asked_at)
                yield _whole(store, question, service, handles)
                yield _apart(store, question, service, handles)


def _whole(store: Store, question: Question, service: RecallService, handles: dict[str, str]) -> Result:
    found, filled, twice = {}, 0.0, False
    everything = _find(service, question, frozenset(Recallable))
    for limit in TOKENS:
        answer = recall.compose(question.text, [], everything, limit)
        said = _json(RECALLED.of(Recalled(answer, (), None, ())))
        refs = [item.ref for item in answer.items]
        found[limit] = _share(question, [handles[ref] for ref in refs])
        filled = max(filled, _tokens(said) / limit)
        twice = twice or len(set(refs)) < len(refs)
    return Result(store.set, "recall", found, _asks_for_several(question), filled, twice)


def _apart(store: Store, question: Question, service: RecallService, handles: dict[str, str]) -> Result:
    kinds = (Recallable.MEMORY, Recallable.TURN, Recallable.FACT, Recallable.SHORT_TERM)
    each_kind = [_find(service, question, frozenset([kind])) for kind in kinds]
    found = {}
    for limit in TOKENS:
        answers = [recall.compose(question.text, [], each, limit // len(kinds)) for each in each_kind]
        found[limit] = _share(question, [handles[item.ref] for each in answers for item in each.items])
    return Result(store.set, "apart", found, _asks_for_several(question))


def _find(service: RecallService, question: Question, kinds: frozenset[Recallable]) -> list[Found]:
    """Return what an answer is made of: nothing where the question counts as never answered."""
    hits = service.find(question.text[:LONGEST_QUESTION], RecallWish(kinds), CALLER)
    return hits.hits if hits.answered else []


def searched(store: Store, embedder: RememberedEmbedder) -> Iterator[Result]:
    """Everything as memories, found by `memory_search`."""
    with built(embedder) as (services, set_clock):
        door = ServicesDoor(services, set_clock)
        names = names_of(store, door.store(store.memories))
        search = dataclasses.replace(services.search, count_access=False)
        for question in store.questions:
            if not question.gold or not question.counts:
                continue
            if question.asked_at:
                set_clock(question.asked_at)
            hits = results_of(
                search.search(question.text[:LONGEST_QUESTION], Filter(), 50, "hybrid", caller=Caller()), True
            ).results
            costs = list(accumulate((_tokens(_json(RESULT.of(hit))) + 1 for hit in hits), initial=15))[1:]
            found = {}
            for limit in TOKENS:
                ids = [hit.hit.memory.id for hit, cost in zip(hits, costs, strict=True) if cost <= limit]
                found[limit] = _share(question, [name for id in ids for name in names[id]])
            yield Result(store.set, "one kind", found, _asks_for_several(question))


def _asks_for_several(question: Question) -> bool:
    asked = language.read(question.text)
    return bool(asked.parts or asked.adds_up or asked.lists)


def _share(question: Question, ids: Iterable[str]) -> float:
    there = set(ids)
    return sum(not piece.isdisjoint(there) for piece in question.gold) / len(question.gold)


def _print(results: Sequence[Result]) -> None:
    ways: dict[tuple[str, str], list[Result]] = defaultdict(list)
    for each in results:
        ways[each.set, each.way].append(each)
        if each.several:
            ways[each.set, f"{each.way}, several asked for"].append(each)
    print(f"| set | way | questions | {' | '.join(map(str, TOKENS))} | fullest | twice |")
    print("| --- " * (5 + len(TOKENS)) + "|")
    for (name, way), group in ways.items():
        shares = " | ".join(f"{mean(each.found[limit] for each in group):.3f}" for limit in TOKENS)
        fullest = max(each.filled for each in group)
        print(
            f"| {name} | {way} | {len(group)} | {shares} | {fullest:.2f} | {sum(each.twice for each in group)} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="*", type=Path)
    parser.add_argument("--only", nargs="+", default=[], metavar="SET[:0,1]")
    parser.add_argument("--vectors", type=Path, metavar="FILE")
    given = parser.parse_args()
    embedder = RememberedEmbedder(BundledEmbedder(), given.vectors)
    every = [*(store for path in given.data for store in data.read(path)), *own.stores(held=False)]
    results: list[Result] = []
    for store in selection.only(every, given.only):
        results += [*searched(store, embedder), *recalled(store, embedder)]
        print(store.set, store.name, file=sys.stderr, flush=True)
        embedder.save()
    _print(results)


if __name__ == "__main__":
    main()
