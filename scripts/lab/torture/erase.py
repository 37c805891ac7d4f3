"""Proves that what is forgotten leaves the file, and that erasing never harms it.

    scripts/lab/torture/erase.py [rounds] [--seed N]

Random histories are erased and the bytes of the file searched; the process is killed amid the erasing, power is cut
(some of the writes since the last flush reach the disk, in part or not at all), other processes write with warm
caches, and the disk is full. It prints what it found and ends with 1 where that is not nothing.
"""

import argparse
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[up]) for up in (1, 3)]

import apsw  # noqa: E402

from memory_server.errors import Unavailable  # noqa: E402
from memory_server.services.erasure import ErasureService  # noqa: E402
from memory_server.sqlite import deleted_words, erasing  # noqa: E402
from memory_server.sqlite.database import Database  # noqa: E402
from memory_server.sqlite.deleted_words import COLUMNS, Removal  # noqa: E402
from torture.histories import History  # noqa: E402
from torture.ledger import clock  # noqa: E402
from torture.recording import put, recorded  # noqa: E402

MOMENTS = {
    "memories": "created_at",
    "facts": "created_at",
    "turns": "created_at",
    "memory_history": "replaced_at",
}
"""A column of each table that can be written again in place."""

tried: Counter[str] = Counter()
"""How many kills and power cuts there were."""

Faults = list[str]


def no_rest(_: float) -> None:
    """A thousand histories would take hours."""


def history(folder: Path, seed: int, steps: tuple[int, int] = (5, 60)) -> History:
    """A database with a random past, whose last step was a deletion."""
    past = History(Database(folder / "memory.db", clock), random.Random(seed))
    for _ in range(past.chance.randrange(*steps)):
        past.step()
    past.forget(past.chance.choice([0, 0.1, 0.5]))
    return past


def erase(past: History) -> None:
    """Half the time as small files are erased, half the time in the many short steps of large ones."""
    erasing.LOOKS = past.chance.choice([0, 2])  # 0: as where others write all the time
    small, pages = past.chance.choice([(1000, 128), (0, past.chance.choice([1, 3, 20]))])
    deleted_words.Removal = partial(Removal, small=small, pages=pages)  # type: ignore[assignment,misc]
    ErasureService(past.database, no_rest).erase()


def judge(past: History, path: Path, what: str) -> Faults:
    """Says what is wrong after an erasing: traces, lost rows, damage, work that is still due."""
    faults = [
        f"{what}: {len(traces)} traces such as {min(traces)!r}" for traces in [past.traces(path)] if traces
    ]
    faults += [f"{what}: {row} is lost" for row in past.lost()]
    with past.database.write() as tx:
        faults += [f"{what}: {row[0]}" for row in tx.rows("PRAGMA integrity_check") if row[0] != "ok"]
        for index in COLUMNS:
            tx.execute(f"INSERT INTO {index} ({index}) VALUES ('integrity-check')")
        faults += [f"{what}: {name} is still due" for name in tx.erasures.due()]
    return faults


