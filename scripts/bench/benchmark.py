"""Measures the real server over stdio: start, store and search at two sizes, resident memory. Prints markdown.

    python scripts/bench/benchmark.py            1,000 and 10,000 memories, several minutes
    python scripts/bench/benchmark.py --quick    200 and 1,000

Progress goes to standard error. CPU time and resident memory are read from /proc, so they need Linux.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import benchmark_corpus as corpus

STARTS = 5
PROBES = 100
"""Stores and searches measured at each size, one at a time."""
WINDOW = 32
"""Stores under way at once while the file is filled."""


class Server:
    """A server process spoken to over its pipes, without the cost of a client library."""

    def __init__(self, db: Path, *arguments: str) -> None:
        self.started = time.perf_counter()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "memory_server", "--db", str(db), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._last_id = 0
        hello = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "benchmark", "version": "1"},
        }
        self.request("initialize", hello)
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self.send(method, params)
        return self.receive()

    def send(self, method: str, params: dict[str, Any]) -> None:
        self._last_id += 1
        self._write({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params})

    def receive(self) -> dict[str, Any]:
        """The next answer, whichever call it belongs to."""
        assert self._process.stdout is not None
        answer = json.loads(self._process.stdout.readline() or '{"error": "the server ended"}')
        if "error" in answer or answer["result"].get("isError"):
            raise SystemExit(f"The server answered: {answer}")
        result: dict[str, Any] = answer["result"]
        return result

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        facts: dict[str, Any] = self.request("tools/call", {"name": tool, "arguments": arguments})[
            "structuredContent"
        ]
        return facts

    def send_call(self, tool: str, arguments: dict[str, Any]) -> None:
        self.send("tools/call", {"name": tool, "arguments": arguments})

    def since_start(self) -> float:
        return time.perf_counter() - self.started

    def cpu_seconds(self) -> float:
        """User and system time of the process with all its threads; NaN where there is no /proc."""
        fields = _proc(self._process.pid, "stat").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") if fields else float("nan")

    def resident_mb(self) -> float:
        fields = _proc(self._process.pid, "statm").split()
        return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6 if fields else float("nan")

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(10)

    def _write(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message, ensure_ascii=False).encode() + b"\n")
        self._process.stdin.flush()


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--quick", action="store_true", help="200 and 1,000 memories")
    sizes = (200, 1000) if arguments.parse_args().quick else (1000, 10_000)
    with tempfile.TemporaryDirectory(prefix="memory-server-benchmark-") as folder:
        rows = [*_starts(Path(folder)), *_sizes(Path(folder) / "memory.db", sizes)]
    command = " ".join(["python", "scripts/bench/benchmark.py", *sys.argv[1:]])
    print(f"`{command}` on {machine()}:\n")
    print("| measured | value |\n| --- | --- |")
    for name, value in rows:
        print(f"| {name} | {value} |")


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
            facts = server.call("memory_search", {"query": corpus.questions(1)[0]})
            if "degraded" not in facts and any(hit["why"]["meaning"] > 0 for hit in facts["results"]):
                break
            time.sleep(0.01)
        wall, cpu, resident = server.since_start(), server.cpu_seconds(), server.resident_mb()
    yield f"start to first semantic search at {size:,}", f"{wall:.2f} s ({cpu:.2f} s CPU)"
    yield "resident memory then", f"{resident:.0f} MB"


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
            _note(f"{number:,} of {len(memories):,} stored")
    for _ in range(under_way):
        server.receive()
    return time.perf_counter() - began


def wait_until_embedded(server: Server) -> float:
    began = time.perf_counter()
    while waiting := server.call("memory_stats", {})["embeddings"]["waiting"]:
        _note(f"{waiting:,} wait for their embedding")
        time.sleep(0.5)
    return time.perf_counter() - began


def _p50(server: Server, tool: str, calls: Sequence[dict[str, Any]]) -> float:
    """Milliseconds from writing the request to reading its answer."""
    took = []
    for arguments in calls:
        began = time.perf_counter()
        server.call(tool, arguments)
        took.append(1000 * (time.perf_counter() - began))
    return median(took)


@contextmanager
def started(db: Path, *arguments: str) -> Iterator[Server]:
    """The server, until the block ends."""
    server = Server(db, *arguments)
    try:
        yield server
    finally:
        server.close()


def _proc(pid: int, name: str) -> str:
    path = Path(f"/proc/{pid}/{name}")
    return path.read_text() if path.exists() else ""


def machine() -> str:
    return f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"


def _note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
