"""Measures the start: processor time and wall time to `tools/list`, beside a server of one tool on the same SDK.

    python scripts/lab/bench/start.py            12 rounds, in which each takes its turn
    python scripts/lab/bench/start.py --quick    3 rounds
    python scripts/lab/bench/start.py --write    also writes the figures into docs/performance.md

Processor time is that of the whole process, all threads, user and system. It needs Linux.
"""

import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from report import Report
from scale.floors import ONE_TOOL
from server import Server, ours

ROUNDS = 12


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
        db = folder / "memory.db"
        kinds: dict[str, tuple[Sequence[str], str]] = {
            "one tool on the same SDK": (ONE_TOOL, "nothing"),
            "memory-server, `--no-early-answers`": (ours(db, "--no-early-answers"), "memory_stats"),
            "memory-server": (ours(db), "memory_stats"),
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
    server = Server(command)
    server.request("tools/list", {})
    wall, cpu = time.perf_counter() - began, server.cpu_seconds()
    server.request("tools/call", {"name": tool, "arguments": {}})
    call = time.perf_counter() - began
    server.close()
    return Cost(wall, cpu, call)


if __name__ == "__main__":
    main()
