"""Does the product keep what people tell, and nothing else?

    python scripts/lab/quality/lasting.py          fits a model on two thirds of the prompts, judges the others
    python scripts/lab/quality/lasting.py --fit    fits the model of the package on all of them, and writes it
    python scripts/lab/quality/lasting.py --judge FILE…    judges the model of the package on other prompts

`prompts_labelled/*.txt` has a prompt a line, in English, Chinese and German, of more than 30 walks of life; what is to
be kept of it stands in braces, and ⏎ ends a line of it. Which third is put aside, the digest of its text decides. A
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

from memory_server.language import lasting, told  # noqa: E402
from memory_server.language.lasting import Statement  # noqa: E402
from memory_server.services import judging  # noqa: E402
from quality.logistic import Flags, Numbers, Plain, solve  # noqa: E402

if TYPE_CHECKING:
    from memory_server.embedding.bundled import BundledEmbedder

Labelled = tuple[Statement, bool]
"""A statement; true if something of it is to be kept."""

PROMPTS = Path(__file__).with_name("prompts_labelled")
TARGET = ROOT / "memory_server" / "language" / "lasting.json"
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

PENALTY_OF_STATES = 100.0

FOLDS = 4

NONE: frozenset[str] = frozenset()

FAINT = 0.03
"""A weight below it is left out."""


@dataclass(frozen=True, slots=True)
class Prompt:
    text: str
    kept: tuple[str, ...]


def prompts() -> list[Prompt]:
    lines = [line for path in sorted(PROMPTS.glob("*.txt")) for line in path.read_text("utf-8").splitlines()]
    own = [read(line) for line in lines if line.strip() and not line.startswith("## ")]
    return [*own, *of_tests("spoken"), *of_tests("stated")]


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


def read(line: str) -> Prompt:
    text = line.replace("⏎", "\n")
    return Prompt(SPAN.sub(r"\1", text), tuple(SPAN.findall(text)))


def is_aside(prompt: Prompt) -> bool:
    """True for a third of the prompts."""
    return sha256(prompt.text.encode()).digest()[0] % 3 == 0


def labelled(prompts: Sequence[Prompt]) -> list[Labelled]:
    """The statements of prompts as the product cuts them; true for those of which something is to be kept."""
    return [
        (statement, any(_overlap(statement.text, span) for span in prompt.kept))
        for prompt in prompts
        for statement in told.spoken(prompt.text)
    ]


def _overlap(sentence: str, span: str) -> bool:
    return span in sentence or sentence in span or sentence.rstrip(".。") in span


def fit(rows: Sequence[Labelled], states: Numbers) -> lasting.Model:
    """Fit the model by words, then the one that adds the states of the embedder to it."""
    wanted = np.array([is_kept for _, is_kept in rows], np.float64)
    statements = [statement for statement, _ in rows]
    bias, common, words = fit_words(statements, wanted)
    unseen = np.zeros(len(statements))
    for fold in range(FOLDS):
        others = np.arange(len(statements)) % FOLDS != fold
        known = [statements[row] for row in np.flatnonzero(others)]
        part = lasting.Model(*fit_words(known, wanted[others]), [], 0, 0)
        unseen[~others] = [part.logit(statements[row]) for row in np.flatnonzero(~others)]
    middle, spread = states.mean(axis=0), states.std(axis=0) + 1e-6
    matrix = np.hstack([(states - middle) / spread, unseen[:, None]]).astype(np.float32)
    weights, bias_of_states = solve(Plain(matrix), wanted, PENALTY_OF_STATES)
    of_states = weights[:-1] / spread
    return lasting.Model(
        bias,
        common,
        words,
        of_states.tolist(),
        float(weights[-1]),
        float(bias_of_states - of_states @ middle),
    )


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


def write(model: lasting.Model) -> None:
    content = {
        "bias": round(model.bias, 3),
        "share": round(model.share, 3),
        "bias_of_states": round(model.bias_of_states, 3),
        "common": " ".join(sorted(model.common)),
        "states": [round(weight, 4) for weight in model.states],
        "words": {name: round(weight * lasting.SCALE) for name, weight in sorted(model.words.items())},
    }
    TARGET.write_text(json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


@cache
def embedder() -> "BundledEmbedder":
    from memory_server.embedding.bundled import BundledEmbedder

    return BundledEmbedder(reads_tokens=False)


def states(rows: Sequence[Labelled]) -> Numbers:
    return np.asarray(embedder().read_states([statement.text for statement, _ in rows]), np.float64)


def judge_of(model: lasting.Model) -> told.Judge:
    """Return what judges as the product does: by words, and where these make it likely by the states too."""

    def judge(statements: Sequence[Statement]) -> list[float]:
        probabilities = [model.by_words(statement) for statement in statements]
        likely = [number for number, chance in enumerate(probabilities) if chance >= judging.LEAST]
        if likely:
            judged = [statements[number] for number in likely]
            read = embedder().read_states([statement.text for statement in judged])
            for number, chance in zip(likely, model.with_states(judged, read), strict=True):
                probabilities[number] = chance
        return probabilities

    return judge


def judged(prompts: Sequence[Prompt], judge: told.Judge) -> str:
    kept = [
        [statement.text for statement in told.told(prompt.text, judge) if statement.sure]
        for prompt in prompts
    ]
    return report(prompts, kept)


def report(prompts: Sequence[Prompt], kept: Sequence[Sequence[str]]) -> str:
    """Compare what is kept of each prompt with its labels."""
    spans = [(span, texts) for prompt, texts in zip(prompts, kept, strict=True) for span in prompt.kept]
    pairs = [(text, prompt) for prompt, texts in zip(prompts, kept, strict=True) for text in texts]
    wrong = [text for text, prompt in pairs if not any(_overlap(text, span) for span in prompt.kept)]
    heard = [(span, texts) for span, texts in spans if any(_overlap(text, span) for text in texts)]
    whole = sum(any(_plain(_content(span)) in _plain(text) for text in texts) for span, texts in heard)
    silent = [texts for prompt, texts in zip(prompts, kept, strict=True) if not prompt.kept]
    return (
        f"{len(prompts)} prompts, {len(spans)} to keep: recall {len(heard) / max(1, len(spans)):.3f}, "
        f"precision {1 - len(wrong) / max(1, len(pairs)):.3f}, whole {whole / max(1, len(heard)):.3f}; "
        f"of {len(silent)} prompts that tell nothing, something is kept of {sum(map(bool, silent))}\n"
        + "".join(f"  wrong: {text}\n" for text in wrong)
    )


def _content(span: str) -> str:
    """The span without "no," before it and "remember that" around it."""
    return told._ASKED_AFTERWARDS.sub("", told._ASKED_TO_KEEP.sub("", told._opened(span)))


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
        print(f"{path.name}: {judged(of_file(path), judge_of(lasting.model()))}")
    if arguments.judge:
        return
    everything = prompts()
    if arguments.fit:
        rows = labelled(everything)
        write(fit(rows, states(rows)))
        return
    known = labelled([prompt for prompt in everything if not is_aside(prompt)])
    model = fit(known, states(known))
    aside = [prompt for prompt in everything if is_aside(prompt)]

    def by_words(statements: Sequence[Statement]) -> list[float]:
        return [model.by_words(statement) for statement in statements]

    for name, judge in (("words alone", by_words), ("words and states", judge_of(model))):
        print(f"{name}: {judged(aside, judge)}")


if __name__ == "__main__":
    main()
