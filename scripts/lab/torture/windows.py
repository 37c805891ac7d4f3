"""The clients, fronts and engines of one database, and a look whether what they were told is true."""

import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

import memory_server
from memory_server import stores
from memory_server.front import finding, place
from torture.ledger import Ledger, clock, look
from torture.tally import Tally
from torture.wire import ROOT, Server

IDLE = 1.0
"""Seconds until an engine ends that nobody uses."""

SHORT_IDLE = 0.1
"""So short a time that it ends as a front connects."""

LEFT = 20.0
"""Seconds in which it must have ended, and each front whose client has gone: this machine is busy."""

IMPATIENT = """
import sys
from memory_server.front import main, session
session.PATIENCE = main.PATIENCE = 8.0
from memory_server.__main__ import main
sys.exit(main())
"""
"""A front that gives an engine 8 seconds for a request, instead of 30."""

CAUSES = ("The engine of memory-server", "is locked", "was busy", "locked by another")
"""What a refusal may name: the engine, or the lock of one that is stopped amid a write."""


class World:
    """A database, the folder of its engines, and the clients."""

    def __init__(self, folder: Path, chance: random.Random, tally: Tally) -> None:
        self.folder, self.chance, self.tally = folder, chance, tally
        self.db, self.jump = folder / "memory.db", folder / "jump"
        self.runtime = Path(tempfile.mkdtemp(prefix="ms-", dir="/tmp"))
        self.sockets = self.runtime / "memory-server"
        self.other = _other_version(folder / "other", self.jump)
        self.kills = 0
        self.name = finding.short(place.name_of(self.db))

    def front(self, idle: float = IDLE, greets: bool = True, reads: bool = True) -> Server:
        """Start a front, one in five of another version. `greets` and `reads`: see `Server`."""
        root = self.other if self.chance.random() < 0.2 else ROOT
        environment = {
            "MEMORY_SERVER_ENGINE": "auto", "MEMORY_SERVER_ENGINE_IDLE": str(idle), "PYTHONPATH": str(root),
            "XDG_RUNTIME_DIR": str(self.runtime),
        }  # fmt: skip
        command = (
            (sys.executable, "-c", IMPATIENT) if idle == IDLE else (sys.executable, "-m", "memory_server")
        )
        return Server(self.db, self.folder, command, environment, greets, reads)

    def engines(self) -> list[psutil.Process]:
        """The engines of this database, wherever their folder is."""
        return [process for process in psutil.process_iter(["cmdline"]) if self._is_engine(process)]

    def _is_engine(self, process: psutil.Process) -> bool:
        words = process.info["cmdline"] or []
        return words[3:6] == ["memory_server", "engine", "run"] and Path(words[6]).name.startswith(self.name)

    def signal_engines(self, number: int) -> None:
        for engine in self.engines():
            with suppress(psutil.NoSuchProcess):
                engine.send_signal(number)
                self.kills += number == signal.SIGKILL

    def kill_front(self, front: Server) -> None:
        front.kill()
        self.kills += 1

    def note_writers(self) -> None:
        """Note a fault where two engines of one version have the database open."""
        writers: dict[str, list[str]] = {}
        for engine in self.engines():
            with suppress(psutil.Error, OSError):
                if self._has_open(engine):
                    writers.setdefault(engine.info["cmdline"][6], []).append(f"{engine} of {engine.ppid()}")
        for engines in writers.values():
            if len(engines) > 1:
                two = f"two engines of a version write at once: {', '.join(engines)}"
                self.tally.other.append(f"round {self.tally.rounds}: {two}")

    def _has_open(self, engine: psutil.Process) -> bool:
        """False for a process that an engine just starts: until it runs another program, it looks like its parent."""
        parent = engine.parent()
        is_starting = parent is not None and parent.cmdline() == engine.info["cmdline"]
        return not is_starting and any(file.path == str(self.db) for file in engine.open_files())

    def judge(self, ledgers: list[Ledger]) -> None:
        """Nothing runs any more, and the file holds what was acknowledged."""
        what = f"round {self.tally.rounds}"
        if not within(LEFT, lambda: not self.engines()):
            self.tally.other.append(f"{what}: an engine is left")
            self.signal_engines(signal.SIGKILL)
        stored, problems = look(self.db)
        self.tally.damaged += [f"{what}: {problem}" for problem in problems[:3]]
        for ledger in ledgers if not problems else []:
            self.tally.lost += ledger.compare(stored, what)
            refused = [line for line in ledger.refusals if not any(cause in line for cause in CAUSES)]
            self.tally.other += [f"{what}: refused: {line}" for line in refused]
            ledger.refusals.clear()
        self.tally.lost += [f"{what}: {text} is there twice" for text in _doubles(self.db)]

    def leave(self, front: Server) -> None:
        if (code := front.leave()) != 0:
            self.tally.other.append(f"round {self.tally.rounds}: a front ended with {code}")
        answers = [line for line in front.strays if '"id"' in line and '"last"' not in line]
        self.tally.other += [f"an answer that nobody waits for: {line}" for line in answers]

    def close(self) -> None:
        self.signal_engines(signal.SIGKILL)
        shutil.rmtree(self.runtime, ignore_errors=True)


def _other_version(root: Path, jump: Path) -> Path:
    """Copy the program as another version, whose clock is as many days wrong as the file `jump` says."""
    package = Path(memory_server.__file__).parent
    shutil.copytree(package, root / "memory_server", ignore=shutil.ignore_patterns("e5_small", "__pycache__"))
    shutil.copytree(ROOT / "migrations", root / "migrations")
    jump.write_text("0")
    init, clock_file = root / "memory_server" / "__init__.py", root / "memory_server" / "stores.py"
    init.write_text(f'{init.read_text()}\n__version__ = "0.0.1"\n')
    wrong = f"datetime.now(UTC) + __import__('datetime').timedelta(float(open({str(jump)!r}).read() or 0))"
    assert "datetime.now(UTC)" in clock_file.read_text()
    clock_file.write_text(clock_file.read_text().replace("datetime.now(UTC)", wrong))
    return root


def _doubles(db: Path) -> list[str]:
    """Words that begin more than one row."""
    texts = (
        "SELECT message FROM turns",
        "SELECT text FROM short_term_memories",
        "SELECT content FROM memories",
    )
    words = [" ".join(text.split()[:2]) for (text,) in rows(db, " UNION ALL ".join(texts))]
    return sorted(word for word, number in Counter(words).items() if number > 1)


def rows(db: Path, sql: str) -> list[tuple[Any, ...]]:
    database: Any = stores.at(db, clock)
    with database.read() as tx:
        rows: list[tuple[Any, ...]] = tx.rows(sql)
    database.close()
    return rows


def within(seconds: float, condition: Callable[[], bool]) -> bool:
    ends = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > ends:
            return False
        time.sleep(0.05)
    return True
