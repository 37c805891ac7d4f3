"""The sockets at which the servers of a database listen for hooks, in a folder that only its owner may enter.

It is no folder beside the database: the path of a socket has at most some hundred bytes.
"""

import os
import stat
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from memory_server.hook.settings import runtime_folder
from memory_server.where import Postgres, Where

if TYPE_CHECKING:
    from socket import socket

LONGEST = 100
"""Bytes of the path of a socket: Linux allows 107, macOS 103."""

_NAME = "memory-server"
_SUFFIX = ".sock"


def folders() -> Iterator[Path]:
    """The folders in question, best first. Clients do not hand on every variable, so a hook looks into all of them."""
    user = os.getuid()
    runtime = (runtime_folder(), f"/run/user/{user}")
    for above in dict.fromkeys(path for path in runtime if path.startswith("/")):
        yield Path(above, _NAME)
    yield Path("/tmp", f"{_NAME}-{user}")  # noqa: S108 - it is made for its owner alone, and checked


def is_private(folder: Path) -> bool:
    """True for a folder of this user that nobody else may enter; no link."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    is_private = not stat.S_IMODE(status.st_mode) & 0o077
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and is_private


def is_of_this_user(connection: "socket") -> bool:
    """True if the other end is a process of this user, as far as the system tells: Linux does.

    Elsewhere the folder of the socket lets in nobody else.
    """
    import socket  # 4 ms, where there is a server

    if not hasattr(socket, "SO_PEERCRED"):
        return True
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    _, user, _ = struct.unpack("3i", credentials)
    return bool(user == os.getuid())


def own(database: Where) -> Iterator[Path]:
    """Yield the paths at which this process may listen, best first; the folder may not be there yet."""
    for folder in folders():
        path = folder / f"{_key(database)}.{os.getpid()}{_SUFFIX}"
        if len(os.fsencode(path)) <= LONGEST:
            yield path


def sockets(database: Where) -> list[Path]:
    """The sockets of the servers of a database, the newest first; also those of servers that were killed."""
    sockets_by_age = []
    for folder in filter(is_private, folders()):
        for path in folder.glob(f"{_key(database)}.*{_SUFFIX}"):
            try:
                sockets_by_age.append((-path.lstat().st_mtime, path))
            except FileNotFoundError:  # the server has just left
                continue
    return [path for _, path in sorted(sockets_by_age)]


def remove_stale(path: Path) -> None:
    """Remove a socket that refuses, where its server has ended: one that is busy may refuse too."""
    pid = path.name.split(".")[1]
    try:
        os.kill(int(pid), 0)
    except (ProcessLookupError, PermissionError):  # no such process, or another user's
        path.unlink(missing_ok=True)


def name_of(database: Where) -> str:
    """Name the database between a hook and a server: by its path without links, or its address."""
    return str(database) if isinstance(database, Postgres) else os.path.realpath(database)


def _key(database: Where) -> str:
    """Short, so that two databases may have the same one: a server is told the name too."""
    return f"{zlib.crc32(os.fsencode(name_of(database))):08x}"
