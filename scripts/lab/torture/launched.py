"""A command with a fault: run in a fork of `launcher.py`, watched all the time, and judged by what it says."""

import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests import warm
from torture.launcher import FIRED, NAME, Fault, is_filled

LOOK = 0.0003
"""Seconds between two looks at the path while a command runs."""

SLACK = 4.0
"""Seconds that a command may take besides its wait, on a busy machine."""

NOTHING = re.compile("[Nn]othing was |No backup was written")
"""What a command says that has changed nothing."""

LOCKS = ("BEGIN; SELECT count(*) FROM sqlite_schema;", "BEGIN IMMEDIATE;", "BEGIN EXCLUSIVE;")


@dataclass(slots=True)
class Done:
    """How a command ended: `code` is negative for a signal; `faults` are what is wrong with any command."""

    code: int
    text: str
    fired: bool
    faults: list[str] = field(default_factory=list)

    @property
    def nothing(self) -> bool:
        """It says that it has changed nothing."""
        return self.code > 0 and bool(NOTHING.search(self.text))


class Program:
    """The warm program, whose calls wait `seconds` for others."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._warm = warm.Warm(str(Path(__file__).with_name("launcher.py")), str(seconds))

    def command(self, *arguments: str) -> list[str]:
        return self._warm.program(*arguments)

    def close(self) -> None:
        self._warm.close()


@dataclass(slots=True)
class Running:
    """A command under way. Its streams are files in `place`, as is its report."""

    program: Program
    process: "subprocess.Popen[bytes]"
    place: Path
    fault: Fault
    begun: float = field(default_factory=time.monotonic)

    def stopped(self) -> bool:
        """Wait until it has stopped itself; false where it ended without."""
        while self.process.poll() is None:
            if self.fired():
                return True
            time.sleep(0.002)
        return False

    def fired(self) -> bool:
        return any(line.startswith(FIRED) for line in self._report())

    def pid(self) -> int:
        """The process in which the fault has come."""
        return next(int(line.split()[1].rstrip(":")) for line in self._report() if line.startswith(FIRED))

    def done(self, judged: bool = True) -> Done:
        """Wait for its end, and look at the path meanwhile. `judged`: also how long it took."""
        missing, most = False, self.program.seconds + SLACK
        while self.process.poll() is None:
            missing = missing or (self.fault.watched and not is_filled(self.fault.db))
            if time.monotonic() > self.begun + 10 * most:
                self.process.kill()
            time.sleep(LOOK)
        seconds = time.monotonic() - self.begun
        code = self.process.returncode
        text = "".join((self.place / name).read_text(errors="replace") for name in ("out", "err"))
        faults = [line for line in self._report() if not line.startswith(FIRED)]
        faults += ["a look from outside found the path empty"] if missing and not faults else []
        faults += [f"it took {seconds:.1f} s"] if judged and seconds > most else []
        faults += [f"a traceback: {text.strip()[-400:]}"] if "Traceback" in text else []
        if code > 1 or (code < 0 and self.fault.kind not in ("kill", "alarm", "stop")):
            faults.append(f"it ended with {code}: {text[-300:]}")
        if code == 0 and NOTHING.search(text):
            faults.append(f"it ended with 0 and says: {text[-300:]}")
        if code == 1 and not text.strip():
            faults.append("it failed without a word")
        return Done(code, text, self.fired(), faults)

    def _report(self) -> list[str]:
        path = Path(self.fault.report)
        return path.read_text().splitlines() if path.exists() else []


def begin(
    program: Program, place: Path, arguments: list[str], env: dict[str, str], fault: Fault, input: str = ""
) -> Running:
    """Start a command in the folder of the database. `place` is a new folder for what it says."""
    place.mkdir()
    (place / "in").write_text(input)
    with (
        (place / "in").open() as stdin_file,
        (place / "out").open("wb") as out,
        (place / "err").open("wb") as err,
    ):
        process = subprocess.Popen(
            program.command(*arguments), cwd=Path(fault.db).parent, env={**env, NAME: fault.text()},
            stdin=stdin_file, stdout=out, stderr=err,
        )  # fmt: skip
    return Running(program, process, place, fault)


@contextmanager
def locked(db: Path, lock: str) -> Iterator[None]:
    """The stock program holds a lock on the database."""
    command = ["sqlite3", "-batch", str(db)]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert holder.stdin is not None
    assert holder.stdout is not None
    holder.stdin.write(f"{lock}\nSELECT 'held';\n".encode())
    holder.stdin.flush()
    while holder.stdout.readline().strip() not in (b"held", b""):
        pass
    try:
        yield
    finally:
        holder.communicate()
