"""The socket of an engine, which only one process has.

Imports the standard library alone: it listens before the rest is imported, so nobody waits long to connect.
"""

import contextlib
import fcntl
import os
import socket
import sys
import time
from pathlib import Path

from memory_server.front.finding import connected

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
            SystemExit: another engine has it.
        """
        self.path = path.with_name(f"{path.name}.sock")
        self._lock = _locked(path.with_name(f"{path.name}.lock"), self.path)
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        new = path.with_name(f"{path.name}.new")
        new.unlink(missing_ok=True)
        self.listener.bind(str(new))
        new.chmod(0o600)
        self.listener.listen(WAITING)
        new.replace(self.path)

    def close(self) -> None:
        """Let nobody in any more. The lock stays until the process ends: the file is closed by then."""
        self.path.unlink(missing_ok=True)
        self.listener.close()


def _locked(lock: Path, path: Path) -> int:
    file = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
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
