"""Measure an embedder: what it finds by itself, how fast it is, what it costs.

    python scripts/lab/quality/embedding.py DATA [--embedder bundled|hashing|sentence-transformers:NAME_OR_PATH]

DATA is a folder of gzipped JSON files, each `{"name", "corpora": [{"memories": [{"id", "text"}],
"questions": [{"text", "gold": [[id, ...], ...]}]}]}`; a corpus is one store. The mixed store is
`tests/embedding/mixed_store.json`, alone and among all memories of DATA.
"""

import argparse
import gzip
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

from memory_server.embedding import Embedder  # noqa: E402
from memory_server.embedding.bundled import BundledEmbedder  # noqa: E402
from memory_server.embedding.hashing import HashingEmbedder  # noqa: E402
from memory_server.embedding.sentence_transformers import SentenceTransformersEmbedder  # noqa: E402

MIXED_STORE = ROOT / "tests" / "embedding" / "mixed_store.json"
BATCH = 32
TOP = 5

FIRST_VECTOR = """
import sys, time
start = time.perf_counter()
sys.path.insert(0, {root!r})
from memory_server.embedding.{module} import {adapter}
imported = time.perf_counter()
embedder = {adapter}({argument})
loaded = time.perf_counter()
embedder.embed_questions(["Which port does the database use?"])[0]
print(f"import {{imported - start:.2f}} s, load {{loaded - imported:.2f}} s, "
      f"first vector after {{time.perf_counter() - start:.2f}} s")
"""


@dataclass(frozen=True, slots=True)
class Question:
    """`gold` lists pieces of evidence, each the places in the store of which any one will do."""

    text: str
    gold: list[set[int]]


@dataclass(frozen=True, slots=True)
class Store:
    name: str
    memories: list[str]
    questions: list[Question]


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure an embedder.")
    parser.add_argument("data", type=Path)
    parser.add_argument("--embedder", default="bundled")
    arguments = parser.parse_args()
    name, _, argument = arguments.embedder.partition(":")
    print_start(name, argument)
    embedder = _embedder(name, argument)
    stores = [store for file in sorted(arguments.data.glob("*.json.gz")) for store in read_stores(file)]
    print_speed(embedder, [text for store in stores for text in store.memories])
    for store in stores:
        print_quality(embedder, store)
    others = [text for store in stores for text in store.memories]
    for title, distractors in (("mixed store", []), (f"mixed store among {len(others)} others", others)):
        for store in mixed_stores(title, distractors):
            print_quality(embedder, store)


def _embedder(name: str, argument: str) -> Embedder:
    match name:
        case "bundled":
            return BundledEmbedder()
        case "hashing":
            return HashingEmbedder()
        case "sentence-transformers":
            return SentenceTransformersEmbedder(argument)
    raise SystemExit(f"no embedder {name!r}")


def read_stores(file: Path) -> Iterator[Store]:
    """One store for each corpus of the file."""
    data = json.loads(gzip.decompress(file.read_bytes()))
    for corpus in data["corpora"]:
        places = {memory["id"]: place for place, memory in enumerate(corpus["memories"])}
        questions = [
            Question(question["text"], [{places[id_] for id_ in piece} for piece in question["gold"]])
            for question in corpus["questions"]
        ]
        yield Store(corpus["id"], [memory["text"] for memory in corpus["memories"]], questions)


def mixed_stores(title: str, distractors: list[str]) -> Iterator[Store]:
    """One store in four readings: asked and stored in English and Chinese."""
    rows = json.loads(MIXED_STORE.read_text(encoding="utf-8"))
    memories = [row["memory"] for row in rows] + distractors
    for asked in ("en", "zh"):
        for stored in ("en", "zh"):
            questions = [
                Question(row[asked], [{place}]) for place, row in enumerate(rows) if row["language"] == stored
            ]
            yield Store(f"{title}, {asked} > {stored}", memories, questions)


def print_start(name: str, argument: str) -> None:
    """Time a new process to its first vector, three times, and print the median run; and its memory."""
    adapter = {"bundled": "BundledEmbedder", "hashing": "HashingEmbedder"}.get(
        name, "SentenceTransformersEmbedder"
    )
    program = FIRST_VECTOR.format(
        root=str(ROOT),
        module=name.replace("-", "_"),
        adapter=adapter,
        argument=repr(argument) if argument else "",
    )
    for _ in range(3):
        child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        report = child.stdout.read().strip()
        _, _, usage = os.wait4(child.pid, 0)
        print(f"new process: {report}, at most {usage.ru_maxrss / 1024:.0f} MB")


def print_speed(embedder: Embedder, texts: Sequence[str]) -> None:
    """One query at a time, and documents in batches, of the lengths that the data has."""
    short = [text for text in texts if len(text) <= 200][:512]
    took = []
    for text in short[:200]:
        start = time.perf_counter()
        embedder.embed_questions([text[:60]])[0]
        took.append(time.perf_counter() - start)
    print(f"one query: {1000 * statistics.median(took):.1f} ms (median of {len(took)})")
    for title, chosen in (("at most 200 characters", short), ("all lengths", list(texts)[::2])):
        start = time.perf_counter()
        for at in range(0, len(chosen), BATCH):
            embedder.embed_documents(chosen[at : at + BATCH])
        rate = len(chosen) / (time.perf_counter() - start)
        print(f"documents, {title}, batches of {BATCH}: {rate:.0f} texts/s")


def print_quality(embedder: Embedder, store: Store) -> None:
    """Recall (share of the pieces of evidence found) and mean reciprocal rank of the first piece."""
    memories = np.array(embedder.embed_documents(store.memories))
    recalls, ranks = [], []
    for question in store.questions:
        order = np.argsort(-(memories @ embedder.embed_questions([question.text])[0]), kind="stable")
        recalls.append(_recall(question, order[:TOP]))
        golden = set().union(*question.gold)
        ranks.append(1 / (1 + next(rank for rank, place in enumerate(order.tolist()) if place in golden)))
    print(
        f"{store.name}: {len(store.memories)} memories, {len(store.questions)} questions, "
        f"recall@{TOP} {np.mean(recalls):.3f}, MRR {np.mean(ranks):.3f}"
    )


def _recall(question: Question, top: NDArray[np.intp]) -> float:
    found = set(top.tolist())
    return sum(not piece.isdisjoint(found) for piece in question.gold) / len(question.gold)


if __name__ == "__main__":
    main()
