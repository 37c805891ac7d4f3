"""One database, what it may hold, and commands on it with a fault: judged by what they say and by what is there."""

import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from torture.book import Book, Step, becomes, differences
from torture.cluster import Cluster
from torture.launched import LOCKS, SLACK, Done, Program, begin, locked
from torture.launcher import FIRED, NAME, Fault
from torture.ledger import GONE, Item, Ledger, State, look
from torture.wire import ROOT, Answer, Gone, Server, Silent

FAULTS = {
    "": 6, "kill": 5, "alarm": 1, "error": 3, "late": 2, "read": 1, "full": 1, "stop": 1,
    "disk": 3, "lock": 1, "clock": 2,
}  # fmt: skip
"""How often each fault comes. `disk`: the small disk is nearly full. `lock`: the stock program holds one."""

UNERASED = "Purged bytes are left"
"""What a command says that could not overwrite them."""


@dataclass(slots=True)
class Judged:
    """One database and what is done to it. `books` are what it may hold."""

    number: int
    program: Program
    place: Path
    """The folder of the database, on the small disk."""
    beside: Path
    """A folder for what the commands say."""
    postgres: "Cluster | None"
    small: bool
    chance: random.Random = field(init=False)
    ledger: Ledger = field(init=False)
    books: list[Book] = field(default_factory=list)
    backups: dict[Path, list[Book]] = field(default_factory=dict)
    secrets: set[str] = field(default_factory=set)
    due: set[str] = field(default_factory=set)
    """Words that were purged by a process that could not overwrite them: the next command that says so must."""
    named: set[tuple[str, str]] = field(default_factory=set)
    """Files that a purge has named as such that may still hold a word, each with that word."""
    faults: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    acknowledged: int = 0
    fired: int = 0
    forgotten: Item | None = None
    commands: int = 0
    forgets_order: bool = False
    """The clock was wrong, so the last change may not be the latest."""
    meanwhile: list[Item] = field(default_factory=list)
    """What was acknowledged while the command was stopped."""
    last: Done = field(default_factory=lambda: Done(0, "", False))

    def __post_init__(self) -> None:
        self.chance = random.Random(self.number)
        self.ledger = Ledger(random.Random(self.chance.random()))
        self.books = [{}]

    @property
    def db(self) -> Path:
        return self.place / "memory.db"

    def _is(self, item: Item, state: State) -> bool:
        """It surely has this state."""
        return all(book.get(item.word) == frozenset({state}) for book in self.books)

    def _item(self, kind: str) -> tuple[Item, str]:
        item = self.ledger._item(kind)
        for book in self.books:
            book[item.word] = frozenset({GONE})
        return item, f"{item.word} {item.version} {self.ledger._filler()}"

    def _be(self, item: Item, state: State) -> None:
        self.books = [{**book, item.word: frozenset({state})} for book in self.books]

    # What is done

    def _do(self, step: Step, kind: str | None = None, stdin: str = "") -> Done:
        """A command with a fault; then what it has done is judged."""
        kind = self._kind() if kind is None else kind
        self.forgotten, self.meanwhile = None, []
        fault = self._fault(kind)
        self.told.append(
            f"{self.commands} {_short(step.arguments)} [{fault.kind or kind} {fault.at} {fault.days}]"
        )
        with ExitStack() as stack:
            if kind == "lock" and self.db.exists():
                stack.enter_context(locked(self.db, self.chance.choice(LOCKS)))
            if kind == "disk":
                stack.callback(self._fill())
            if kind == "stall" and self.postgres is not None:
                stack.enter_context(self.postgres.stalled(self.chance.uniform(0, 1)))
            done = self._run(step, fault, stdin)
        self.told[-1] += f" -> {done.code} {'fired' if done.fired else ''}"
        self.last = done
        self.fired += done.fired
        self._settle(step, done)
        if step.arguments[0] == "restore" and not done.nothing:
            self.secrets.clear()  # they may be back
            self.due.clear()
        if done.code == 0:
            self.acknowledged += 1
            step.after()
        if done.fired or kind in ("disk", "lock") or self.chance.random() < 0.3 or done.code:
            self._look()
        return done

    def _settle(self, step: Step, done: Done) -> None:
        """Notes what the file may hold after the command."""
        self.faults += [f"`{step.arguments[0]}`: {line}" for line in done.faults]
        if done.code == 0:
            self.books = [step.change(book) for book in self.books]
        elif not done.nothing and step.whole:
            self.books += [step.change(book) for book in self.books]
        elif not done.nothing:
            after = [step.change(book) for book in self.books]
            self.books = [
                {word: book[word] | new[word] for word in book}
                for book, new in zip(self.books, after, strict=True)
            ]

    def _kind(self) -> str:
        kind = self.chance.choices(list(FAULTS), list(FAULTS.values()))[0]
        return "full" if kind == "disk" and not self.small else kind

    def _fault(self, kind: str) -> Fault:
        self.commands += 1
        fault = partial(Fault, str(self.beside / f"{self.commands}.report"), str(self.db), self._is_made())
        at = int(2 ** self.chance.uniform(0, 8.5))
        match kind:
            case "alarm":
                return fault(kind, 10 + at)
            case "clock":
                self.forgets_order = True
                return fault(days=self.chance.choice([-3650, -1, 1, 40, 3650]))
            case "" | "lock" | "disk" | "stall":
                return fault()
        return fault(kind, at)

    def _is_made(self) -> bool:
        """Something is surely in the file: before, one that is undone may be empty again."""
        return any(GONE not in states for states in self.books[0].values())

    def _run(self, step: Step, fault: Fault, stdin: str = "") -> Done:
        """`fault` without a report: of a file that is not the history's."""
        if not fault.report:
            self.commands += 1
            fault = Fault(str(self.beside / f"{self.commands}.report"), str(self.place / "none.db"), False)
        place = self.beside / str(self.commands)
        running = begin(self.program, place, step.arguments, self._environment(), fault, stdin)
        if fault.kind == "stop" and running.stopped():
            self._meanwhile()
            pid = running.pid()
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL if self.chance.random() < 0.5 else signal.SIGCONT)
            return running.done(judged=False)
        return running.done()

    def _meanwhile(self) -> None:
        """Another command, while one is stopped amid its work."""
        item, text = self._item("memory")
        step = Step(["add", text, "--tag", item.version], becomes([item]))
        fault = self._fault("")
        self.told.append(f"{self.commands} meanwhile {_short(step.arguments)}")
        done = self._run(step, fault)
        self.told[-1] += f" -> {done.code}"
        self._settle(step, done)
        self.meanwhile += [item] if done.code == 0 else []

    def _environment(self) -> dict[str, str]:
        inherited = {
            name: text
            for name, text in os.environ.items()
            if not name.startswith(("MEMORY_", "CLAUDE_", "XDG_"))
        }
        home = {
            name: str(self.place / "home")
            for name in ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")
        }
        settings = {"DB": str(self.db), "EMBEDDER": "hashing", "PROJECT": "torture", "ENGINE": "off"}
        return {
            **inherited, **home, "TMPDIR": str(self.place / "temporary"), "PYTHONPATH": str(ROOT),
            **{f"MEMORY_SERVER_{name}": text for name, text in settings.items()},
        }  # fmt: skip

    def _fill(self) -> Callable[[], None]:
        """Leave some room on the small disk; a function that gives the rest back."""
        state = os.statvfs(self.place)
        room = int(2 ** self.chance.uniform(12, 21.5))
        ballast = self.place / "ballast"
        ballast.write_bytes(bytes(max(0, state.f_bavail * state.f_frsize - room)))
        self.told[-1] += f" room {room}"
        return lambda: ballast.unlink()

    def _start(self) -> None:
        """A server starts, gets some calls, and leaves."""
        self.forgotten = None
        self._look()
        if self.faults:
            return
        kind = "clock" if self.chance.random() < 0.2 else self._kind()
        kind = "" if kind == "stop" else kind
        fault = self._fault(kind)
        self.told.append(f"{self.commands} start [{fault.kind or kind} {fault.at} {fault.days}]")
        (book,) = self.books
        for item in self.ledger.items:
            item.states = set(book[item.word])
        with ExitStack() as stack:
            if kind == "lock" and self.db.exists():
                stack.enter_context(locked(self.db, self.chance.choice(LOCKS)))
            if kind == "disk":
                stack.callback(self._fill())
            self._serve(fault)
        self.books = [{item.word: frozenset(item.states) for item in self.ledger.items}]
        self.ledger.pairs.clear()
        self._look()

    def _serve(self, fault: Fault) -> None:
        folder = self.beside / str(self.commands)
        folder.mkdir()
        environment = {**self._environment(), NAME: fault.text()}
        dies = fault.kind in ("kill", "alarm")
        server = Server(self.db, folder, self.program.command(), environment, greets=False)
        try:
            server.greet()
            for _ in range(self.chance.randrange(4)):
                call = self.ledger.step(partial(self._call, server))
                if call.arguments.get("purge"):
                    self.due.add(call.after[0][0].word)
            if fault.days:
                time.sleep(0.8)  # its jobs begin
        except Gone:
            if not dies:
                self.faults.append("the server is gone")
        except Silent as error:
            self.faults.append(str(error))
        code = server.leave()
        self.acknowledged += self.ledger.acknowledged
        self.ledger.acknowledged = 0
        self.told[-1] += f" -> {code} {' / '.join(line[:60] for line in self.ledger.refusals)}"
        self.ledger.refusals.clear()
        if code and not (dies and code < 0):
            self.faults.append(f"the server ended with {code}")
        text = server.log.read_text(errors="replace")
        self.faults += [f"the server's log has a traceback: {text[-1500:]}"] if "Traceback" in text else []
        report = Path(fault.report)
        lines = report.read_text().splitlines() if report.exists() else []
        self.faults += [f"the server: {line}" for line in lines if not line.startswith(FIRED)]
        self.fired += len(lines) > 0

    def _call(self, server: Server, tool: str, arguments: dict[str, Any]) -> Answer:
        begun = time.monotonic()
        try:
            return server.call(tool, arguments)
        finally:
            seconds = time.monotonic() - begun
            if seconds > self.program.seconds + SLACK:
                self.faults.append(f"the call {tool} took {seconds:.1f} s")

    # What is there

    def _look(self, outside: bool = False) -> None:
        """Compare the file with the books. From now on what it holds is what it must hold."""
        if not self.db.exists():
            if self._is_made():
                self.faults.append("there is no file")
            self.books = [dict.fromkeys(self.books[0], frozenset({GONE}))]
            return
        self.books = self._fitting(self.db, self.books, "the file", outside)

    def _fitting(self, path: Path, books: list[Book], what: str, outside: bool = False) -> list[Book]:
        """Says what a file holds, and compares it with the books."""
        place = Path(tempfile.mkdtemp(dir=self.beside))
        copy = place / "memory.db"
        for end in ("", "-journal"):
            with suppress(FileNotFoundError):
                shutil.copy(f"{path}{end}", f"{copy}{end}")
        if outside or self.chance.random() < 0.2:
            command = ["sqlite3", str(copy), "PRAGMA integrity_check"]
            checked = subprocess.run(command, capture_output=True, text=True, check=False)
            if checked.stdout != "ok\n":
                self.faults.append(f"{what}: {checked.stdout[:300]} {checked.stderr[:300]}")
        stored, problems = look(copy)
        shutil.rmtree(place)
        self.faults += [f"{what} is damaged: {line}" for line in problems[:3]]
        if problems:
            return books
        fewest = min((differences(book, stored) for book in books), key=len)
        self.faults += [f"{what}: {line}" for line in fewest[:4]]
        if path == self.db:
            for item in self.ledger.items:
                state, id = stored.get(item.word, (GONE, 0))
                item.be(state)
                item.id = id or item.id
        words = {*books[0], *stored}
        return [{word: frozenset({stored.get(word, (GONE, 0))[0]}) for word in words}]

    def _overwritten(self, more: Path | None = None) -> None:
        """Finds no byte of what was purged in the file, in what lies beside it, and in a new copy."""
        gone = {word for word in self.due if all(book[word] == {GONE} for book in self.books)}
        self.secrets |= gone
        self.due -= gone
        for path in [*self.place.glob("memory.db*"), *([more] if more else [])]:
            content = path.read_bytes()
            left = {(path.name, word) for word in self.secrets if word.encode() in content} - self.named
            if path.name in self.last.text:
                self.named |= left
            elif left and UNERASED not in self.last.text:
                self.faults.append(f"{path.name} holds {sorted(left)}, which was purged")


def _short(arguments: list[str]) -> str:
    return " ".join(Path(argument).name.split(" ")[0] for argument in arguments)
