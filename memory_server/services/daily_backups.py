"""Makes a backup of a file each day on which a program runs, and keeps those of seven days and four weeks."""

import logging
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memory_server.services import backups
from memory_server.storage.files import backups_of

logger = logging.getLogger(__name__)

DAYS, WEEKS = 7, 4

LATE = timedelta(days=7)
"""How much older than the last change the newest backup may be before a person is told."""

ROOM = 100_000_000
"""Bytes that a backup leaves free on the disk, besides the size of the database once more."""

ABANDONED = 3600.0
"""Seconds after which an unfinished backup is that of a process that was killed."""


@dataclass(frozen=True, slots=True)
class DailyBackups:
    """The backups of one file in the folder `backups` beside it: each is whole, or not there.

    `write` makes a checked copy under a name, `erase` overwrites first what was purged.
    """

    path: Path
    write: Callable[[Path], object]
    erase: Callable[[], object]
    clock: Callable[[], datetime]

    def make_due(self) -> None:
        """Background work: make the backup of today, unless there is one, and remove those that are too old."""
        target = backups.daily(self.path, self.clock())
        if not self.path.exists() or target.exists() or not self.has_room():
            return
        target.parent.mkdir(mode=0o700, exist_ok=True)
        with _claimed(target) as is_ours:
            if is_ours and not target.exists():
                self.erase()
                self.write(target)
                for old in (*beyond(backups.dailies(self.path)), *self._abandoned()):
                    old.unlink(missing_ok=True)
                    logger.info("%s is removed", old)

    def _abandoned(self) -> list[Path]:
        """Return the files that processes which were killed have left: a claim, an unfinished copy."""
        before = self.clock().timestamp() - ABANDONED
        return [path for path in backups.unfinished(self.path) if path.lstat().st_mtime < before]

    def has_room(self) -> bool:
        """True if the disk has room for a backup, and for the database to grow by its own size after that."""
        folder = backups.folder(self.path)
        free = shutil.disk_usage(folder if folder.exists() else self.path.parent).free
        return free > 2 * self.path.stat().st_size + ROOM

    def report(self) -> str:
        """Return how many there are, those of a person too, of when the last one is, and where."""
        folder, newest = backups.folder(self.path), self._newest()
        if newest is None:
            return f"none yet in {folder}"
        written = datetime.fromtimestamp(newest, UTC).astimezone()
        line = f"{len(backups_of(self.path))} in {folder}, the last of {written:%Y-%m-%d}"
        return line if backups.dailies(self.path) else "; ".join([line, "none of the daily ones yet"])

    def problem(self) -> str | None:
        """Say how long there was no backup, if that is too long; None where there is one, or nothing new to keep."""
        reason = "" if self.has_room() else ": its disk has too little room"
        newest = self._newest()
        if newest is None:
            return f"no backup yet{reason}" if reason else None
        if self.path.stat().st_mtime - newest < LATE.total_seconds():
            return None
        return f"no backup for {self.days_since()} days{reason}"

    def days_since(self) -> int | None:
        """Return how many days old the newest backup is; None where there is none."""
        newest = self._newest()
        return None if newest is None else int((self.clock().timestamp() - newest) // 86_400)

    def _newest(self) -> float | None:
        return max((path.stat().st_mtime for path in backups_of(self.path)), default=None)


def beyond(paths: list[Path]) -> list[Path]:
    """Return the backups that are kept no longer, of all in the order of their days."""
    newest, older = paths[-DAYS:], paths[:-DAYS]
    of_weeks = {_week(path): path for path in older}  # of each week the newest
    for path in newest:
        of_weeks.pop(_week(path), None)
    weekly = list(of_weeks.values())[-WEEKS:]
    return [path for path in older if path not in weekly]


def _week(path: Path) -> tuple[int, int]:
    year, week, _ = backups.day_of(path).isocalendar()
    return year, week


@contextmanager
def _claimed(target: Path) -> Iterator[bool]:
    """Yield True for one process of all that try at once."""
    claim = target.with_name(f".{target.name}.claim")
    try:
        os.close(os.open(claim, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        yield False
        return
    try:
        yield True
    finally:
        claim.unlink(missing_ok=True)
