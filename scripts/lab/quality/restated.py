"""Prints what storing says of notes that come again: `python scripts/lab/quality/restated.py [--held] [--fit] [FILE]`.

`pairs.jsonl` has pairs of notes: an update of the old one, a restatement of it, or one to be kept apart; in English,
Chinese and both. They were written from meaning alone, before the rules. `pairs_more.jsonl` are by the author of the
rules; in `pairs_tempting.jsonl` most pairs to be kept apart look like updates, and most updates have no word that says
so. `pairs_others.jsonl` are by seven authors who knew neither the rules nor the other pairs; `pairs_german.jsonl` are
in German, or contradict. These fit the models of memory_server/domain/updates.py. `pairs_held.jsonl` are by one more
such author: nothing was chosen by them. `pairs_home.jsonl` has all kinds of pairs of everyday life in four languages
(the last is a mixture), written before the rules about German and about other languages.

All old notes of an author are stored in one store, through the services and with the bundled embedder. Then each new
note is stored and taken away again.

A file of one's own may have pairs of several kinds (`trivial`, `contradiction`), and of facts and turns (`old_kind`,
`new_kind`). Then all is stored twice: with the model at hand, and before it is there, so that it is compared later.
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

sys.path[:0] = [str(Path(__file__).resolve().parents[up]) for up in (1, 3)]

from memory_server import app  # noqa: E402
from memory_server.domain import updates  # noqa: E402
from memory_server.domain.caller import Caller  # noqa: E402
from memory_server.domain.consolidation import Text  # noqa: E402
from memory_server.domain.fact import FactDraft, Scope  # noqa: E402
from memory_server.domain.memory import MemoryChange, MemoryDraft, MemoryId, MemoryType, Stored  # noqa: E402
from memory_server.domain.notice import handle  # noqa: E402
from memory_server.domain.relevance import Numbers  # noqa: E402
from memory_server.domain.turn import TurnDraft  # noqa: E402
from memory_server.domain.wording import names_another  # noqa: E402
from memory_server.project import Project  # noqa: E402
from memory_server.services.embedding_queue import EmbeddingQueue  # noqa: E402
from memory_server.services.facts import WrittenFact  # noqa: E402
from memory_server.services.memories import MemoryService  # noqa: E402
from memory_server.settings import Settings  # noqa: E402

FOLDER = Path(__file__).parent
COEFFICIENTS = FOLDER.parents[2] / "memory_server/domain/updates.json"
CALLER = Caller("restated")
BESIDE = Caller("restated", "s", Project("p", "p"))
CHANGED = ("update", "contradiction")
KINDS = ("trivial", "restatement", "update", "contradiction", "apart")

FITTED = (
    "pairs.jsonl",
    "pairs_more.jsonl",
    "pairs_tempting.jsonl",
    "pairs_others.jsonl",
    "pairs_german.jsonl",
)
HELD = "pairs_held.jsonl"

RIDGE = 10.0
"""Of the squared coefficients of standardized inputs."""

RIDGE_OF_VECTORS = 300.0
"""The same for the dimensions of the vectors, which are many."""

ALONE = 0.67
"""What each vector alone counts beside the difference of the two, which tells more."""


@dataclass(frozen=True, slots=True)
class Pair:
    id: str
    lang: str
    kind: str
    type: MemoryType
    old: Any
    new: Any
    old_kind: str = "memory"
    new_kind: str = "memory"


@dataclass(frozen=True, slots=True)
class Answer:
    """What storing the new note of a pair answered; `old` is the memory of its old note, with its `content`."""

    pair: Pair
    old: MemoryId
    content: str
    stored: Stored
    asked: list[updates.TextPair]

    @property
    def merged(self) -> bool:
        return self.stored.consolidated and self.stored.memory.id == self.old

    @property
    def merged_elsewhere(self) -> bool:
        return self.stored.consolidated and self.stored.memory.id != self.old

    @property
    def named(self) -> bool:
        return self.old in [each.memory.id for each in self.stored.similar]

    @property
    def replaces(self) -> bool:
        """The old memory is named as what the new note may replace, or a part of it."""
        return self.old in self.stored.maybe_supersedes or any(
            similar.part for similar in self.stored.similar if similar.memory.id == self.old
        )


def read(name: str | Path) -> list[Pair]:
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    return [Pair(**{**each, "type": MemoryType(each["type"])}) for each in found]


def answers(pairs: Sequence[Pair]) -> list[Answer]:
    """Each new note beside all old ones."""
    with _opened() as service, _recorded() as asked:
        olds = [_stored(service, pair, pair.old).memory.id for pair in pairs]
        contents = {each.memory.id: each.memory.content for each in service.get(olds).memories}
        found = []
        for pair, old in zip(pairs, olds, strict=True):
            asked.clear()
            stored = _stored(service, pair, pair.new)
            found.append(Answer(pair, old, contents[old], stored, list(asked)))
            if stored.consolidated:
                service.update(
                    stored.memory.id, MemoryChange(content=contents[stored.memory.id]), caller=Caller()
                )
            else:
                service.forget(stored.memory.id, True, CALLER)
    return found


def _stored(service: MemoryService, pair: Pair, text: str) -> Stored:
    return service.store(MemoryDraft(text, pair.type, "p"), None, CALLER)


@contextmanager
def _opened() -> Iterator[MemoryService]:
    with _opened_all() as services:
        yield services.memories


@contextmanager
def _opened_all() -> Iterator[app.Services]:
    with TemporaryDirectory(prefix="memory-server-restated-") as folder:
        services = app.build(Settings(db=Path(folder) / "memory.db", embedder="bundled", allow_secrets=True))
        try:
            services.queue.work()
            yield services
        finally:
            services.close(-1)


@contextmanager
def _recorded() -> Iterator[list[updates.TextPair]]:
    """What the model is asked, while it goes on answering."""
    found: list[updates.TextPair] = []
    answer = updates.probability

    def recorded(pair: updates.TextPair) -> float:
        found.append(pair)
        return answer(pair)

    with patch.object(updates, "probability", recorded):
        yield found


# Pairs of all kinds


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an assistant was told of the old thing of a pair when it stored the new one, or later."""

    pair: Pair
    merged: bool
    merged_elsewhere: bool
    named: bool
    replaces: bool


