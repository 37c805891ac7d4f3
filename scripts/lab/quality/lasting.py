"""Does the product keep what people tell, and nothing else?

    python scripts/lab/quality/lasting.py          fits a model on two thirds of the prompts, judges the others
    python scripts/lab/quality/lasting.py --fit    fits the model of the package on all of them, and writes it

`prompts_labelled/*.txt` has a prompt a line, in English, Chinese and German, of more than 30 walks of life; what is to
be kept of it stands in braces. Which third is put aside, the digest of its text decides.
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

from memory_server.language import lasting, told  # noqa: E402

Numbers = NDArray[np.float64]

PROMPTS = Path(__file__).with_name("prompts_labelled")
TARGET = ROOT / "memory_server" / "language" / "lasting.json"
SPAN = re.compile(r"\{([^{}]*)\}")

COMMON = 5
"""Sentences that have a word, from which on a frame names it."""

LEAST = 2
"""Sentences that have a feature, from which on it has a weight."""

PENALTY = 4.0
"""On the squares of the weights."""

PENALTY_OF_STATES = 100.0

LOGIT = 1.0
"""Scale of the logit by words beside the states, whose spread is 1."""

FOLDS = 4

BIAS_PENALTY = 0.01

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


def read(line: str) -> Prompt:
    return Prompt(SPAN.sub(r"\1", line), tuple(SPAN.findall(line)))


def is_aside(prompt: Prompt) -> bool:
    """True for a third of the prompts."""
    return sha256(prompt.text.encode()).digest()[0] % 3 == 0


def labelled(prompts: Sequence[Prompt]) -> list[tuple[str, bool]]:
    """The sentences of prompts as the product cuts them; true for those of which something is to be kept."""
    return [
        (sentence, any(_overlap(sentence, span) for span in prompt.kept))
        for prompt in prompts
        for sentence in told.spoken(prompt.text)
    ]


def _overlap(sentence: str, span: str) -> bool:
    return span in sentence or sentence in span or sentence.rstrip(".。") in span


def fit(sentences: Sequence[tuple[str, bool]], states: Numbers) -> lasting.Model:
    """Fit the model by words, then the one that adds the states of the embedder to it."""
    wanted = np.array([is_kept for _, is_kept in sentences], np.float64)
    texts = [text for text, _ in sentences]
    bias, common, words = fit_words(texts, wanted)
    unseen = np.zeros(len(texts))
    for fold in range(FOLDS):
        others = np.arange(len(texts)) % FOLDS != fold
        part = lasting.Model(
            *fit_words([texts[row] for row in np.flatnonzero(others)], wanted[others]), [], 0, 0
        )
        unseen[~others] = [part.logit(texts[row]) for row in np.flatnonzero(~others)]
    middle, spread = states.mean(axis=0), states.std(axis=0) + 1e-6
    rows = np.hstack([(states - middle) / spread, LOGIT * unseen[:, None]])
    weights, bias_of_states = solve(rows, wanted, PENALTY_OF_STATES)
    of_states = weights[:-1] / spread
    return lasting.Model(
        bias,
        common,
        words,
        of_states.tolist(),
        float(LOGIT * weights[-1]),
        float(bias_of_states - of_states @ middle),
    )


def fit_words(texts: Sequence[str], wanted: Numbers) -> tuple[float, frozenset[str], dict[str, float]]:
    held = Counter(word for text in texts for word in set(lasting.features(text, frozenset())))
    common = frozenset(
        word for word, count in held.items() if count >= COMMON and word.replace("'", "").isalpha()
    )
    rows = [set(lasting.features(text, common)) for text in texts]
    counts = Counter(feature for row in rows for feature in row)
    names = sorted(feature for feature, count in counts.items() if count >= LEAST)
    places = {name: place for place, name in enumerate(names)}
    matrix = np.zeros((len(rows), len(names)))
    for number, row in enumerate(rows):
        matrix[number, [places[feature] for feature in row if feature in places]] = 1
    weights, bias = solve(matrix, wanted, PENALTY)
    worth = {name: float(weight) for name, weight in zip(names, weights, strict=True) if abs(weight) >= FAINT}
    return bias, common, worth


def solve(matrix: Numbers, wanted: Numbers, penalty: float) -> tuple[Numbers, float]:
    """Fit by Newton's method on the rows: there are fewer of them than features. Returns the weights and the bias."""
    products = matrix @ matrix.T / penalty + 1 / BIAS_PENALTY
    logits = np.zeros(len(wanted))
    for _ in range(12):
        chance = 1 / (1 + np.exp(-logits))
        curve = np.maximum(chance * (1 - chance), 1e-6)
        target = logits + (wanted - chance) / curve
        shares = np.linalg.solve(products + np.diag(1 / curve), target)
        logits = products @ shares
    return matrix.T @ shares / penalty, float(shares.sum() / BIAS_PENALTY)


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


def states(texts: Sequence[str]) -> Numbers:
    from memory_server.embedding.bundled import BundledEmbedder

    return np.asarray(BundledEmbedder(reads_tokens=False).read_states(texts), np.float64)


def report(prompts: Sequence[Prompt], kept: Sequence[Sequence[str]]) -> str:
    """Compare what is kept of each prompt with its labels."""
    spans = [(span, texts) for prompt, texts in zip(prompts, kept, strict=True) for span in prompt.kept]
    pairs = [(text, prompt) for prompt, texts in zip(prompts, kept, strict=True) for text in texts]
    wrong = [text for text, prompt in pairs if not any(_overlap(text, span) for span in prompt.kept)]
    heard = [(span, text) for span, texts in spans for text in texts if _overlap(text, span)]
    whole = sum(_plain(_content(span)) in _plain(text) for span, text in heard)
    return (
        f"{len(prompts)} prompts, {len(spans)} to keep: recall {len(heard) / len(spans):.3f}, "
        f"precision {1 - len(wrong) / max(1, len(pairs)):.3f}, whole {whole / max(1, len(heard)):.3f}\n"
        + "".join(f"  wrong: {text}\n" for text in wrong)
    )


def _content(span: str) -> str:
    """The span without "no," before it and "remember that" around it."""
    return told._ASKED_AFTERWARDS.sub("", told._ASKED_TO_KEEP.sub("", told._opened(span)))


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--fit", action="store_true", help="fit the model on all prompts and write it")
    everything = prompts()
    sentences = labelled(everything)
    vectors = dict(zip((text for text, _ in sentences), states([text for text, _ in sentences]), strict=True))
    if arguments.parse_args().fit:
        write(fit(sentences, np.array([vectors[text] for text, _ in sentences])))
        return
    known = labelled([prompt for prompt in everything if not is_aside(prompt)])
    model = fit(known, np.array([vectors[text] for text, _ in known]))
    aside = [prompt for prompt in everything if is_aside(prompt)]

    def by_states(texts: Sequence[str]) -> list[float]:
        return model.with_states(texts, np.array([vectors[text] for text in texts], np.float32))

    def by_words(texts: Sequence[str]) -> list[float]:
        return [model.by_words(text) for text in texts]

    for name, judge in (("words alone", by_words), ("words and states", by_states)):
        kept = [
            [told_one.text for told_one in told.told(prompt.text, judge) if told_one.sure] for prompt in aside
        ]
        print(f"{name}: {report(aside, kept)}")


if __name__ == "__main__":
    main()