def whole(past: History, image: Path, what: str) -> Faults:
    """Says what is wrong with a main file alone, as a kill or a power cut left it."""
    connection = apsw.Connection(str(image), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        faults = [
            f"{what}: {row[0]}" for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"
        ]
    finally:
        connection.close()
    copy = History(Database(image, clock), past.chance, past.rows, past.gone)
    faults += [f"{what}: {row} is lost" for row in copy.lost()]
    copy.database.close()
    return faults


# Histories


def histories(folder: Path, seed: int) -> Faults:
    past = history(folder, seed)
    erase(past)
    faults = judge(past, folder / "memory.db", f"history {seed}")
    past.database.close()
    return faults


# Kills


def child_erases(path: Path) -> None:
    database = Database(path, clock)
    database.open()
    print("ready", flush=True)
    sys.stdin.readline()
    with recorded(pause=0.001):  # else it is done before a kill comes
        deleted_words.Removal = partial(Removal, small=0, pages=5)  # type: ignore[assignment,misc]
        ErasureService(database, no_rest).erase()
    print("done", flush=True)


def kills(folder: Path, seed: int) -> Faults:
    """Each time a little later, until the erasing ends before the kill; then nothing may be left to erase."""
    path, alone = folder / "memory.db", folder / "alone.db"
    past = history(folder, seed, (30, 60))
    past.database.close()
    faults: Faults = []
    delay, done, kills = 0.0, False, 0
    while not done and not faults:
        with child("erases", path) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write("\n")
            process.stdin.flush()
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
            done = "done" in process.stdout.read()
        # SQLite's own commits may be under way; what the erasing itself leaves is whole without a journal.
        if not path.with_name("memory.db-journal").exists():
            shutil.copy(path, alone)
            faults += whole(past, alone, f"kill {seed} after {delay:.3f} s")
        delay += past.chance.uniform(0.005, 0.06)
        kills += 1
        tried["kills"] += 1
    past.database = Database(path, clock)
    erase(past)
    faults += judge(past, path, f"after {kills} kills of {seed}")
    past.database.close()
    return faults


@contextmanager
def child(role: str, *arguments: object) -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        [sys.executable, __file__, "--child", role, *map(str, arguments)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.kill()
        process.communicate()


# Power cuts


def power_cuts(folder: Path, seed: int) -> Faults:
    """Twenty disks as a power cut at a random moment of the erasing may leave them."""
    path, alone = folder / "memory.db", folder / "alone.db"
    past = history(folder, seed)
    past.database.close()
    before = path.read_bytes()
    past.database = Database(path, clock)
    with recorded() as writes:
        past.database.erase()
    past.database.close()
    flushes = [place for place, write in enumerate(writes) if write is None]
    faults: Faults = []
    if writes and flushes != [len(writes) - 1]:
        faults.append(f"cut {seed}: flushed at {flushes} of {len(writes)} writes")
    for number in range(20):
        image = bytearray(before)
        last = past.chance.randrange(len(writes) + 1)
        reach = past.chance.choice([1.0, 0.9, 0.5, 0.1])
        for write in writes[:last]:
            if write is not None and past.chance.random() < reach:
                put(image, write, past.chance)
        alone.write_bytes(image)
        tried["power cuts"] += 1
        faults += whole(past, alone, f"cut {seed}.{number} after {last} writes")
    return faults


# Other windows


def child_writes(path: Path, seed: int, steps: int) -> None:
    past = History(Database(path, clock), random.Random(seed))
    past.database.open()
    print("ready", flush=True)
    for _ in range(steps):
        past.step()
    rows = [(*row, sorted(marks)) for row, marks in past.rows.items()]
    print(json.dumps({"rows": rows, "gone": sorted(past.gone)}), flush=True)
    past.database.close()


def child_keeps_warm(path: Path) -> None:
    """Reads the whole file, waits, and then writes pages that it has in its cache."""
    database = Database(path, clock)
    for writing in (False, True):
        with database.write() as tx:
            tx.connection.pragma("cache_size", 100_000)
            for table, column in MOMENTS.items():
                tx.rows(f"SELECT * FROM {table}")
                if writing:
                    tx.execute(f"UPDATE {table} SET {column} = '2020' || substr({column}, 5)")
        print("ready", flush=True)
        sys.stdin.readline()
    database.close()


def leave_traces(past: History, path: Path) -> None:
    """Write and delete until the file holds traces outside of the word indexes and the names of projects; most
    deletions leave none there."""
    for _ in range(30):
        for _ in range(10):
            past.step()
        past.forget(0.5)
        with past.database.write() as tx:
            tx.projects.delete_empty()
        for index in COLUMNS:
            ErasureService(past.database, pause=no_rest).remove_words(index)
        if past.traces(path):
            return


def windows(folder: Path, seed: int) -> Faults:
    """Another process writes while this one erases; then one with a warm cache writes after it."""
    path = folder / "memory.db"
    past = history(folder, seed, (10, 30))
    with child("writes", path, seed + 1_000_000, 30) as process:
        for _ in range(10):
            past.step()
            erase(past)
        assert process.stdout is not None
        report = json.loads(process.stdout.readline())
    past.rows |= {(table, id): set(marks) for table, id, marks in report["rows"]}
    past.gone |= set(report["gone"])
    leave_traces(past, path)
    with child("keeps_warm", path) as process:
        past.database.erase()  # and no other write: the erasing alone must let the other process drop its pages
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("\n")
        process.stdin.flush()
        process.stdout.readline()
    faults = [f"windows {seed}: {len(past.traces(path))} traces come back"] if past.traces(path) else []
    erase(past)
    faults += judge(past, path, f"windows {seed}")
    past.database.close()
    return faults


# Full disks


def full_disks(folder: Path, seed: int) -> Faults:
    """Whatever fails is done later."""
    path, alone = folder / "memory.db", folder / "alone.db"
    past = history(folder, seed)
    faults: Faults = []
    with past.database.write() as tx:
        tx.connection.pragma("max_page_count", int(tx.value("PRAGMA page_count")))
    for fail_at in (0, 1, past.chance.randrange(2, 30)):
        with recorded(fail_at):
            try:
                erase(past)
            except Unavailable:
                shutil.copy(path, alone)
                faults += whole(past, alone, f"disk {seed} full at {fail_at}")
                with past.database.read() as reading:
                    if not reading.erasures.due():
                        faults.append(f"disk {seed} full at {fail_at}: nothing is due any more")
    with past.database.write() as tx:
        tx.connection.pragma("max_page_count", 1_000_000)
    erase(past)
    faults += judge(past, path, f"disk {seed}")
    past.database.close()
    return faults


PARTS: dict[str, tuple[Callable[[Path, int], Faults], float]] = {
    "histories": (histories, 1.0),
    "power cuts": (power_cuts, 0.1),
    "kills": (kills, 0.01),
    "windows": (windows, 0.05),
    "full disks": (full_disks, 0.05),
}
"""What is tried, and how often in each round."""

CHILDREN: dict[str, Callable[..., None]] = {
    "erases": child_erases,
    "writes": child_writes,
    "keeps_warm": child_keeps_warm,
}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rounds", nargs="?", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", choices=list(PARTS), action="append")
    chosen = parser.parse_args()
    failed = False
    for name in chosen.part or PARTS:
        run, share = PARTS[name]
        times = max(1, round(chosen.rounds * share))
        began = time.monotonic()
        faults: Faults = []
        for seed in range(chosen.seed, chosen.seed + times):
            with tempfile.TemporaryDirectory() as folder:
                faults += run(Path(folder), seed)
        seconds = time.monotonic() - began
        print(
            f"{name}: {tried[name] or times} in {times} databases, {len(faults)} wrong, {seconds:.0f} s",
            flush=True,
        )
        print("".join(f"    {line}\n" for line in faults[:20]), end="", flush=True)
        failed = failed or bool(faults)
    return int(failed)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        role, path, *numbers = sys.argv[2:]
        CHILDREN[role](Path(path), *map(int, numbers))
    else:
        sys.exit(main())