def outcomes(pairs: Sequence[Pair], warm: bool) -> list[Outcome]:
    """Each new thing beside all old ones."""
    with _opened_all() as services:
        olds = [_put(services, pair.old_kind, pair.old, pair.type) for pair in pairs]
        services.queue.drain()
        services.late.compare()
        services.late.take(BESIDE)
        return [_outcome(services, pair, old, warm) for pair, old in zip(pairs, olds, strict=True)]


def _outcome(services: app.Services, pair: Pair, old: Stored | WrittenFact | int, warm: bool) -> Outcome:
    own = _handle(old)
    before = old.memory.content if isinstance(old, Stored) else ""
    with nullcontext() if warm else patch.object(EmbeddingQueue, "embed_now", lambda *_: None):
        new = _put(services, pair.new_kind, pair.new, pair.type)
    assert not isinstance(new, int)
    similar, maybe_supersedes = (
        ((), ()) if isinstance(new, WrittenFact) else (new.similar, new.maybe_supersedes)
    )
    named, replaced = {handle(each.memory.id) for each in similar}, set(map(handle, maybe_supersedes))
    services.queue.drain()
    services.late.compare()
    for notice in services.late.take(BESIDE):
        named.add(notice.old)
        replaced |= {notice.old} if notice.replaces else set()
    merged = isinstance(new, Stored) and new.consolidated
    outcome = Outcome(
        pair,
        merged and _handle(new) == own,
        merged and _handle(new) != own,
        own in named,
        own in replaced,
    )
    if isinstance(new, WrittenFact):
        services.facts.delete(new.fact.key, Scope.PROJECT, BESIDE)
    elif merged:
        services.memories.update(new.memory.id, MemoryChange(content=before or pair.old), BESIDE)
    else:
        services.memories.forget(new.memory.id, True, BESIDE)
    return outcome


def _put(services: app.Services, kind: str, thing: Any, type: MemoryType) -> Stored | WrittenFact | int:
    match kind:
        case "fact":
            return services.facts.write(FactDraft(thing["key"], thing["value"]), Scope.PROJECT, BESIDE)
        case "turn":
            return services.turns.register(TurnDraft(thing, thing), {}, BESIDE)
        case _:
            return services.memories.store(MemoryDraft(thing, type, "p"), None, BESIDE)


def _handle(thing: Stored | WrittenFact | int) -> str:
    match thing:
        case Stored():
            return f"m{thing.memory.id}"
        case WrittenFact():
            return f"f {thing.fact.key}"
        case _:
            return f"t{thing}"


def summary(found: Sequence[Outcome]) -> Iterator[str]:
    kinds = {kind: [each for each in found if each.pair.kind == kind] for kind in KINDS}
    restated = [*kinds["trivial"], *kinds["restatement"]]
    yield f"restatements merged or named: {_share([each.merged or each.named for each in restated])}"
    yield f"trivial ones merged: {_share([each.merged for each in kinds['trivial']])}"
    for kind in ("update", "contradiction"):
        yield f"{kind}s named: {_share([each.named for each in kinds[kind]])}"
        yield f"{kind}s in maybe_supersedes: {_share([each.replaces for each in kinds[kind]])}"
        mixed = [each.named for each in kinds[kind] if {each.pair.old_kind, each.pair.new_kind} != {"memory"}]
        if mixed:
            yield f"{kind}s named where one is a fact or a turn: {_share(mixed)}"
    yield f"pairs apart in maybe_supersedes: {_share([each.replaces for each in kinds['apart']])}"
    wrong = [each.merged for each in found if each.pair.kind not in ("trivial", "restatement")]
    elsewhere = sum(each.merged_elsewhere for each in found)
    yield f"false merges: {sum(wrong)} of {len(wrong)}, with another pair {elsewhere}"


