"""Runs the program in forks of one process that has imported it, each with a fault of its own.

    launcher.py SOCKET SECONDS     how long a call may wait; the product waits 20 s

The fault is in the environment (`FAULT`), as JSON: see `Fault`. Steps are what a command does to its files: what
SQLite writes, flushes, cuts, locks and deletes, and what Python opens for writing, renames, links, flushes and removes.
"""

import errno
import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any

import apsw

NAME = "FAULT"
"""The variable of the environment that holds the fault."""

FIRED = "fired"
"""What the report says when the fault has come."""

CHANGES = ("open", "os.rename", "os.remove", "os.link", "os.truncate")
"""What Python tells of a change of files before it is done."""

_DAY = 86_400_000
"""Milliseconds of a day."""


@dataclass(frozen=True, slots=True)
class Fault:
    """`kind` is what happens at the step with the number `at`:

    kill, stop: the process is killed, or stopped until it is continued or killed. error: that step fails with EIO;
    late: so it does after it was done. read: so does that read. full: from then on no write finds room. alarm: the
    process is killed `at` milliseconds after its start. "": nothing.
    """

    report: str
    """A file that gets a line for each thing noticed."""
    db: str
    watched: bool
    """The path of the database must never be empty."""
    kind: str = ""
    at: int = 0
    days: float = 0
    """How wrong the clock is."""

    def text(self) -> str:
        return json.dumps(asdict(self))


def is_filled(path: str) -> bool:
    """A file is there, and has bytes."""
    try:
        return os.stat(path).st_size > 0  # noqa: PTH116 - it is asked thousands of times
    except FileNotFoundError:
        return False


class Steps:
    """Counts the steps of this process, looks before each whether the database is there, and lets the fault happen."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        self.folder = str(Path(fault.db).parent)
        self._number = self._reads = 0
        self._full = False
        self._watches = fault.watched

    def take(self, what: str, path: str | None = None) -> bool:
        """The next step. True: it fails once it is done. Raises OSError where it fails at once."""
        self._watch(what)
        self._number += 1
        writes = what in ("xWrite", "open")
        if self._full and writes:
            raise OSError(errno.ENOSPC, "No space left on device", path)
        if self._number != self.fault.at or self.fault.kind in ("", "read", "alarm"):
            return False
        self.note(f"{FIRED} {os.getpid()}: {what}")
        match self.fault.kind:
            case "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            case "stop":
                os.kill(os.getpid(), signal.SIGSTOP)
            case "full":
                self._full = True
                if writes:
                    raise OSError(errno.ENOSPC, "No space left on device", path)
            case "error":
                raise OSError(errno.EIO, "Input/output error", path)
        return self.fault.kind == "late"

    def read(self) -> bool:
        """Count a read. False, or OSError where it fails."""
        self._reads += 1
        if self.fault.kind == "read" and self._reads == self.fault.at:
            self.note(f"{FIRED} {os.getpid()}: xRead")
            raise OSError(errno.EIO, "Input/output error")
        return False

    def note(self, line: str) -> None:
        handle = os.open(self.fault.report, os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o600)
        os.write(handle, f"{line}\n".encode())
        os.close(handle)

    def _watch(self, what: str) -> None:
        if self._watches and not is_filled(self.fault.db):
            self._watches = False
            self.note(f"the path was empty before {what}, step {self._number}")


def _done(steps: Steps, what: str, code: int, act: Callable[..., Any], *arguments: Any) -> Any:
    """A step of SQLite; `code` is how it fails."""
    try:
        late = steps.read() if what == "xRead" else steps.take(what)
    except OSError as error:
        raise apsw.exception_for(apsw.SQLITE_FULL if error.errno == errno.ENOSPC else code) from None
    result = act(*arguments)
    if late:
        raise apsw.exception_for(code)
    return result


class _File(apsw.VFSFile):
    steps: Steps

    def excepthook(self, *_: object) -> bool:
        """SQLite passes over this failure: nobody hears of it."""
        return True

    def xRead(self, amount: int, offset: int) -> bytes:
        data: bytes = _done(self.steps, "xRead", apsw.SQLITE_IOERR_READ, super().xRead, amount, offset)
        return data

    def xWrite(self, data: bytes, offset: int) -> None:
        _done(self.steps, "xWrite", apsw.SQLITE_IOERR_WRITE, super().xWrite, data, offset)

    def xSync(self, flags: int) -> None:
        _done(self.steps, "xSync", apsw.SQLITE_IOERR_FSYNC, super().xSync, flags)

    def xTruncate(self, size: int) -> None:
        _done(self.steps, "xTruncate", apsw.SQLITE_IOERR_TRUNCATE, super().xTruncate, size)

    def xLock(self, level: int) -> None:
        _done(self.steps, "xLock", apsw.SQLITE_IOERR_LOCK, super().xLock, level)


class _Disk(apsw.VFS):
    """The system's files, as the default file system."""

    def __init__(self, steps: Steps) -> None:
        self.steps = steps
        self._base = apsw.vfs_names()[0]
        super().__init__("torture", self._base, makedefault=True)

    def excepthook(self, *_: object) -> bool:
        """SQLite passes over this failure: nobody hears of it."""
        return True

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        file = _File(self._base, name, flags)
        file.steps = self.steps
        return file

    def xDelete(self, filename: str, syncdir: bool) -> None:
        _done(self.steps, "xDelete", apsw.SQLITE_IOERR_DELETE, super().xDelete, filename, syncdir)

    def xCurrentTimeInt64(self) -> int:
        return int(super().xCurrentTimeInt64() + self.steps.fault.days * _DAY)


def install(environment: dict[str, str]) -> None:
    """Let the fault of this environment happen in this process."""
    if NAME not in environment:
        return
    fault = Fault(**json.loads(environment[NAME]))
    steps = Steps(fault)
    globals()["_disk"] = _Disk(steps)  # it stays as long as the process
    _set_clock(timedelta(days=fault.days))
    _watch_python(steps)
    if fault.kind == "alarm":
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, fault.at / 1000)


def _set_clock(wrong: timedelta) -> None:
    class Wrong(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz) + wrong

    from memory_server import stores

    stores.datetime = Wrong  # type: ignore[attr-defined]


def _watch_python(steps: Steps) -> None:
    """Steps that Python takes itself in the folder of the database."""

    def hear(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in CHANGES or not str(arguments[0]).startswith(steps.folder):
            return
        if event == "open" and not arguments[2] & (os.O_WRONLY | os.O_RDWR):
            return
        steps.take(event, str(arguments[0]))

    def fsync(handle: int) -> None:
        steps.take("fsync")
        flush(handle)

    flush, os.fsync = os.fsync, fsync  # type: ignore[assignment]
    sys.addaudithook(hear)


if __name__ == "__main__":
    from memory_server.call import deadline
    from tests.warm import forks

    deadline.CALL = float(sys.argv[2])  # before anything imports it by its name
    from memory_server import jobs
    from memory_server.postgres import connections

    jobs.LOOK = 0.2
    connections.CONNECTING = connections.PAUSE = deadline.CALL / 2  # type: ignore[misc]
    forks.run(sys.argv[1], install)
