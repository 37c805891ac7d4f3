"""Prints how well searches find what they should: `python scripts/evaluate_search.py DATA_FOLDER`.

DATA_FOLDER holds gzip'd JSON files of stores with questions (`{"corpora": [{"memories", "questions"}]}`);
the demo's own log is always measured too. Each store is a database of its own with the bundled embedder.
"""

import gzip
import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from memory_server.app import build
from memory_server.domain.caller import Caller
from memory_server.domain.memory import Filter, MemoryDraft, MemoryType
from memory_server.services.search import SearchService
from memory_server.settings import Settings
from memory_server.sqlite import memories

DEMO_LOG = Path(__file__).parents[1] / "memory_server" / "demo" / "worklog.jsonl"
MODES = ("hybrid", "semantic", "keyword")


@dataclass(frozen=True)
class Question:
    """`gold` are pieces of evidence, each a set of ids of which one will do; `stale` were true once."""

    text: str
    kind: str
    gold: list[set[str]]
    stale: set[str]


@dataclass(frozen=True)
class Store:
    name: str
    texts: dict[str, str]
    questions: list[Question]


def stores(folder: Path) -> Iterator[Store]:
    for path in sorted(folder.glob("*.json.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            data = json.load(file)
        for corpus in data["corpora"]:
            questions = [
                Question(
                    q["text"], data["name"], [set(piece) for piece in q["gold"]], set(q.get("stale", ()))
                )
                for q in corpus["questions"]
            ]
            yield Store(corpus["id"], {m["id"]: m["text"] for m in corpus["memories"]}, questions)


def demo_log() -> Store:
    texts: dict[str, str] = {}
    questions = []
    for number, line in enumerate(DEMO_LOG.read_text(encoding="utf-8").splitlines()):
        entry = json.loads(line)
        if "content" in entry:
            texts[str(number)] = entry["content"]
        else:
            gold = [{id for id, text in texts.items() if part in text} for part in entry["expect"]]
            questions.append(Question(entry["ask"], f"demo {entry['lang']}>{entry['about']}", gold, set()))
    return Store("demo", texts, questions)


def evaluate(store: Store, results: dict[tuple[str, str], list[list[float]]]) -> None:
    with TemporaryDirectory() as folder:
        app = build(Settings(db=Path(folder) / "memory.db", embedder="bundled"))
        app.queue.warm_up()
        service = SearchService(app.database, app.queue, count_access=False)
        names = {}
        with app.database.write() as tx:
            for id, text in store.texts.items():
                draft = MemoryDraft(text[:5000], MemoryType.OBSERVATION)
                names[memories.insert(tx, draft, Caller()).id] = id
        app.queue.drain()
        for question in store.questions:
            for mode in MODES:
                hits = service.search(question.text[:500], Filter(), 10, mode).hits
                found = [names[hit.memory.id] for hit in hits]
                results[question.kind, mode].append(measures(question, found))
        app.close(-1)


def measures(question: Question, found: list[str]) -> list[float]:
    """recall@1, @5, @10, reciprocal rank, share of stale ones, number of hits."""
    recalls = [
        sum(bool(piece & set(found[:k])) for piece in question.gold) / len(question.gold) for k in (1, 5, 10)
    ]
    wanted = set().union(*question.gold)
    first = next((rank for rank, id in enumerate(found, 1) if id in wanted), None)
    stale = len(question.stale & set(found)) / 10
    return [*recalls, 1 / first if first else 0.0, stale, len(found)]


def main() -> None:
    results: dict[tuple[str, str], list[list[float]]] = defaultdict(list)
    print(f"python scripts/evaluate_search.py, {datetime.now(UTC):%Y-%m-%d}\n")
    for store in [*(stores(Path(sys.argv[1])) if len(sys.argv) > 1 else []), demo_log()]:
        evaluate(store, results)
    print("| set | mode | questions | recall@1 | recall@5 | recall@10 | MRR | stale in 10 | hits |")
    print("|---|---|---|---|---|---|---|---|---|")
    for (kind, mode), rows in results.items():
        means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
        cells = " | ".join([*(f"{mean:.3f}" for mean in means[:5]), f"{means[5]:.1f}"])
        print(f"| {kind} | {mode} | {len(rows)} | {cells} |")


if __name__ == "__main__":
    main()
