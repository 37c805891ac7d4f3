"""The socket of an engine, which only one process has.

Imports the standard library alone: it listens before the rest is imported, so nobody waits long to connect.
"""

import contextlib
import os
import socket
import sys
import time
from pathlib import Path

from memory_server.front.finding import connected, is_at, lock, program

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
        self.path = path.with_suffix(".sock")
        self._lock: int | None = _locked(path.with_suffix(".lock"), self.path)
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        new = path.with_suffix(".new")
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
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    @property
    def is_ours(self) -> bool:
        """True while this process alone may have a socket here."""
        return self._lock is not None and is_at(self.path.with_suffix(".lock"), self._lock)


def detach() -> None:
    """Leave the client that started this process: its terminal, its folder, and the files that it has open."""
    os.setsid()
    os.chdir("/")
    with contextlib.suppress(OSError):  # there is no such list
        for file in list(map(int, os.listdir("/dev/fd"))):  # noqa: PTH208 - it must not be open meanwhile
            if file > 2:
                with contextlib.suppress(OSError):  # that of the list itself
                    os.close(file)


def _locked(path: Path, socket_path: Path) -> int:
    ends = time.monotonic() + ENDING
    while time.monotonic() < ends:
        if (file := lock(path)) is not None:
            return file
        if (link := connected(socket_path)) is not None:
            link.close()
            break
        time.sleep(LOOK)
    sys.exit("memory-server: another engine has this socket.")
