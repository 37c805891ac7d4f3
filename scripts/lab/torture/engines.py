"""Fronts share an engine while both are killed, stopped and kept from their folder: each write is told truly.

A history has three fronts, which write without a pause, and a fault again and again. Of its fronts some are another
version of the program, whose clock jumps. Other rounds start many fronts at once, let clients leave at once, or read
nothing.
"""

import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

from torture import disk
from torture.ledger import Ledger
from torture.tally import Goes, Tally
from torture.windows import IDLE, LEFT, SHORT_IDLE, World, rows, within
from torture.wire import Gone, Silent

FRONTS = 3
THREADS = 2
"""Calls under way at once in each front."""

FAULTS = 20
"""Faults of a history."""

PATIENCE = 20.0
"""Seconds in which writes are acknowledged again after a fault, or another one happens."""

DAYS = 14
"""Days that a clock is wrong at most. What was deleted 30 days ago is purged."""

MANY = 30


def run(
    chance: random.Random, goes: Goes, folder: Path, faults: int = FAULTS, many: int = MANY
) -> list[Tally]:
    tally = Tally("engines and fronts killed, stopped and hindered")
    world = World(folder, chance, tally)
    ledgers = [Ledger(random.Random(chance.random())) for _ in range(FRONTS * THREADS)]
    rounds: list[Callable[[], None]] = [lambda: _history(world, ledgers, faults)] * 6
    rounds += [lambda: _many(world, many), lambda: _brief(world, ledgers[0]), lambda: _unread(world)]
    rounds += [lambda: _full(world, ledgers[0])]
    try:
        while goes():
            tally.rounds += 1
            chance.choice(rounds if tally.rounds > 1 else rounds[:1])()
            world.judge(ledgers)
    finally:
        world.close()
    tally.acknowledged = sum(ledger.acknowledged for ledger in ledgers)
    tally.notes.append(f"{world.kills:,} kills")
    return [tally]


class History:
    """Fronts that write, each replaced when it is killed."""

    def __init__(self, world: World, ledgers: list[Ledger]) -> None:
        self.world, self.chance, self.ledgers = world, world.chance, ledgers
        self.fronts = [world.front() for _ in range(FRONTS)]
        self.over = threading.Event()
        self.threads = [
            threading.Thread(target=self._write, args=(ledger, number % FRONTS), daemon=True)
            for number, ledger in enumerate(ledgers)
        ]
        for thread in self.threads:
            thread.start()

    def _write(self, ledger: Ledger, number: int) -> None:
        while not self.over.is_set():
            front = self.fronts[number]
            try:
                ledger.step(front.call)
            except Gone:
                while self.fronts[number] is front and not self.over.is_set():
                    time.sleep(0.002)
            except Silent as error:
                self.world.tally.other.append(str(error))
                return

    def go_on(self, writes: int) -> None:
        """Wait for so many more acknowledged writes."""
        goal = self.acknowledged + writes
        within(PATIENCE, lambda: self.acknowledged >= goal)

    @property
    def acknowledged(self) -> int:
        return sum(ledger.acknowledged for ledger in self.ledgers)

    def end(self) -> None:
        self.over.set()
        for thread in self.threads:
            thread.join()
        for front in self.fronts:
            self.world.leave(front)

    def kill_front(self) -> None:
        number = self.chance.randrange(FRONTS)
        front = self.fronts[number]
        self.world.kill_front(front)
        with suppress(Gone):
            self.fronts[number] = self.world.front()

    def kill_engine(self) -> None:
        self.world.signal_engines(signal.SIGKILL)

    def kill_both(self) -> None:
        self.kill_engine()
        self.kill_front()

    def kill_starting(self) -> None:
        """Kill a front that starts an engine, at any moment of it."""
        self.kill_engine()
        front = self.world.front(greets=False)
        time.sleep(self.chance.uniform(0, 0.5))
        self.world.kill_front(front)

    def end_engine(self) -> None:
        self.world.signal_engines(self.chance.choice([signal.SIGTERM, signal.SIGINT, signal.SIGHUP]))

    def stop_engine(self) -> None:
        """Stop it for a moment, or for longer than a front waits."""
        with self.stopped():
            time.sleep(self.chance.choice([0.05, 0.5, 0.5, 10.0]))

    @contextmanager
    def stopped(self) -> Iterator[None]:
        engines = self.world.engines()
        for number in (signal.SIGSTOP, signal.SIGCONT):
            for engine in engines:
                with suppress(psutil.NoSuchProcess):
                    engine.send_signal(number)
            if number == signal.SIGSTOP:
                yield

    def hinder(self) -> None:
        """Lay something in the place of a file of the engine, and kill the engine."""
        with _hindrance(self.world.sockets, self.chance):
            self.kill_engine()
            time.sleep(self.chance.uniform(0, 2))

    def jump(self) -> None:
        self.world.jump.write_text(str(self.chance.uniform(-DAYS, DAYS)))


