"""The server process that the benchmarks measure. To read its CPU time and memory needs Linux."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class Server:
    """A server process spoken to over its pipes, without the cost of a client library."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._last_id = 0
        hello = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "benchmark", "version": "1"},
        }
        self.request("initialize", hello)
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._last_id += 1
        self._write({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params})
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

    @property
    def pid(self) -> int:
        return self._process.pid

    def cpu_seconds(self) -> float:
        """User and system time of the process with all its threads."""
        return cpu_seconds(self._process.pid)

    def cpu_seconds_with_children(self) -> float:
        """The same together with what it has started and what that has started, such as an engine and its worker."""
        return cpu_seconds_with_children(self._process.pid)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(10)

    def _write(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message, ensure_ascii=False).encode() + b"\n")
        self._process.stdin.flush()


def ours(db: Path, *arguments: str) -> list[str]:
    """The command line of our server, which serves in its own process unless the arguments say otherwise."""
    return [sys.executable, "-m", "memory_server", "--db", str(db), "--engine", "off", *arguments]


def wait_until_embedded(server: Server) -> float:
    began = time.perf_counter()
    while waiting := server.call("memory_stats", {})["embeddings"]["waiting"]:
        note(f"{waiting:,} wait for their embedding")
        time.sleep(0.5)
    return time.perf_counter() - began


def note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


@contextmanager
def started(db: Path, *arguments: str) -> Iterator[Server]:
    """The server, until the block ends."""
    server = Server(ours(db, *arguments))
    try:
        yield server
    finally:
        server.close()


def cpu_seconds_with_children(pid: int) -> float:
    """User and system time of another process and of what it has started, such as an engine and its worker."""
    return sum(map(cpu_seconds, _family(pid)))


def _family(pid: int) -> Iterator[int]:
    """Yield a process and its descendants that run."""
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in children.read_text().split():
            yield from _family(int(child))


def cpu_seconds(pid: int) -> float:
    """User and system time of another process with all its threads.

    Linux makes the number of its clock of the process id: `MAKE_PROCESS_CPUCLOCK` in include/linux/posix-timers.h.
    """
    return time.clock_gettime(~pid << 3 | 2)


def resident_mb(pid: int) -> float:
    """Resident memory of another process and of what it has started, in 10^6 bytes: what they share counts for each."""
    pages = sum(int(Path(f"/proc/{number}/statm").read_text().split()[1]) for number in _family(pid))
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
