"""Does the product keep what people tell, and nothing else?

    python scripts/lab/quality/lasting.py          judges the prompts of each stranger by what is fitted without them
    python scripts/lab/quality/lasting.py --fit    fits the model of the package on all prompts, and writes it
    python scripts/lab/quality/lasting.py --judge FILE…    judges the model of the package on other prompts

`prompts_labelled/*.txt` has a prompt a line, in English, Chinese and German, of more than 30 walks of life; what is to
be kept of it stands in braces, and ⏎ ends a line of it. Each other*.txt is of one stranger. A
FILE has `{"text": …, "keep": […]}` a line: the prompt, and what is to be kept of it. `keep` may be true for all, false
for nothing; instead of it `keep_text` may be one text, or empty.
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(ROOT)]

from memory_server.language import lasting, lasting_states, told  # noqa: E402
from memory_server.language.lasting import Statement  # noqa: E402
from memory_server.language.lasting_states import Network  # noqa: E402
from memory_server.services import judging  # noqa: E402
from quality import units  # noqa: E402
from quality.logistic import Flags, Numbers, solve  # noqa: E402

if TYPE_CHECKING:
    from memory_server.embedding.bundled import BundledEmbedder

Labelled = tuple[Statement, bool]
"""A statement; true if something of it is to be kept."""

PROMPTS = Path(__file__).with_name("prompts_labelled")
TARGET = ROOT / "memory_server" / "language" / "lasting.json"
STATES_TARGET = TARGET.with_name(lasting_states.FILE)
SPAN = re.compile(r"\{([^{}]*)\}")

COMMON = 5
"""Sentences that have a word, from which on a frame names it."""

LEAST = 2
"""Sentences that have a feature, from which on it has a weight."""

PENALTY = 4.0
"""On the squares of the weights."""

PENALTY_AROUND = 6.0
"""The same of what stands around a sentence."""

AROUND = ("near:", "place ", "room ")

SPREAD = 0.25
"""Of the states, as the network reads them when it is fitted."""

SHARE = 0.5
"""The same of the logit by words."""

FOLDS = 4

NONE: frozenset[str] = frozenset()

FAINT = 0.03
"""A weight below it is left out."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """`stranger` is the file of one who has not seen the code, or empty."""

    text: str
    kept: tuple[str, ...]
    stranger: str = ""


def prompts() -> list[Prompt]:
    files = [(path.stem, path.read_text("utf-8").splitlines()) for path in sorted(PROMPTS.glob("*.txt"))]
    labelled = [
        read(line, name)
        for name, lines in files
        for line in lines
        if line.strip() and not line.startswith("## ")
    ]
    return [*labelled, *of_tests("spoken"), *of_tests("stated")]


def of_tests(name: str) -> list[Prompt]:
    """The prompts of a set of tests/language."""
    lines = (ROOT / "tests" / "language" / f"{name}.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [
        Prompt(
            row["said"],
            (row["said"],) if row["states"] is True else (*row.get("facts", ()), *(row["states"] or ())),
        )
        for row in rows
    ]


def of_file(path: Path) -> list[Prompt]:
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    return [Prompt(row["text"], _kept(row)) for row in rows]


def _kept(row: dict[str, Any]) -> tuple[str, ...]:
    match row.get("keep", row.get("keep_text")):
        case str(text) if text:
            return (text,)
        case list(texts):
            return tuple(texts)
        case wanted:
            return (row["text"],) if wanted else ()


def read(line: str, name: str) -> Prompt:
    text = line.replace("⏎", "\n")
    return Prompt(SPAN.sub(r"\1", text), tuple(SPAN.findall(text)), name if name.startswith("other") else "")


def labelled(prompts: Sequence[Prompt]) -> list[Labelled]:
    """The statements of prompts as the product cuts them; true for those of which something is to be kept."""
    return [
        (statement, any(_overlap(statement.text, span) for span in prompt.kept))
        for prompt in prompts
        for statement in told.spoken(prompt.text)
    ]


def _overlap(sentence: str, span: str) -> bool:
    return span in sentence or sentence in span or sentence.rstrip(".。") in span


def fit(rows: Sequence[Labelled], states: Numbers) -> tuple[lasting.Model, Network]:
    """Fit the model by words, then the network that adds the states of the embedder to it."""
    wanted = np.array([is_kept for _, is_kept in rows], np.float64)
    statements = [statement for statement, _ in rows]
    folds = np.array([_fold(statement) for statement in statements])
    unseen = np.zeros(len(statements))
    for fold in range(FOLDS):
        known = [statements[row] for row in np.flatnonzero(folds != fold)]
        part = lasting.Model(*fit_words(known, wanted[folds != fold]))
        unseen[folds == fold] = [part.logit(statements[row]) for row in np.flatnonzero(folds == fold)]
    return lasting.Model(*fit_words(statements, wanted)), fit_states(unseen, states, wanted)


def _fold(statement: Statement) -> int:
    """The part of the prompts to which that of a statement belongs."""
    prompt = statement.before + statement.text + statement.behind
    return sha256(prompt.encode()).digest()[0] % FOLDS


def fit_states(by_words: Numbers, states: Numbers, wanted: Numbers) -> Network:
    """`by_words` are logits of a model that has not seen the sentence."""
    middle, spread = states.mean(axis=0), (states.std(axis=0) + 1e-6) / SPREAD
    heard = np.clip(by_words, -lasting_states.MOST, lasting_states.MOST)[:, None] * SHARE
    rows = np.hstack([(states - middle) / spread, heard]).astype(np.float32)
    into, biases, out, bias, direct = units.fit(rows, wanted.astype(np.float32))
    weights = np.column_stack([into, direct]).astype(np.float64)
    weights[:-1] /= spread[:, None]
    weights[-1] *= SHARE
    last = np.append(biases, bias) - middle @ weights[:-1]
    return Network(np.vstack([weights, last]).astype(np.float32), out)


def fit_words(
    statements: Sequence[Statement], wanted: Numbers
) -> tuple[float, frozenset[str], dict[str, float]]:
    held = Counter(
        word for statement in statements for word in set(lasting.features(Statement(statement.text), NONE))
    )
    common = frozenset(
        word for word, count in held.items() if count >= COMMON and word.replace("'", "").isalpha()
    )
    rows = [set(lasting.features(statement, common)) for statement in statements]
    counts = Counter(feature for row in rows for feature in row)
    names = sorted(feature for feature, count in counts.items() if count >= LEAST)
    places = {name: place for place, name in enumerate(names)}
    flags = Flags([[places[feature] for feature in row if feature in places] for row in rows], len(names))
    penalties = np.array([PENALTY_AROUND if name.startswith(AROUND) else PENALTY for name in names])
    weights, bias = solve(flags, wanted, penalties)
    worth = {name: float(weight) for name, weight in zip(names, weights, strict=True) if abs(weight) >= FAINT}
    return bias, common, worth


def write(model: lasting.Model, network: Network) -> None:
    content = {
        "bias": round(model.bias, 3),
        "common": " ".join(sorted(model.common)),
        "words": {name: round(weight * lasting.SCALE) for name, weight in sorted(model.words.items())},
    }
    TARGET.write_text(json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
    weights = np.vstack([network.inputs, np.append(network.units, 0)])
    np.save(STATES_TARGET, weights.astype(np.float16))


@cache
def embedder() -> "BundledEmbedder":
    from memory_server.embedding.bundled import BundledEmbedder

    return BundledEmbedder(reads_tokens=False)


def states(rows: Sequence[Labelled]) -> Numbers:
    return np.asarray(embedder().read_states([statement.text for statement, _ in rows]), np.float64)


def judge_of(model: lasting.Model, network: Network) -> told.Judge:
    """Return what judges as the product does: by words, and where these make it likely by the states too."""

    def judge(statements: Sequence[Statement]) -> list[float]:
        probabilities = [model.by_words(statement) for statement in statements]
        likely = [number for number, chance in enumerate(probabilities) if chance >= judging.LEAST]
        if likely:
            judged = [statements[number] for number in likely]
            read = embedder().read_states([statement.text for statement in judged])
            for number, chance in zip(
                likely, lasting_states.judge(judged, read, model, network), strict=True
            ):
                probabilities[number] = chance
        return probabilities

    return judge


def keep(prompts: Sequence[Prompt], judge: told.Judge) -> list[list[str]]:
    return [
        [statement.text for statement in told.told(prompt.text, judge) if statement.sure]
        for prompt in prompts
    ]


def of_package(prompts: Sequence[Prompt]) -> str:
    """Judge prompts by the model of the package."""
    return report(prompts, keep(prompts, judge_of(lasting.model(), lasting_states.of_package())))


def report(prompts: Sequence[Prompt], kept: Sequence[Sequence[str]]) -> str:
    """Compare what is kept of each prompt with its labels."""
    spans = [(span, texts) for prompt, texts in zip(prompts, kept, strict=True) for span in prompt.kept]
    pairs = [(text, prompt) for prompt, texts in zip(prompts, kept, strict=True) for text in texts]
    wrong = [text for text, prompt in pairs if not any(_overlap(text, span) for span in prompt.kept)]
    heard = [(span, texts) for span, texts in spans if any(_overlap(text, span) for text in texts)]
    whole = sum(any(_plain(told.content(span)) in _plain(text) for text in texts) for span, texts in heard)
    silent = [texts for prompt, texts in zip(prompts, kept, strict=True) if not prompt.kept]
    return (
        f"{len(prompts)} prompts, {len(spans)} to keep: recall {len(heard) / max(1, len(spans)):.3f}, "
        f"precision {1 - len(wrong) / max(1, len(pairs)):.3f}, whole {whole / max(1, len(heard)):.3f}; "
        f"of {len(silent)} prompts that tell nothing, something is kept of {sum(map(bool, silent))}\n"
        + "".join(f"  wrong: {text}\n" for text in wrong)
    )


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fit", action="store_true", help="fit the model on all prompts and write it")
    parser.add_argument(
        "--judge", nargs="+", type=Path, metavar="FILE", help="judge the model of the package"
    )
    arguments = parser.parse_args()
    for path in arguments.judge or ():
        print(f"{path.name}: {of_package(of_file(path))}")
    if arguments.judge:
        return
    everything = prompts()
    if arguments.fit:
        rows = labelled(everything)
        write(*fit(rows, states(rows)))
        return
    judge_strangers(everything)


def judge_strangers(everything: Sequence[Prompt]) -> None:
    """Judge the prompts of each stranger by what is fitted on all others."""
    strangers = sorted({prompt.stranger for prompt in everything})
    by_stranger = {name: [p for p in everything if p.stranger == name] for name in strangers}
    rows = {name: labelled(by_stranger[name]) for name in strangers}
    seen = {name: states(rows[name]) for name in strangers}
    kept: dict[str, list[list[str]]] = {"words alone": [], "words and states": []}
    for stranger in filter(None, strangers):
        known = [name for name in strangers if name != stranger]
        known_rows = [row for name in known for row in rows[name]]
        model, network = fit(known_rows, np.concatenate([seen[name] for name in known]))
        unknown = by_stranger[stranger]
        for name, judge in (("words alone", words_of(model)), ("words and states", judge_of(model, network))):
            texts = keep(unknown, judge)
            kept[name] += texts
            print(f"{stranger}, {name}: {report(unknown, texts)}", flush=True)
    ordered = [prompt for name in filter(None, strangers) for prompt in by_stranger[name]]
    for name, all_texts in kept.items():
        print(f"all strangers, {name}: {report(ordered, all_texts).splitlines()[0]}")


def words_of(model: lasting.Model) -> told.Judge:
    return lambda statements: [model.by_words(statement) for statement in statements]


if __name__ == "__main__":
    main()
