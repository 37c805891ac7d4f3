"""The disk is full again and again: a refused write changes nothing, and writes go on when there is room.

As root a real server writes to a small file system of its own; elsewhere the tools write through a file system that
refuses random writes.
"""

import os
import random
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from torture.ledger import Ask, Ledger, look
from torture.local import Local, mounted
from torture.tally import Goes, Tally
from torture.wire import Server, traceback_in

SIZE = 6_000_000
"""Bytes of the small disk."""

FULL_STEPS, FREE_STEPS = 12, 4
"""Writes while there is hardly room, and after there is room again."""

CAUSE = re.compile("disk that holds .* is full")

Fill = Callable[[bool], None]
"""Take nearly all of the room, or give it back."""


def run(chance: random.Random, goes: Goes, folder: Path, small: bool | None = None) -> list[Tally]:
    """`small`: whether to mount a small disk; None: where we may."""
    place = folder / "small"
    place.mkdir()
    if small is False or not mount(place):
        return [_refusing(chance, goes, place)]
    try:
        return [_small(chance, goes, place, folder)]
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def mount(place: Path, size: int = SIZE, more: str = "mode=755") -> bool:
    """Mount a small file system with `more` options; false where we may not."""
    if shutil.which("mount") is None or os.name == "nt" or os.geteuid() != 0:
        return False
    options = ["-t", "tmpfs", "-o", f"size={size},{more}", "tmpfs", str(place)]
    return subprocess.run(["mount", *options], capture_output=True, check=False).returncode == 0


def _small(chance: random.Random, goes: Goes, place: Path, folder: Path) -> Tally:
    tally = Tally("full disk")
    server = Server(place / "memory.db", folder)
    ballast = place / "ballast"

    def fill(full: bool) -> None:
        ballast.unlink(missing_ok=True)
        if full:
            state = os.statvfs(place)
            room = state.f_bavail * state.f_frsize - chance.randrange(0, 80_000)
            with ballast.open("wb") as file:
                file.write(bytes(max(0, room)))

    ledger = Ledger(random.Random(chance.random()))
    ledger.step(server.call)
    _rounds(ledger, goes, place / "memory.db", server.call, fill, tally)
    if server.leave() != 0:
        tally.other.append(f"the server ended with {server.process.returncode}")
    tally.other += traceback_in(server)
    return tally


def _refusing(chance: random.Random, goes: Goes, place: Path) -> Tally:
    tally = Tally("full disk, simulated")
    share = 0.0
    with mounted(lambda: chance.random() < share):
        local = Local(place / "memory.db")

        def fill(full: bool) -> None:
            nonlocal share
            share = chance.choice([0.01, 0.05, 0.3]) if full else 0.0
            local.work()

        ledger = Ledger(random.Random(chance.random()))
        ledger.step(local.call)
        _rounds(ledger, goes, place / "memory.db", local.call, fill, tally)
        local.close()
    return tally


def _rounds(ledger: Ledger, goes: Goes, db: Path, ask: Ask, fill: Fill, tally: Tally) -> None:
    refused = 0
    while goes():
        tally.rounds += 1
        what = f"round {tally.rounds}"
        fill(True)
        for _ in range(FULL_STEPS):
            ledger.step(ask)
        tally.other += [
            f"{what}: names no cause: {line}" for line in ledger.refusals if not CAUSE.search(line)
        ]
        refused += len(ledger.refusals)
        ledger.refusals.clear()
        fill(False)
        for _ in range(FREE_STEPS):
            ledger.step(ask)
        tally.other += [f"{what}: refused though there is room: {line}" for line in ledger.refusals]
        ledger.refusals.clear()
        stored, problems = look(db)
        tally.damaged += [f"{what}: {problem}" for problem in problems]
        tally.lost += [] if problems else ledger.compare(stored, what)
    tally.acknowledged = ledger.acknowledged
    tally.notes.append(f"{refused} writes were refused")
