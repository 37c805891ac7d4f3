"""Prints what edges do for searches of the demo's log: `python scripts/lab/quality/edges.py`.

`edges.json` connects lines of the log (its corrections supersede, other edges where one exists naturally) and
asks two more kinds of questions: what was so in the past, and what is one edge from the memory that the words name.
Edges between memories picked at random show what careless connecting costs.
"""

import json
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parents[up]) for up in (1, 3)]

from memory_server.app import build  # noqa: E402
from memory_server.demo.log import DEMO_LOG  # noqa: E402
from memory_server.domain import ranking  # noqa: E402
from memory_server.domain.caller import Caller  # noqa: E402
from memory_server.domain.edge import Edge, Relation  # noqa: E402
from memory_server.domain.memory import Filter, MemoryDraft, MemoryId, MemoryType  # noqa: E402
from memory_server.services.search import SearchService  # noqa: E402
from memory_server.settings import Settings  # noqa: E402
from memory_server.sqlite.database import Database  # noqa: E402
from quality.data import Question  # noqa: E402
from quality.evaluate import MODES  # noqa: E402
from quality.measures import rank  # noqa: E402

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
        gold = [n for n, entry in entries.items() if any(part in entry["content"] for part in line["expect"])]
        questions.append(_question("direct", line["ask"], gold))
    for kind in ("past", "indirect"):
        questions += [_question(kind, each["ask"], each["lines"]) for each in data[kind]]
    return Log(entries, [tuple(edge) for edge in data["edges"]], questions)


def _question(kind: str, text: str, lines: Sequence[int]) -> Question:
    return Question(text, text, kind, (frozenset(map(str, lines)),))


def measured(
    log: Log, connected: Sequence[tuple[int, str, int]], weights: Sequence[float], name: str
) -> None:
    with TemporaryDirectory() as folder:
        app = build(Settings(db=Path(folder) / "memory.db", embedder="bundled"))
        app.queue.warm_up()
        service = SearchService(app.database, app.queue, count_access=False)
        ids: dict[int, MemoryId] = {}
        assert isinstance(app.database, Database)
        with app.database.write() as tx:
            for number, entry in log.entries.items():
                draft = MemoryDraft(
                    entry["content"], MemoryType(entry["type"]), importance=entry["importance"]
                )
                ids[number] = tx.memories.insert(draft, Caller()).id
                written = f"{entry['date']}T12:00:00.000Z"
                tx.execute(
                    "UPDATE memories SET created_at = ?, updated_at = ? WHERE id = ?",
                    (written, written, ids[number]),
                )
            for source, relation, target in connected:
                tx.edges.connect(Edge(ids[source], ids[target], Relation(relation)), Caller())
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
        ranks, numbers = [], []
        for question in (each for each in questions if each.category == kind):
            hits = service.search(question.text, Filter(), 10, mode, caller=Caller()).hits
            ranks.append(rank([[names[hit.memory.id]] for hit in hits], question.wanted))
            numbers.append(len(hits))
        recalls = [sum(place is not None and place <= first for place in ranks) for first in (1, 5, 10)]
        figures = [*recalls, sum(1 / place for place in ranks if place), sum(numbers)]
        *means, number = [figure / len(ranks) for figure in figures]
        cells = " | ".join(f"{mean:.3f}" for mean in means)
        print(f"| {name} | {mode} | {kind} | {len(ranks)} | {cells} | {number:.1f} |", flush=True)


def main() -> None:
    log = read()
    print(f"python scripts/lab/quality/edges.py, {datetime.now(UTC):%Y-%m-%d}\n")
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
