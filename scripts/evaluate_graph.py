"""Prints what edges do for searches of the demo's log: `python scripts/evaluate_graph.py`.

`evaluate_graph.json` connects lines of the log (its corrections supersede, other edges where one exists naturally) and
asks two more kinds of questions: what was so in the past, and what is one edge from the memory that the words name.
Edges between memories picked at random show what careless connecting costs.
"""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from evaluate_search import DEMO_LOG, MODES, Question, measures

from memory_server.app import build
from memory_server.domain import ranking
from memory_server.domain.caller import Caller
from memory_server.domain.edge import Edge, Relation
from memory_server.domain.memory import Filter, MemoryDraft, MemoryId, MemoryType
from memory_server.services.search import SearchService
from memory_server.settings import Settings
from memory_server.sqlite import edges, memories

DATA = Path(__file__).with_suffix(".json")
WEIGHTS = (0.0, 0.5, 0.6, 0.7, 0.8)
"""Of the neighbours of the best hit; 0 lets none join."""


@dataclass(frozen=True)
class Log:
    """The memories of the log by line, the edges between lines, and the questions."""

    entries: dict[int, dict[str, Any]]
    edges: list[tuple[int, str, int]]
    questions: list[Question]


def read() -> Log:
    lines = [json.loads(line) for line in DEMO_LOG.read_text(encoding="utf-8").splitlines()]
    entries = {number: line for number, line in enumerate(lines, start=1) if "content" in line}
    data = json.loads(DATA.read_text(encoding="utf-8"))
    questions = []
    for line in (line for line in lines if "ask" in line):
        gold = {
            str(n) for n, entry in entries.items() if any(part in entry["content"] for part in line["expect"])
        }
        questions.append(Question(line["ask"], "direct", [gold], set()))
    for kind in ("past", "indirect"):
        questions += [Question(q["ask"], kind, [set(map(str, q["lines"]))], set()) for q in data[kind]]
    return Log(entries, [tuple(edge) for edge in data["edges"]], questions)


def measured(
    log: Log, connected: Sequence[tuple[int, str, int]], weights: Sequence[float], name: str
) -> None:
    with TemporaryDirectory() as folder:
        app = build(Settings(db=Path(folder) / "memory.db", embedder="bundled"))
        app.queue.warm_up()
        service = SearchService(app.database, app.queue, count_access=False)
        ids: dict[int, MemoryId] = {}
        with app.database.write() as tx:
            for number, entry in log.entries.items():
                draft = MemoryDraft(
                    entry["content"], MemoryType(entry["type"]), importance=entry["importance"]
                )
                ids[number] = memories.insert(tx, draft, Caller()).id
                written = f"{entry['date']}T12:00:00.000Z"
                tx.execute(
                    "UPDATE memories SET created_at = ?, updated_at = ? WHERE id = ?",
                    (written, written, ids[number]),
                )
            for source, relation, target in connected:
                edges.connect(tx, Edge(ids[source], ids[target], Relation(relation)), Caller())
        app.queue.drain()
        names = {id: str(number) for number, id in ids.items()}
        for weight in weights:
            ranking.NEIGHBOUR_WEIGHT = weight
            for mode in MODES:
                _rows(service, names, log.questions, mode, f"{name}, neighbours {weight or 'off'}")
        app.close(-1)


def _rows(
    service: SearchService, names: dict[MemoryId, str], questions: list[Question], mode: str, name: str
) -> None:
    for kind in ("direct", "past", "indirect"):
        rows = []
        for question in (each for each in questions if each.kind == kind):
            hits = service.search(question.text, Filter(), 10, mode).hits
            rows.append(measures(question, [names[hit.memory.id] for hit in hits]))
        recall_1, recall_5, recall_10, rank, _, number = [
            sum(column) / len(rows) for column in zip(*rows, strict=True)
        ]
        cells = " | ".join(f"{value:.3f}" for value in (recall_1, recall_5, recall_10, rank))
        print(f"| {name} | {mode} | {kind} | {len(rows)} | {cells} | {number:.1f} |", flush=True)


def main() -> None:
    log = read()
    print(f"python scripts/evaluate_graph.py, {datetime.now(UTC):%Y-%m-%d}\n")
    print("| edges | mode | questions | number | recall@1 | recall@5 | recall@10 | MRR | hits |")
    print("|---|---|---|---|---|---|---|---|---|")
    measured(log, [], WEIGHTS[:1], "none")
    measured(log, log.edges, WEIGHTS, "natural")
    chance = random.Random(4)
    lines = list(log.entries)
    noise = [(chance.choice(lines), "related_to", chance.choice(lines)) for _ in lines]
    noise = [edge for edge in noise if edge[0] != edge[2]]
    measured(log, [*log.edges, *noise], WEIGHTS[:3], f"natural and {len(noise)} random")


if __name__ == "__main__":
    main()
