"""The database file by its path: made, recognised, and rescued when it goes away while it is open."""

import errno
import glob
import hashlib
import os
import shlex
import stat
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from memory_server.call import deadline
from memory_server.errors import Hint, Mend, Unavailable
from memory_server.storage.files import BACKUPS, backups_of

BEFORE = ".before-"
"""What stands between the name of a database and the version before which a copy of it was made."""

TEMPORARY = ".tmp"
"""How the name of a copy ends that is being written."""

RESCUED = ".rescued-"
"""What stands between the name of a database and the moment at which its content was rescued."""

FILLED = 2.0
"""Seconds within which a program that creates a database gives it its tables."""

COPIES = 10
"""Readings of a file that went away, at most, until two of them are the same."""

UNFINISHED = 3600
"""Seconds after which a temporary file to which nothing more is written is one of a copy that was broken off.

A copy is written without a pause and then only read, to check it: some minutes for the largest files.
"""


_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}
"""What a file system answers that has no locks, or has none left, as NFS without its lock server."""


Identity = tuple[int, int]
"""The device and the inode of a file: another file at the same path has others."""


def identify(path: Path) -> Identity | None:
    """Return the identity of the file that stands at a path now; None for no file, or an empty one."""
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return (status.st_dev, status.st_ino) if status.st_size else None


def await_filled(path: Path) -> None:
    """Wait while a file is empty, at most FILLED seconds: another window may be creating the database."""
    late = time.monotonic() + deadline.left(FILLED)
    while path.stat().st_size == 0 and time.monotonic() < late:
        time.sleep(0.01)


def await_other(path: Path, before: Identity | None) -> None:
    """Wait while an empty file other than `before` stands at a path: another window is creating it."""
    try:
        status = path.stat()
        if (status.st_dev, status.st_ino) != before:
            await_filled(path)
    except (FileNotFoundError, NotADirectoryError):
        return


def refuse_empty(path: Path, name: str = "it") -> None:
    """Raises Unavailable where the file was emptied: a program that had it open must not fill it anew."""
    if path.stat().st_size == 0:
        copies = sorted(copy.name for copy in _beside(path, ".*") if copy.is_file())
        listed = f" Beside it lie: {', '.join(copies)}." if copies else ""
        raise damaged(path, f"{name} has 0 bytes.{listed}")


def damaged(path: Path | None, text: str) -> Unavailable:
    """Return the error of a file that must be restored, which names its newest backup if one is in the usual folder."""
    backups = [] if path is None else [backup for backup in backups_of(path) if backup.is_file()]
    if not backups:
        return Unavailable(text, Mend.RESTORE)
    newest = max(backups, key=lambda backup: backup.stat().st_mtime)
    return Unavailable(text, Hint(Mend.RESTORE_NEWEST, {"backup": shlex.quote(str(newest))}))


def prepare(path: Path, make_folders: bool) -> None:
    """Create a missing file, and its folder, readable by their owner alone.

    The file is created and closed before the driver opens it: closing any handle of an open database drops this
    process's locks on it.
    """
    if path.is_dir():
        raise Unavailable(f"{path} is a folder, not a file.", Mend.USE_ANOTHER_FILE)
    if path.exists():
        return
    if not path.parent.is_dir():
        if not make_folders and not path.parent.parent.is_dir():
            raise Unavailable(
                f"The folder {path.parent} does not exist. The user can create it with mkdir -p.",
                Mend.USE_ANOTHER_FILE,
            )
        path.parent.mkdir(mode=stat.S_IRWXU, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, stat.S_IRUSR | stat.S_IWUSR))


def exposed(path: Path) -> bool:
    """True if other users of the machine can read the file."""
    return os.name != "nt" and bool(path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO))


def tighten(path: Path) -> None:
    """Let only its owner read and write the file."""
    path.chmod(stat.S_IRUSR | stat.S_IWUSR)


