"""Copies of a file's content, for as long as one command runs.

A process that is killed cannot remove its copy. So each process locks its copies, and the next one removes those
without a lock. Windows has no such lock: there a copy that is left stays in the user's own folder.
"""

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PREFIX = "memory-server-copy-"
"""The first part of the name of a copy's folder; that of a file has a dot before it."""


@contextmanager
def folder() -> Iterator[Path]:
    """Yield a folder for copies that only its owner may enter; it is removed at the end."""
    remove_stale()
    while True:
        path = Path(tempfile.mkdtemp(prefix=PREFIX))
        lock = _opened(path)
        if lock is not None and _lock(lock, path, wait=True):
            break
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)


@contextmanager
def file(target: Path) -> Iterator[Path]:
    """Yield an empty file that only its owner may read, beside `target`; it is removed at the end, unless renamed."""
    remove_stale(target.parent, f".{PREFIX}")
    while True:
        lock, name = tempfile.mkstemp(dir=target.parent, prefix=f".{PREFIX}")
        path = Path(name)
        if sys.platform == "win32":
            os.close(lock)  # what is open cannot be renamed there
            break
        if _lock(lock, path, wait=True):
            break
        os.close(lock)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)
        if sys.platform != "win32":
            os.close(lock)


def remove_stale(where: Path | None = None, prefix: str = PREFIX) -> None:
    """Remove the copies of this user whose process has ended, in the folder for temporary files or in another one."""
    if sys.platform == "win32":
        return
    for path in Path(where or tempfile.gettempdir()).glob(f"{prefix}*"):
        lock = _opened(path)
        if lock is None:
            continue
        if _lock(lock, path, wait=False):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        os.close(lock)


def _opened(path: Path) -> int | None:
    """Return a handle of a file or folder of this user; None where it is gone, a link, or another user's."""
    if sys.platform == "win32":
        return os.open(os.devnull, os.O_RDONLY)  # a folder cannot be opened there
    try:
        status = path.lstat()
        kind = stat.S_IFMT(status.st_mode)
        if kind not in (stat.S_IFDIR, stat.S_IFREG) or status.st_uid != os.getuid():
            return None
        return os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return None


def _lock(handle: int, path: Path, wait: bool) -> bool:
    """Lock a copy; false where another process has it, or removed it just before."""
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:  # another process has it, or this file system has no locks: then nothing is removed there
        return wait
    return path.exists() and os.path.samestat(os.fstat(handle), path.lstat())
