"""Measures the start: processor time and wall time to `tools/list`, beside a server of one tool on the same SDK.

    python scripts/bench/start.py            12 rounds, in which each takes its turn
    python scripts/bench/start.py --quick    3 rounds
    python scripts/bench/start.py --write    also writes the figures into docs/performance.md

Processor time is that of the whole process, all threads, user and system. It needs Linux.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from report import Report

ROUNDS = 12

ONE_TOOL = """
from mcp.server.mcpserver import MCPServer

server = MCPServer("one-tool")

@server.tool()
def say(text: str) -> str:
    "Say it again."
    return text

server.run("stdio")
"""

INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "1"},
}

REST = 2.0
"""Seconds of silence after which the resident memory is read: what is loaded in the background is there."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds from the start of the process: wall and processor time to `tools/list`, wall time to the first call."""

    wall: float
    cpu: float
    call: float


def main() -> None:
    report = Report(__file__, quick="3 rounds")
    with tempfile.TemporaryDirectory(prefix="memory-server-start-") as name:
        folder = Path(name)
        os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program is compiled
        ours = [sys.executable, "-m", "memory_server", "--db", str(folder / "memory.db")]
        kinds: dict[str, tuple[Sequence[str], str]] = {
            "one tool on the same SDK": ([sys.executable, "-c", ONE_TOOL], "say"),
            "memory-server, `--no-early-answers`": ([*ours, "--no-early-answers"], "memory_stats"),
            "memory-server": (ours, "memory_stats"),
        }
        costs: dict[str, list[Cost]] = {name: [] for name in kinds}
        for number in range(1 + (3 if report.quick else ROUNDS)):
            for name, (command, tool) in kinds.items():
                cost = measured(command, tool)
                if number:  # the first round fills the caches
                    costs[name].append(cost)
    floor = median(each.cpu for each in costs["one tool on the same SDK"])
    rows = [
        (
            name,
            f"{median(each.cpu for each in found):.3f} s",
            f"{median(each.cpu for each in found) / floor:.2f} x",
            f"{median(each.wall for each in found):.2f} s",
            f"{median(each.call for each in found):.2f} s",
        )
        for name, found in costs.items()
    ]
    report.publish(
        ("start to `tools/list`, median", "CPU", "to the first", "wall", "first call answered"), rows
    )


def measured(command: Sequence[str], tool: str) -> Cost:
    began = time.perf_counter()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        _ask(process, 0, "initialize", INITIALIZE)
        _send(process, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        _ask(process, 1, "tools/list", {})
        wall, cpu = time.perf_counter() - began, cpu_seconds(process.pid)
        arguments = {"text": "x"} if tool == "say" else {}
        _ask(process, 2, "tools/call", {"name": tool, "arguments": arguments})
        call = time.perf_counter() - began
        assert process.stdin is not None
        process.stdin.close()
        process.wait(20)
    return Cost(wall, cpu, call)


def cpu_seconds(pid: int) -> float:
    """Of another process, in nanoseconds' resolution: the clock whose number Linux makes of the process id."""
    return time.clock_gettime(~pid << 3 | 2)


def _ask(process: "subprocess.Popen[bytes]", id: int, method: str, params: dict[str, Any]) -> None:
    _send(process, {"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    assert process.stdout is not None
    answer = json.loads(process.stdout.readline())
    assert answer["id"] == id, answer
    assert "result" in answer, answer


def _send(process: "subprocess.Popen[bytes]", message: dict[str, Any]) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()


if __name__ == "__main__":
    main()
