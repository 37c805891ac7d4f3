"""The folder of the sockets of engines, which only its owner may enter.

It is no folder beside the database: the path of a socket has at most some hundred bytes.
"""

import os
import socket
import stat
import struct
from collections.abc import Iterator
from pathlib import Path

from memory_server.flags import runtime_folder
from memory_server.where import Postgres, Where

LONGEST = 100
"""Bytes of the path of a socket: Linux allows 107, macOS 103."""

_NAME = "memory-server"


def folders() -> Iterator[Path]:
    """Yield the folders in question, best first. Clients do not hand on every variable, so a hook looks into all."""
    user = os.getuid()
    runtime = (runtime_folder(), f"/run/user/{user}")
    for above in dict.fromkeys(path for path in runtime if path.startswith("/")):
        yield Path(above, _NAME)
    yield Path("/tmp", f"{_NAME}-{user}")  # noqa: S108 - it is made for its owner alone, and checked


def is_private(folder: Path) -> bool:
    """Return True for a folder of this user that nobody else may enter; no link."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    is_private = not stat.S_IMODE(status.st_mode) & 0o077
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and is_private


def is_of_this_user(connection: socket.socket) -> bool:
    """Return True if the other end is a process of this user, as far as the system tells: Linux does.

    Elsewhere the folder of the socket lets in nobody else.
    """
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    _, user, _ = struct.unpack("3i", credentials)
    return bool(user == os.getuid())


def name_of(database: Where) -> str:
    """Name the database between a hook and a server: by its path without links, or its address."""
    return str(database) if isinstance(database, Postgres) else os.path.realpath(database)
