"""Kills, power cuts, locks, full disks and random arguments: prints a table, and ends with 1 where anything is wrong.

    python scripts/lab/torture/all.py --minutes 10 [--only kills,engines,power,locks,disk,fuzz,servers,commands]

The time is shared in equal parts. What was deleted and its erasing have a torture of their own: erase.py.
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[up]) for up in (1, 3)]

from torture import commands, disk, engines, fuzz, kills, locks, power, servers  # noqa: E402
from torture.tally import Goes, Tally  # noqa: E402

PARTS: dict[str, Callable[[random.Random, Goes, Path], list[Tally]]] = {
    "kills": kills.run,
    "engines": engines.run,
    "power": power.run,
    "locks": locks.run,
    "disk": disk.run,
    "fuzz": fuzz.run,
    "servers": servers.run,
    "commands": commands.run,
}

HEAD = ("what", "rounds", "acknowledged rows", "lost", "damaged files", "other faults")


def torture(name: str, seconds: float, seed: int) -> list[Tally]:
    """One part for some seconds, at least one round."""
    end = time.monotonic() + seconds
    rounds = iter([True])

    def goes() -> bool:
        return next(rounds, False) or time.monotonic() < end

    with tempfile.TemporaryDirectory(prefix="memory-server-torture-") as folder:
        return PARTS[name](random.Random(f"{name} {seed}"), goes, Path(folder))


def row(tally: Tally) -> str:
    figures = (
        tally.rounds, tally.acknowledged, len(tally.lost), len(tally.damaged), len(tally.other)
    )  # fmt: skip
    return " | ".join(["| " + tally.what, *(f"{figure:,}" for figure in figures)]) + " |"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(PARTS))
    options = parser.parse_args()
    if unknown := set(options.only) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}: there are {', '.join(PARTS)}")
    print(f"| {' | '.join(HEAD)} |\n|{' --- |' * len(HEAD)}", flush=True)
    faulty = False
    for name in options.only:
        for tally in torture(name, options.minutes * 60 / len(options.only), options.seed):
            print(row(tally), flush=True)
            for line in tally.faults[:40]:
                print(f"    {tally.what}: {line[:3000]}", file=sys.stderr, flush=True)
            for line in tally.notes:
                print(f"    {tally.what}: {line}", file=sys.stderr, flush=True)
            faulty = faulty or bool(tally.faults)
    return int(faulty)


if __name__ == "__main__":
    sys.exit(main())
