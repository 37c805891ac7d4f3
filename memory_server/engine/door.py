"""The socket of an engine, which only one process has.

Imports the standard library alone: it listens before the rest is imported, so nobody waits long to connect.
"""

import contextlib
import fcntl
import io
import os
import socket
import sys
import time
from pathlib import Path

from memory_server.front.finding import ANEW, connected, program

WAITING = 128
"""Connections that may wait until they are taken."""

ENDING = 10.0
"""Seconds that an engine which is ending has for it, before the next gives up."""

LOOK = 0.02
"""Seconds between two looks whether it has ended."""


class Door:
    """A socket that listens at `path`, and the lock that lets only one process have it."""

    def __init__(self, path: Path) -> None:
        """Listen.

        Raises:
            OSError: it cannot be made.
            SystemExit: another engine has it, or this is another program than the one that is named.
        """
        if path.name.split("-")[1:2] != [program()]:
            sys.exit("memory-server: this Python finds another memory-server than the one that starts it.")
        self.path = path.with_name(f"{path.name}.sock")
        self._lock = _locked(path.with_name(f"{path.name}.lock"), self.path)
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        new = path.with_name(f"{path.name}.new")
        new.unlink(missing_ok=True)
        self.listener.bind(str(new))
        new.chmod(0o600)
        self.listener.listen(WAITING)
        self._inode = new.stat().st_ino
        new.replace(self.path)

    def close(self) -> None:
        """Let nobody in any more. The lock stays until the process ends: the file is closed by then."""
        with contextlib.suppress(OSError):  # the folder may have gone
            if self.path.lstat().st_ino == self._inode:
                self.path.unlink()
        self.listener.close()

    def give_up(self) -> None:
        """Let another engine take this place, while this one still serves those who are in."""
        self.close()
        self._lock.close()


def detach() -> None:
    """Leave the client that started this process: its terminal, its folder, and the files that it has open."""
    os.setsid()
    os.chdir("/")
    with contextlib.suppress(OSError):  # there is no such list
        for file in list(map(int, os.listdir("/dev/fd"))):  # noqa: PTH208 - it must not be open meanwhile
            if file > 2:
                with contextlib.suppress(OSError):  # that of the list itself
                    os.close(file)


def _locked(lock: Path, path: Path) -> io.FileIO:
    file = io.FileIO(os.open(lock, os.O_RDWR | ANEW, 0o600), "r+")
    ends = time.monotonic() + ENDING
    while time.monotonic() < ends:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return file
        if (link := connected(path)) is not None:
            link.close()
            break
        time.sleep(LOOK)
    sys.exit("memory-server: another engine has this socket.")
