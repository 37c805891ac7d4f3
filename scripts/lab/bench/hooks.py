"""Measures the hooks as clients run them, a process for each event: CPU and wall time. Prints markdown.

    python scripts/lab/bench/hooks.py            1,000 and 10,000 memories, 100 and 1,000 triggers
    python scripts/lab/bench/hooks.py --quick    1,000 memories
    python scripts/lab/bench/hooks.py --write    also writes the figures into docs/performance.md

The first run of each command is cold: it is told apart. CPU time is that of the whole process, read when it ends, so
this needs a system with wait4.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import corpus
import long_term
from report import Report
from server import note, started, wait_until_embedded
from show.pages import ROOT

RUNS = 15
PROMPT = "Why was the audit report encrypted, and by whom?"

SPELLING = ("--embedder", "hashing")
"""No hook embeds anything: so the files are filled in a minute."""

Measured = tuple[float, float]
"""CPU and wall time of a process in seconds."""


def main() -> None:
    report = Report(__file__, quick="1,000 memories")
    sizes = (1_000,) if report.quick else (1_000, 10_000)
    with tempfile.TemporaryDirectory(prefix="memory-server-benchmark-") as folder:
        rows = [*_alone(), *_sizes(Path(folder), sizes)]
        if not report.quick:
            rows += _triggers(Path(folder))
    report.publish(("a process", "CPU, best", "CPU, median", "wall, median", "first run, CPU"), rows)


def _alone() -> Iterator[tuple[str, ...]]:
    yield _row('`python -c "import apsw"`', ["-c", "import apsw"])
    yield _row("`memory-server --version`", ["-m", "memory_server", "--version"])


def _sizes(folder: Path, sizes: tuple[int, ...]) -> Iterator[tuple[str, ...]]:
    db = folder / "ledger" / "memory.db"
    db.parent.mkdir()
    filled = 0
    for size in sizes:
        with started(db, *SPELLING) as server:
            for memory in corpus.memories(size)[filled:]:
                server.call("memory_store", memory)
            wait_until_embedded(server)
        filled = size
        for event in ("SessionStart", "UserPromptSubmit", "Stop"):
            yield _event(f"{event}, {size:,} memories", event, db)
    with started(db, *SPELLING) as server:
        wait_until_embedded(server)
        yield _event(f"UserPromptSubmit, {filled:,} memories, a server answers", "UserPromptSubmit", db)


def _triggers(folder: Path) -> Iterator[tuple[str, ...]]:
    """Files of triggers of ordinary shapes, one of twenty in JavaScript; the prompt has keys of some."""
    for size in (100, 1_000):
        db = folder / f"{size}.db"
        long_term.fill(db, size, 0)
        yield _event(f"UserPromptSubmit, {size:,} triggers", "UserPromptSubmit", db)


def _event(name: str, event: str, db: Path) -> tuple[str, ...]:
    sent = {"cwd": str(db.parent), "source": "startup", "prompt": PROMPT, "last_assistant_message": PROMPT}
    arguments = ["-m", "memory_server", "hook", event, "--db", str(db)]
    return _row(name, arguments, sent)


def _row(name: str, arguments: list[str], event: dict[str, str] | None = None) -> tuple[str, ...]:
    first, *others = [
        run(arguments, {**(event or {}), "session_id": f"s{number}"}) for number in range(RUNS + 1)
    ]
    cpu, wall = zip(*others, strict=True)
    note(f"{name}: {min(cpu):.3f}")
    return (name, f"{min(cpu):.3f} s", f"{median(cpu):.3f} s", f"{median(wall):.2f} s", f"{first[0]:.3f} s")


def run(arguments: list[str], sent: dict[str, str]) -> Measured:
    """What a process of Python with these arguments takes, which gets an event on its standard input."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": ""}
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *arguments], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=env, cwd=ROOT
    )
    assert process.stdin is not None
    with process.stdin:
        process.stdin.write(json.dumps(sent).encode())
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return used.ru_utime + used.ru_stime, time.perf_counter() - began


if __name__ == "__main__":
    main()
