"""Restores a backup over the database."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memory_server.domain.moment import timestamp
from memory_server.errors import Invalid
from memory_server.sqlite import restoring
from memory_server.sqlite.restoring import Backup
from memory_server.where import Where


@dataclass(frozen=True, slots=True)
class Restored:
    """The version of the schema that the backup had, and where the old file is; None where there was none."""

    version: int
    kept: Path | None


def check(source: Path, target: Path) -> Backup:
    """Look at a backup that can be restored.

    Raises:
        Invalid: it is the database itself.
        Unavailable: it is no sound backup of this program.
    """
    if target.exists() and source.exists() and source.samefile(target):
        raise Invalid(f"{source} is the database itself. Nothing was restored.")
    return restoring.check(source)


def restore(source: Path, target: Path, now: datetime, progress: Callable[[int, int], None]) -> Restored:
    """Check a backup, keep the old file beside, and put a copy of the backup in its place. An older schema is migrated
    when the file is opened.

    Raises:
        Invalid: it is the database itself.
        Unavailable: it is no sound backup of this program.
    """
    version = check(source, target).version
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return Restored(version, restoring.replace(source, target, timestamp(now), progress))


def is_backup_of(backup: Path, database: Where) -> bool:
    """True if a backup is of this database; one of a database on PostgreSQL does not tell that, so True there too.

    Raises:
        Unavailable: it cannot be read.
    """
    return not isinstance(database, Path) or restoring.made_at(backup) == restoring.made_at(database)
