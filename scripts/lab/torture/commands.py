"""Random histories of commands and starts, with a fault at a random step of each.

    python scripts/lab/torture/commands.py NUMBER…     the histories with these numbers again, with all that they did

The file is at its path at every moment, what was acknowledged is there, what was said not to be written is not, what
was purged is in no byte of the file, of its copies and of a new backup, and each command ends in time and says why.
"""

import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).resolve().parents[up]) for up in (1, 3)]

from torture import disk
from torture.cluster import Cluster
from torture.command_histories import History
from torture.launched import Program
from torture.tally import Goes, Tally

WAIT = 4.0
"""Seconds that a command waits for others here, so that a thousand histories take minutes; the product's is 20."""

WORKERS = 3
"""Histories at the same time: most of their time is waiting."""

SMALL = 40_000_000
"""Bytes of the small disk."""


def run(
    chance: random.Random,
    goes: Goes,
    folder: Path,
    wait: float = WAIT,
    workers: int = WORKERS,
    small: bool = True,
) -> list[Tally]:
    """`small`: on a small disk that is really full, where we may mount one, and with PostgreSQL where there is one."""
    tally, lock = Tally("commands and starts"), threading.Lock()
    program = Program(wait)
    postgres = _cluster(folder) if small else None

    def work(worker: int) -> None:
        with _disk(folder / f"worker-{worker}", small) as (place, is_small):
            while True:
                with lock:
                    if not goes():
                        return
                    number = chance.randrange(10**9)
                history = play(number, program, place, folder / f"{worker}-{number}", postgres, is_small)
                with lock:
                    _count(tally, history)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    program.close()
    if postgres is not None:
        postgres.stop()
    return [tally]


@contextmanager
def _disk(place: Path, small: bool) -> Iterator[tuple[Path, bool]]:
    """A folder, and whether it is a small disk."""
    place.mkdir()
    is_small = small and disk.mount(place, SMALL)
    try:
        yield place, is_small
    finally:
        if is_small:
            subprocess.run(["umount", "-l", str(place)], check=True)


def play(
    number: int, program: Program, disk: Path, beside: Path, postgres: Cluster | None, is_small: bool
) -> History:
    """One history in a folder of its own on the disk."""
    place = disk / "history"
    for made in (place, place / "home", place / "temporary", beside):
        made.mkdir()
    history = History(number, program, place, beside, postgres, is_small)
    try:
        history.run()
    except Exception as error:  # the other histories go on
        history.faults.append(f"{type(error).__name__}: {error} {traceback.format_exc()[-700:]}")
    shutil.rmtree(place)
    shutil.rmtree(beside)
    return history


def _count(tally: Tally, history: History) -> None:
    tally.rounds += 1
    tally.acknowledged += history.acknowledged
    steps = "; ".join(history.told)
    for line in history.faults:
        faults = tally.damaged if "damaged" in line else tally.lost if ", not " in line else tally.other
        faults.append(f"history {history.number}: {line}\n        {steps}")
    counts = re.findall(r"\d+", "".join(tally.notes)) or [0, 0]
    commands, fired = (int(count) for count in counts)
    tally.notes = [f"{commands + history.commands} commands, {fired + history.fired} faults came"]


def _cluster(folder: Path) -> Cluster | None:
    try:
        return Cluster(folder / "postgres")
    except ImportError:
        return None


def main() -> int:
    program, numbers = Program(WAIT), [int(number) for number in sys.argv[1:]]
    tally = Tally("histories")
    with tempfile.TemporaryDirectory(prefix="memory-server-torture-") as folder:
        beside, postgres = Path(folder), _cluster(Path(folder))
        with _disk(beside / "disk", True) as (place, is_small):
            for number in numbers:
                _count(tally, play(number, program, place, beside / str(number), postgres, is_small))
        if postgres is not None:
            postgres.stop()
    program.close()
    print("\n".join([*tally.faults, *tally.notes]))
    return int(bool(tally.faults))


if __name__ == "__main__":
    sys.exit(main())