# The figures


def table(found: Sequence[Answer]) -> Iterator[str]:
    yield "| | pairs | merged | named | maybe_supersedes | another one in it | merged with another | similar, mean |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for kind in ("restatement", "update", "apart"):
        for lang in ("en", "zh", "mixed", ""):
            these = [each for each in found if each.pair.kind == kind and lang in ("", each.pair.lang)]
            if these:
                yield f"| {kind} {lang} | {len(these)} | {' | '.join(_figures(these))} |"


def _figures(found: Sequence[Answer]) -> list[str]:
    shares = [
        [each.merged for each in found],
        [each.named for each in found],
        [each.replaces for each in found],
        [bool(set(each.stored.maybe_supersedes) - {each.old}) for each in found],
        [each.merged_elsewhere for each in found],
    ]
    counts = [len(each.stored.similar) for each in found]
    return [f"{100 * float(np.mean(share)):.1f} %" for share in shares] + [f"{float(np.mean(counts)):.2f}"]


def verdict(found: Sequence[Answer]) -> Iterator[str]:
    """The figures that the product is judged by."""
    kinds = {
        kind: [each for each in found if each.pair.kind == kind]
        for kind in ("restatement", "update", "apart")
    }
    others = [*kinds["restatement"], *kinds["apart"]]
    yield f"restatements merged or named: {_share([each.merged or each.named for each in kinds['restatement']])}"
    yield f"updates named: {_share([each.named for each in kinds['update']])}"
    yield f"maybe_supersedes right for updates: {_share([each.replaces for each in kinds['update']])}"
    given = [bool(each.stored.maybe_supersedes) or each.replaces for each in others]
    yield f"maybe_supersedes given for others: {_share(given)}"
    wrong = [each.stored.consolidated for each in (*kinds["update"], *kinds["apart"])]
    yield f"updates and pairs apart that were merged: {sum(wrong)} of {len(wrong)}"


def _author(pair: Pair) -> str:
    """Who wrote a pair, told by its id: m-017."""
    start = pair.id.partition("-")[0]
    return start if len(start) == 2 or start in "mt" else "pairs"


def _by_author(names: Sequence[str]) -> list[list[Pair]]:
    """A store each: a project has hundreds of memories, seldom thousands."""
    found: dict[str, list[Pair]] = defaultdict(list)
    for pair in (pair for name in names for pair in read(name)):
        found[_author(pair)].append(pair)
    return list(found.values())


def _share(claims: Sequence[bool]) -> str:
    return f"{100 * float(np.mean(claims)):.1f} % of {len(claims)}"


# The model


def fit(found: Sequence[Answer]) -> dict[str, Any]:
    """The coefficients of each model; prints how well it does for authors that it has not seen."""
    models = {}
    for model in ("hybrid", "across", "words"):
        samples = _samples(found, model)
        _cross_check(model, samples, found)
        intercept, weights, own = _fitted(samples)
        names = ["", *samples.names]
        models[model] = {
            "inputs": {
                name: round(float(weight), 3)
                for name, weight in zip(names, [intercept, *weights], strict=True)
            }
        }
        if own.size:
            turn, old, new = own.reshape(3, -1)
            models[model]["old"] = np.round(ALONE * old - turn, 3).tolist()
            models[model]["new"] = np.round(ALONE * new + turn, 3).tolist()
    return models


@dataclass(frozen=True, slots=True)
class Samples:
    """A row for each call of the model: its inputs, the vectors, whether it was an update, the place of its pair."""

    names: list[str]
    rows: Numbers
    vectors: Numbers
    right: Numbers
    groups: Numbers

    def of(self, chosen: NDArray[np.bool_]) -> "Samples":
        return Samples(
            self.names, self.rows[chosen], self.vectors[chosen], self.right[chosen], self.groups[chosen]
        )


def _samples(found: Sequence[Answer], model: str) -> Samples:
    blind = model == "words"
    inputs, vectors, right, groups = [], [], [], []
    for number, answer in enumerate(found):
        for each in answer.asked:
            if names_another(each.old, each.new) or each.vectors is None:  # such a pair is never asked about
                continue
            if not blind and each.model != model:
                continue
            inputs.append(updates.inputs(replace(each, cosine=None) if blind else each))
            old, new = each.vectors
            vectors.append(np.zeros(0) if blind else np.hstack([new - old, ALONE * old, ALONE * new]))
            right.append(answer.pair.kind in CHANGED and each.old.plain == _plain(answer.content))
            groups.append(number)
    names = list(inputs[0])
    rows = np.array([[each[name] for name in names] for each in inputs])
    return Samples(names, rows, np.array(vectors, float), np.array(right, float), np.array(groups, float))


