"""Measures the hooks as clients run them, a process for each event: its CPU time. Prints markdown.

    python scripts/lab/bench/hooks.py            1,000 memories
    python scripts/lab/bench/hooks.py --write    also writes the figures into docs/performance.md

The first run of each command is cold: it is told apart. CPU time is that of the whole process, read when it ends, so
this needs a system with wait4. What an engine does for a hook is not in it.
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
from report import Report
from server import note, started, wait_until_embedded
from show.pages import ROOT

RUNS = 15
SIZE = 1_000
PROMPT = "Why was the audit report encrypted, and by whom?"

SPELLING = ("--embedder", "hashing")
"""No hook embeds anything: so the files are filled in a minute."""

OFF = ("--engine", "off")

Measured = tuple[float, float]
"""CPU and wall time of a process in seconds."""


def main() -> None:
    report = Report(__file__)
    with tempfile.TemporaryDirectory(prefix="memory-server-benchmark-") as folder:
        rows = [*_alone(), *_of_a_file(Path(folder))]
    report.publish(("a process", "CPU, best", "CPU, median", "first run, CPU"), rows)


def _alone() -> Iterator[tuple[str, ...]]:
    yield _row('`python -c "import apsw"`', ["-c", "import apsw"])
    yield _row("`memory-server --version`", ["-m", "memory_server", "--version"])


def _of_a_file(folder: Path) -> Iterator[tuple[str, ...]]:
    db = folder / "ledger" / "memory.db"
    db.parent.mkdir()
    with started(db, *SPELLING) as server:
        for memory in corpus.memories(SIZE):
            server.call("memory_store", memory)
        wait_until_embedded(server)
        for event in ("SessionStart", "UserPromptSubmit", "Stop"):
            yield _event(f"{event}, an engine answers", event, db)
    for event in ("SessionStart", "Stop"):
        yield _event(f"{event}, `--engine off`", event, db, *OFF)


def _event(name: str, event: str, db: Path, *flags: str) -> tuple[str, ...]:
    sent = {"cwd": str(db.parent), "source": "startup", "prompt": PROMPT, "last_assistant_message": PROMPT}
    arguments = ["-m", "memory_server", "hook", event, "--db", str(db), *flags]
    return _row(name, arguments, sent)


def _row(name: str, arguments: list[str], event: dict[str, str] | None = None) -> tuple[str, ...]:
    first, *others = [
        run(arguments, {**(event or {}), "session_id": f"s{number}"})[0] for number in range(RUNS + 1)
    ]
    note(f"{name}: {min(others):.3f}")
    return (name, *(f"{seconds:.3f} s" for seconds in (min(others), median(others), first)))


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
