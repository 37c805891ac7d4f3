"""A short torture with fixed seeds; `scripts/lab/torture/all.py` is the long one. What is wrong, it finds."""

import os
import random
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from torture import commands, disk, engines, fuzz, kills, locks, power
from torture.tally import Goes, Tally

from memory_server.sqlite import pragmas

pytestmark = pytest.mark.slow

SEED = 1

Run = Callable[[random.Random, Goes, Path], list[Tally]]

PARTS: dict[str, tuple[int, Run]] = {
    "kills": (1, lambda chance, goes, folder: kills.run(chance, goes, folder, most=40)),
    "engines": (1, lambda chance, goes, folder: engines.run(chance, goes, folder, faults=6)),
    "power": (40, power.run),
    "locks": (1, lambda chance, goes, folder: locks.run(chance, goes, folder, seconds=1.5, long_every=0)),
    "disk": (4, disk.run),
    "full disk without a mount": (
        4,
        lambda chance, goes, folder: disk.run(chance, goes, folder, small=False),
    ),
    "commands": (
        3,
        lambda chance, goes, folder: commands.run(chance, goes, folder, wait=1, workers=2, small=False),
    ),
    "fuzz": (1, lambda chance, goes, folder: fuzz.run(chance, goes, folder, calls=300)),
}


def torture(run: Run, rounds: int, folder: Path) -> list[Tally]:
    left = iter(range(rounds))
    return run(random.Random(SEED), lambda: next(left, None) is not None, folder)


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("part", PARTS)
def test_a_short_torture_finds_nothing(part: str, tmp_path: Path, user_folders: dict[str, str]) -> None:
    rounds, run = PARTS[part]
    tallies = torture(run, rounds, tmp_path)
    assert [line for tally in tallies for line in tally.faults] == []
    assert all(tally.rounds >= rounds and tally.acknowledged > 10 for tally in tallies)


@pytest.mark.parametrize("level", ["off", "full"])
def test_power_cuts_find_what_is_not_flushed(
    level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user_folders: dict[str, str]
) -> None:
    """`full` does not flush the folder after the journal is gone: a commit may be undone."""

    def flush_less(connection: apsw.Connection) -> None:
        connection.pragma("synchronous", level)

    monkeypatch.setattr(pragmas, "flush_every_commit", flush_less)
    (tally,) = torture(power.run, 40, tmp_path)
    assert tally.lost if level == "full" else tally.damaged
