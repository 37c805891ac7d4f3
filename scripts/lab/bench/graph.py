"""Measures the knowledge graph over stdio at two sizes with the same number of edges a memory. Prints markdown.

    python scripts/lab/bench/graph.py            1,000 memories with 5,000 edges, 10,000 with 50,000
    python scripts/lab/bench/graph.py --quick    only the smaller one
    python scripts/lab/bench/graph.py --write    also writes the figures into docs/performance.md

The file is filled directly, the questions go to the real server. Memories have hashed embeddings, for the graph does
not depend on the model. A walk of one direction meets 5 edges a memory, a walk of both meets 10.
"""

import random
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from report import Report
from server import started, wait_until_embedded

from memory_server.domain.edge import Relation
from memory_server.sqlite.database import Database

DEGREE = 5
ASKED = 200
"""Calls measured of each kind, each from another memory."""

KINDS: list[tuple[str, dict[str, Any]]] = [
    *(("graph_explore", {"depth": depth, "direction": "out"}) for depth in (1, 2, 3, 4)),
    *(("graph_explore", {"depth": depth, "direction": "both"}) for depth in (1, 2, 3, 4)),
    ("graph_explore", {"depth": 3, "direction": "both", "at": "2099-01-01"}),
    ("memory_related", {"includeSemantic": False}),
    ("memory_related", {}),
]


def main() -> None:
    report = Report(__file__, quick="only the smaller size")
    sizes = (1000,) if report.quick else (1000, 10_000)
    with tempfile.TemporaryDirectory(prefix="memory-server-benchmark-") as folder:
        columns = [list(_measured(Path(folder) / f"{size}.db", size)) for size in sizes]
    titles = [f"{size:,} memories, {size * DEGREE:,} edges" for size in sizes]
    rows = [[row[0][0], *(value for _, value in row)] for row in zip(*columns, strict=True)]
    report.publish([f"p50 / p95 of {ASKED} calls", *titles], rows)


def _measured(db: Path, size: int) -> Iterator[tuple[str, str]]:
    chance = random.Random(size)
    _fill(db, size, chance)
    with started(db, "--embedder", "hashing") as server:
        wait_until_embedded(server)
        starts = chance.sample(range(1, size), ASKED)
        for tool, how in KINDS:
            counts: list[int] = []

            def ask(start: int, tool: str = tool, how: Any = how, counts: list[int] = counts) -> None:
                answer = server.call(tool, {"memoryId": start, **how})
                counts.append(len(answer.get("nodes") or answer["related"]))

            shown = ", ".join(f"{name} {value}" for name, value in how.items())
            yield f"`{tool}` {shown}".strip(), f"{_took(starts, ask)}, {median(counts):.0f} memories"
        yield (
            "`graph_connect`",
            _took(
                starts,
                lambda start: server.call(
                    "graph_connect", {"sourceId": start, "targetId": size, "relation": "causes"}
                ),
            ),
        )


def _fill(db: Path, size: int, chance: random.Random) -> None:
    database = Database(db, lambda: datetime.now(UTC))
    relations = [relation.value for relation in Relation if relation is not Relation.SUPERSEDES]
    edges: set[tuple[int, int]] = set()
    while len(edges) < size * DEGREE:
        source, target = chance.randrange(1, size + 1), chance.randrange(1, size + 1)
        if source != target:
            edges.add((source, target))
    with database.write() as tx:
        for number in range(1, size + 1):
            text = f"Note {number}: " + " ".join(f"word{chance.randrange(5000)}" for _ in range(20))
            tx.execute("INSERT INTO memories (content, type) VALUES (?, 'learning')", (text,))
        for source, target in sorted(edges):
            tx.execute(
                "INSERT INTO edges (source_id, target_id, relation, strength) VALUES (?, ?, ?, ?)",
                (source, target, chance.choice(relations), round(chance.random(), 2)),
            )
    database.close()


def _took(starts: list[int], ask: Callable[[int], Any]) -> str:
    took = []
    for start in starts:
        began = time.perf_counter()
        ask(start)
        took.append(1000 * (time.perf_counter() - began))
    return f"{median(took):.1f} / {quantiles(took, n=20)[-1]:.1f} ms"


if __name__ == "__main__":
    main()