def _history(world: World, ledgers: list[Ledger], faults: int) -> None:
    history = History(world, ledgers)
    kinds = [history.kill_front] * 8 + [history.kill_engine, history.kill_both, history.kill_starting] * 3
    kinds += [history.end_engine, history.stop_engine, history.hinder, history.jump]
    for _ in range(faults):
        history.go_on(world.chance.choice([0, 0, 1, 5, 20]))
        time.sleep(world.chance.choice([0.0, 0.01, 0.3]) * world.chance.random())
        world.note_writers()
        world.chance.choice(kinds)()
    history.end()


@contextmanager
def _hindrance(folder: Path, chance: random.Random) -> Iterator[None]:
    """Something foreign lies in the place of a file, or the folder is open to others. The lock stays: it is held."""
    engines = sorted({path.stem for path in folder.glob("*-*-*.*")})
    path = folder / f"{chance.choice(engines or ['x'])}.{chance.choice(['sock', 'log', 'new', 'starting'])}"
    make: Any = chance.choice([Path.mkdir, os.mkfifo, Path.touch, lambda path: path.symlink_to("/nowhere/x")])
    with suppress(OSError):
        if chance.random() < 0.2:
            folder.chmod(0o755)
        else:
            path.unlink(missing_ok=True)
            make(path)
    yield
    with suppress(OSError):
        folder.chmod(0o700)
    with suppress(OSError):
        path.rmdir() if path.is_dir() else path.unlink()


def _many(world: World, many: int) -> None:
    """Many fronts on no file."""
    world.db.rename(world.db.with_name("before.db"))
    try:
        fronts = [world.front(2 * IDLE, greets=False) for _ in range(many)]
        for front in fronts:
            front.greet()
        answers = [front.call("write_memory", {"key": f"k{n}", "value": n}) for n, front in enumerate(fronts)]
        world.tally.other += [f"refused: {answer}" for answer in answers if isinstance(answer, str)]
        world.note_writers()
        for front in fronts:
            world.leave(front)
        if not within(LEFT, lambda: not world.engines()):
            world.tally.other.append(f"round {world.tally.rounds}: an engine is left")
        stored = rows(world.db, "SELECT count(*) FROM facts")
        if stored != [(many,)]:
            world.tally.lost.append(f"round {world.tally.rounds}: of {many} facts are there {stored}")
    finally:
        world.db.unlink(missing_ok=True)
        world.db.with_name("before.db").rename(world.db)


def _brief(world: World, ledger: Ledger) -> None:
    """Clients that write a little and leave at once, just when an engine ends."""
    for _ in range(12):
        front = world.front(SHORT_IDLE)
        for _ in range(world.chance.randrange(3)):
            ledger.step(front.call)
        if world.chance.random() < 0.3:
            front.send(
                b'{"jsonrpc":"2.0","id":"last","method":"tools/call","params":{"name":"memory_stats"}}\n'
            )
        world.leave(front) if world.chance.random() < 0.7 else world.kill_front(front)
        time.sleep(world.chance.uniform(0, 2 * SHORT_IDLE))


def _unread(world: World) -> None:
    """A client that reads nothing keeps no other from being served, and leaves with its input."""
    front = world.front(greets=False, reads=False)
    assert front.process.stdin is not None
    input = front.process.stdin.fileno()
    os.set_blocking(input, False)
    ends = time.monotonic() + 3
    while time.monotonic() < ends:
        with suppress(BlockingIOError):
            os.write(input, b'{"jsonrpc":"2.0","id":"x","method":"tools/list"}\n' * 40)
        time.sleep(0.01)
    other = world.front()
    if isinstance(answer := other.call("memory_stats", {}), str):
        world.tally.other.append(f"refused: {answer}")
    world.leave(other)
    if front.leave() != 0:
        world.tally.other.append(f"round {world.tally.rounds}: a front that nobody reads is left")


def _full(world: World, ledger: Ledger) -> None:
    """The folder of the sockets is full: each window is served by its own process."""
    world.sockets.mkdir(mode=0o700, exist_ok=True)
    if not disk.mount(world.sockets, 4096, "nr_inodes=1,mode=700"):
        return
    try:
        front = world.front()
        for _ in range(3):
            ledger.step(front.call)
        world.leave(front)
    finally:
        subprocess.run(["umount", "-l", str(world.sockets)], check=True)
