"""Prints what a first answer costs on a machine with transcripts: `python scripts/lab/quality/first_answer.py DATA…`.

The sessions of the sets are written as transcripts of Claude Code into a made-up home. `import --all` takes them in,
then questions are asked with `recall` before anything is embedded, and after. All figures are seconds of CPU.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[up]) for up in (1, 3)]

from memory_server import app  # noqa: E402
from memory_server.app import Services  # noqa: E402
from memory_server.settings import Settings  # noqa: E402
from quality import data, transcripts  # noqa: E402
from quality.data import Store  # noqa: E402

QUESTIONS = 20
"""Questions that are asked of each store."""


def write_sessions(stores: Sequence[Store], projects: Path, most: int) -> Iterator[Path]:
    """Write the sessions of the stores as transcripts, a folder for each store; yield their files."""
    for number, store in enumerate(stores):
        folder = projects / f"-srv-{number}"
        folder.mkdir(parents=True)
        for session in dict.fromkeys(memory.session for memory in store.memories):
            memories = [memory for memory in store.memories if memory.session == session]
            person = memories[0].text.partition(":")[0]
            path = folder / f"{session}.jsonl"
            path.write_text("".join(transcripts.as_line(memory, person) for memory in memories), "utf-8")
            yield path
            most -= 1
            if not most:
                return


def import_all(home: Path, db: Path) -> float:
    """Import all of a home by the program; return its seconds of CPU."""
    words = ["--db", str(db), "--engine", "off", "import", "--all"]
    subprocess.run(
        [sys.executable, "-m", "memory_server", *words],
        env={**os.environ, "HOME": str(home)},
        check=True,
        capture_output=True,
    )
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def say_answers(services: Services, stores: Sequence[Store], when: str) -> None:
    """Print how often a session with evidence is first and among the first five, and what the first question costs."""
    started = time.process_time()
    transcripts.of_recall(services, stores[0].questions[0].text)
    first = time.process_time() - started
    asked = [replace(store, questions=store.questions[:QUESTIONS]) for store in stores]
    ranks = [rank for store in asked for rank in transcripts.ranks(services, store, transcripts.of_recall)]
    places = [place for place, _ in ranks]
    at_1, at_5 = (sum(place < most for place in places) / len(places) for most in (1, 5))
    print(f"{when}: {len(places)} questions, hit@1 {at_1:.3f}, hit@5 {at_5:.3f}, the first in {first:.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, nargs="+", help="the questions are those of the first set")
    parser.add_argument("--sessions", type=int, default=300)
    arguments = parser.parse_args()
    sets = [list(data.read(path)) for path in arguments.data]
    with tempfile.TemporaryDirectory() as folder:
        home, db = Path(folder) / "home", Path(folder) / "memory.db"
        stores = [store for of_set in sets for store in of_set]
        files = list(write_sessions(stores, home / ".claude/projects", arguments.sessions))
        print(f"{len(files)} transcripts, imported in {import_all(home, db):.1f} s")
        services = app.build(Settings(db=db, no_learning=True))
        services.queue.warm_up()
        say_answers(services, sets[0], "by words")
        started = time.process_time()
        services.queue.work()
        print(f"embedded in {time.process_time() - started:.1f} s")
        say_answers(services, sets[0], "by words and meaning")
        services.close()


if __name__ == "__main__":
    main()