def _plain(text: str) -> str:
    return Text(text, lambda run: [run]).plain


def _fitted(samples: Samples) -> tuple[float, Numbers, Numbers]:
    """A logistic model by Newton's method: the intercept, the weights of the inputs and those of the vectors."""
    middle, spread = samples.rows.mean(axis=0), samples.rows.std(axis=0) + 1e-6
    scale = samples.vectors.std() + 1e-9 if samples.vectors.size else 1.0
    number, dimensions = samples.rows.shape[1], samples.vectors.shape[1]
    given = np.hstack(
        [np.ones((len(samples.rows), 1)), (samples.rows - middle) / spread, samples.vectors / scale]
    )
    ridge = np.diag([1e-6, *[RIDGE] * number, *[RIDGE_OF_VECTORS] * dimensions])
    found = np.zeros(given.shape[1])
    for _ in range(15):
        chance = 1 / (1 + np.exp(-given @ found))
        curve = (given.T * (chance * (1 - chance))) @ given + ridge
        found = found + np.linalg.solve(curve, given.T @ (samples.right - chance) - ridge @ found)
    weights = found[1 : 1 + number] / spread
    return float(found[0] - weights @ middle), weights, found[1 + number :] / scale


def _cross_check(model: str, samples: Samples, found: Sequence[Answer]) -> None:
    """How many updates are named and how many others, where each author is judged by a model of the others' pairs."""
    authors = np.array([_author(found[int(group)].pair) for group in samples.groups])
    for author in sorted(set(authors)):
        intercept, weights, own = _fitted(samples.of(authors != author))
        there = samples.of(authors == author)
        chances = 1 / (1 + np.exp(-intercept - there.rows @ weights - there.vectors @ own))
        best: dict[int, tuple[float, bool]] = defaultdict(lambda: (0.0, False))
        for group, chance, is_right in zip(
            there.groups.astype(int).tolist(), chances.tolist(), there.right.tolist(), strict=True
        ):
            best[group] = max(best[group], (chance, bool(is_right)))
        these = [number for number, each in enumerate(found) if _author(each.pair) == author]
        updated = [number for number in these if found[number].pair.kind in CHANGED]
        for least in (0.4, 0.5, 0.6, 0.7):
            named = [best[number][1] and best[number][0] >= least for number in updated]
            wrong = [best[number][0] >= least for number in these if number not in updated]
            print(f"{model}, {author}, at {least}: right {_share(named)}, for others {_share(wrong)}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--held", action="store_true", help="the pairs by which nothing was chosen")
    parser.add_argument("--fit", action="store_true", help="fit the model anew and write its coefficients")
    parser.add_argument("--verbose", action="store_true", help="the pairs that were not answered as wished")
    parser.add_argument("file", nargs="?", type=Path, help="pairs of one's own, of all kinds")
    given = parser.parse_args()
    if given.file:
        for warm in (True, False):
            results = outcomes(read(given.file.resolve()), warm)
            print("Compared when it is stored" if warm else "Compared later", *summary(results), "", sep="\n")
            if given.verbose:
                print(*_unnamed(results), "", sep="\n")
        return
    if given.fit:
        coefficients = fit([answer for pairs in _by_author(FITTED) for answer in answers(pairs)])
        COEFFICIENTS.write_text(json.dumps(coefficients, indent=1) + "\n", encoding="utf-8")
        return
    found = answers(read(HELD if given.held else FITTED[0]))
    print(*table(found), "", *verdict(found), sep="\n")
    if given.verbose:
        print(*_unwished(found), sep="\n")


def _unnamed(found: Sequence[Outcome]) -> Iterator[str]:
    for each in found:
        pair = each.pair
        if each.replaces if pair.kind == "apart" else not (each.merged or each.named):
            yield f"{pair.id} {pair.kind} {pair.old_kind} {pair.new_kind}: {pair.old} => {pair.new}"


def _unwished(found: Sequence[Answer]) -> Iterator[str]:
    for each in found:
        replaces = bool(each.stored.maybe_supersedes)
        if each.pair.kind == "update" and not each.replaces:
            yield f"{each.pair.id}: {'not right' if replaces else 'missed'}: {each.pair.old} => {each.pair.new}"
        elif each.pair.kind != "update" and replaces:
            yield f"{each.pair.id}: named: {each.pair.old} => {each.pair.new}"


if __name__ == "__main__":
    main()
