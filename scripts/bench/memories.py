"""Measures the real server over stdio: start, store and search at two sizes, resident memory. Prints markdown.

    python scripts/bench/memories.py            1,000 and 10,000 memories, several minutes
    python scripts/bench/memories.py --quick    200 and 1,000
    python scripts/bench/memories.py --write    also writes the figures into docs/performance.md

Progress goes to standard error. CPU time and resident memory are read from /proc, so they need Linux.
"""

import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import corpus
from report import Report
from server import Server, note, started, wait_until_embedded

STARTS = 5
PROBES = 100
"""Stores and searches measured at each size, one at a time."""
WINDOW = 32
"""Stores under way at once while the file is filled."""


def main() -> None:
    report = Report(__file__, quick="200 and 1,000 memories")
    sizes = (200, 1000) if report.quick else (1000, 10_000)
    with tempfile.TemporaryDirectory(prefix="memory-server-benchmark-") as folder:
        rows = [*_starts(Path(folder)), *_sizes(Path(folder) / "memory.db", sizes)]
    report.publish(("measured", "value"), rows)


def _starts(folder: Path) -> Iterator[tuple[str, str]]:
    """Start to `tools/list` on a file that does not exist yet."""
    wall, cpu = [], []
    for number in range(STARTS):
        with started(folder / f"start-{number}.db") as server:
            server.request("tools/list", {})
            wall.append(server.since_start())
            cpu.append(server.cpu_seconds())
            after_start = server.resident_mb()
    yield f"start to `tools/list`, median of {STARTS}", f"{median(wall):.2f} s ({median(cpu):.2f} s CPU)"
    yield "resident memory then", f"{after_start:.0f} MB"


def _sizes(db: Path, sizes: tuple[int, int]) -> Iterator[tuple[str, str]]:
    """Fills the file to each size and measures there."""
    memories = corpus.memories(sizes[1])
    stores, searches = [], []
    filled = 0
    for size in sizes:
        added, probes = memories[filled : size - PROBES], memories[size - PROBES : size]
        filled = size
        with started(db) as server:
            took = _fill(server, added)
            embedded = wait_until_embedded(server)
            yield (
                f"{len(added):,} stores, {WINDOW} under way at once",
                f"{took:.0f} s, all embedded {embedded:.0f} s later",
            )
            stores.append(_p50(server, "memory_store", probes))
            wait_until_embedded(server)
            asked = [{"query": question} for question in corpus.questions(PROBES)]
            searches.append(_p50(server, "memory_search", asked))
            resident, total = server.resident_mb(), server.call("memory_stats", {})["total"]
        yield f"`memory_store` at {size:,}, p50", f"{stores[-1]:.1f} ms"
        yield f"`memory_search` at {size:,}, p50", f"{searches[-1]:.1f} ms"
        yield f"resident memory at {size:,}, filled and searched", f"{resident:.0f} MB"
        yield f"memories in the file at {size:,} (the rest was merged)", f"{total:,}"
        yield from _first_semantic_search(db, size)
    ratio = f"{sizes[1]:,} to {sizes[0]:,}"
    yield f"`memory_store`, p50 at {ratio}", f"{stores[1] / stores[0]:.2f} times"
    yield f"`memory_search`, p50 at {ratio}", f"{searches[1] / searches[0]:.2f} times"
    yield "size of the file", f"{db.stat().st_size / 1e6:.1f} MB"


def _first_semantic_search(db: Path, size: int) -> Iterator[tuple[str, str]]:
    """Start to the first search that meaning answers."""
    with started(db) as server:
        while True:
            facts = server.call("memory_search", {"query": corpus.questions(1)[0], "explain": True})
            if "degraded" not in facts and any(hit["why"]["meaning"] > 0 for hit in facts["results"]):
                break
            time.sleep(0.01)
        wall, cpu, resident = server.since_start(), server.cpu_seconds(), server.resident_mb()
    yield f"start to first semantic search at {size:,}", f"{wall:.2f} s ({cpu:.2f} s CPU)"
    yield f"resident memory after the first semantic search at {size:,}", f"{resident:.0f} MB"


def _fill(server: Server, memories: Sequence[dict[str, Any]]) -> float:
    began = time.perf_counter()
    under_way = 0
    for number, memory in enumerate(memories, start=1):
        server.send_call("memory_store", memory)
        under_way += 1
        if under_way == WINDOW:
            server.receive()
            under_way -= 1
        if number % 1000 == 0:
            note(f"{number:,} of {len(memories):,} stored")
    for _ in range(under_way):
        server.receive()
    return time.perf_counter() - began


def _p50(server: Server, tool: str, calls: Sequence[dict[str, Any]]) -> float:
    """Milliseconds from writing the request to reading its answer."""
    took = []
    for arguments in calls:
        began = time.perf_counter()
        server.call(tool, arguments)
        took.append(1000 * (time.perf_counter() - began))
    return median(took)


if __name__ == "__main__":
    main()
