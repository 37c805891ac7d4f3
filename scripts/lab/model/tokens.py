"""Makes what reads token vectors from the bundled model: `python scripts/lab/model/tokens.py [--check]`.

It reads the sentence pairs of pairs.json as stored texts and as questions, takes the mean token of each language, and
the directions in which the tokens of stored texts differ most from their mean. The numbers are data, like the
correction of the language: they differ in their last digits between processors. `--check` compares them with those
measured here. Who changes them must empty the table `token_vectors` in a migration: old vectors do not fit new ones.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from memory_server.domain.embedding import TOKEN_DIMENSIONS
from memory_server.embedding import bundled, token_space
from memory_server.embedding.unigram import Unigram

FOLDER = Path(bundled.__file__).with_name("e5_small")
PAIRS = Path(__file__).with_name("pairs.json")
TOLERANCE = 0.999
"""The least likeness of a mean (cosine) and of the directions (share of their square that is in the others' span)."""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="compare with the committed file, write nothing")
    check = parser.parse_args().check
    measured = fit()
    if not check:
        np.save(FOLDER / token_space.FILE, measured.astype(np.float16))
        return 0
    stored = np.load(FOLDER / token_space.FILE).astype(np.float32)
    means, directions = stored[: token_space.MEANS], stored[token_space.MEANS :]
    likeness = [
        float(a @ b / np.linalg.norm(a) / np.linalg.norm(b)) for a, b in zip(means, measured, strict=False)
    ]
    likeness.append(float(np.square(directions @ measured[token_space.MEANS :].T).sum() / TOKEN_DIMENSIONS))
    print(
        "likeness of the means and the directions with those measured here:",
        *(f"{one:.5f}" for one in likeness),
    )
    return int(min(likeness) < TOLERANCE)


def fit() -> NDArray[np.float32]:
    """Return the rows of the file: the means, then the directions."""
    pairs = json.loads(PAIRS.read_text(encoding="utf-8"))
    texts = {language: [pair[language] for pair in pairs] for language in ("en", "zh")}
    stored = [states(bundled.DOCUMENT_PROMPT, texts[language]) for language in texts]
    asked = [states(bundled.QUERY_PROMPT, texts[language]) for language in texts]
    means = np.array([tokens.mean(axis=0) for tokens in (*stored, *asked)])
    apart = np.concatenate([tokens - mean for tokens, mean in zip(stored, means, strict=False)])
    _, vectors = np.linalg.eigh(apart.T @ apart)
    return np.concatenate([means, vectors.T[::-1][:TOKEN_DIMENSIONS]]).astype(np.float32)


def states(prompt: str, texts: list[str]) -> NDArray[np.float32]:
    """Return the states of the tokens of texts, without those of the prompt: (tokens, dimensions)."""
    tokenizer = Unigram(FOLDER / bundled.TOKENIZER_FILE)
    model = token_space.with_outputs((FOLDER / bundled.MODEL_FILE).read_bytes())
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    first = 1 + len(tokenizer.ids(prompt))
    rows = []
    for text in texts:
        ids = np.array([[0, *tokenizer.ids(prompt + text), 2]], np.int64)
        (values,) = session.run([token_space.OUTPUT], {"input_ids": ids, "attention_mask": np.ones_like(ids)})
        rows.append(values[0, first:-1])
    return np.concatenate(rows)


if __name__ == "__main__":
    sys.exit(main())