def left_over(path: Path) -> list[Path]:
    """Return the files beside a database that hold its content: copies from before migrations, rescues, unfinished
    backups.

    Links do not count: their target may be another user's.
    """
    patterns = (f"{BEFORE}*", f"{RESCUED}*", f".*{TEMPORARY}", f".*{TEMPORARY}-journal")
    return sorted(
        {
            candidate
            for pattern in patterns
            for candidate in _beside(path, pattern)
            if not candidate.is_symlink()
        }
    )


def in_backup_folder(path: Path) -> list[Path]:
    """Return all files in the usual folder for backups; links do not count."""
    return sorted(
        file for file in (path.parent / BACKUPS).glob("*") if file.is_file() and not file.is_symlink()
    )


def is_temporary(path: Path) -> bool:
    """True for a copy that is being written, and for its journal."""
    return path.name.removesuffix("-journal").endswith(TEMPORARY)


def is_broken_off(path: Path, now: datetime) -> bool:
    """True for a temporary file that no process writes any more: a younger one may be of a backup that runs now."""
    return is_temporary(path) and now.timestamp() - path.lstat().st_mtime > UNFINISHED


def age(path: Path, now: datetime) -> str:
    """Say how long ago a file was written, for people."""
    seconds = max(0, now.timestamp() - path.lstat().st_mtime)
    ages = (
        ("1 day old", "{} days old", 86_400),
        ("1 hour old", "{} hours old", 3600),
        ("1 minute old", "{} minutes old", 60),
    )
    for single, several, length in ages:
        number = int(seconds // length)
        if number:
            return single if number == 1 else several.format(number)
    return "just written"


def copies(path: Path, older_than: str | None = None) -> list[Path]:
    """Return the copies that were made of a file before its migrations; with a moment only those that are older."""
    before_migrations = sorted(_beside(path, f"{BEFORE}*"))
    if older_than is not None:
        then = datetime.fromisoformat(older_than).timestamp()
        before_migrations = [copy for copy in before_migrations if copy.lstat().st_mtime < then]
    return before_migrations


def _beside(path: Path, pattern: str) -> Iterator[Path]:
    """Yield the files whose names begin with that of a database, which is escaped: it may hold `*` or `[`."""
    return path.parent.glob(glob.escape(path.name) + pattern)


def copy_open(identity: Identity, target: Path) -> None:
    """Write the bytes of a file that this process has open to `target`, wherever the file is now.

    It is read through a descriptor that is open: to open another one and close it would drop the locks of the process.
    It is read until two readings are the same: another process may have been writing when the file went away.

    Raises:
        OSError: this process does not have it open, or it changes all the time.
    """
    for entry in Path("/dev/fd").iterdir():
        descriptor = int(entry.name)
        try:
            status = os.fstat(descriptor)
        except OSError:  # it was of the listing
            continue
        if (status.st_dev, status.st_ino) == identity:
            break
    else:
        raise OSError("no connection has it open")
    before = None
    for _ in range(COPIES):
        digest = hashlib.sha256()
        with target.open("wb") as copy:
            while part := os.pread(descriptor, 1 << 20, copy.tell()):
                copy.write(part)
                digest.update(part)
        if digest.digest() == before:
            return
        before = digest.digest()
    raise OSError("it changes all the time")


def rescue_target(path: Path, now: str) -> Path:
    """Return a path for the content of a database that went away: beside its path, whose folder is made if it is gone.

    `now` is a moment in the form of timestamps.
    """
    path.parent.mkdir(mode=stat.S_IRWXU, parents=True, exist_ok=True)
    return dated(path, RESCUED, now)


def dated(path: Path, kind: str, now: str) -> Path:
    """Return the path of a new file beside the database, with its kind and a moment in its name."""
    moment = now.replace("-", "").replace(":", "").partition(".")[0]
    name = f"{path.name}{kind}{moment}Z"
    target, number = path.with_name(name), 2
    while target.exists():
        target = path.with_name(f"{name}-{number}")
        number += 1
    return target


def can_lock(folder: Path) -> bool:
    """False where the file system of a folder answers that it has no locks. Tried on a file of its own."""
    if os.name == "nt":
        return True
    import fcntl
    import tempfile

    try:
        with tempfile.TemporaryFile(dir=folder) as probe:
            fcntl.lockf(probe, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in _NO_LOCKS
    return True
