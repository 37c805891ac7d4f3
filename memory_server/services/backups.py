"""Names the files and folders of backups."""

import glob
from datetime import date, datetime
from pathlib import Path

from memory_server import defaults
from memory_server.storage.files import BACKUPS, DAILY, named_backups
from memory_server.where import Where


def file_like(database: Where) -> Path:
    """Return the file whose name and folder a backup takes: of a database on PostgreSQL one in the user data folder."""
    if isinstance(database, Path):
        return database
    return defaults.database().with_name(f"{database.name}.db")


def named(database: Where, now: datetime) -> str:
    """Return the name of a backup: that of the database with the moment, in local time."""
    like = file_like(database)
    return f"{like.stem}-{now.astimezone():%Y%m%d-%H%M%S}{like.suffix}"


def folder(database: Where) -> Path:
    """Return the usual folder: `backups` beside the database."""
    return file_like(database).parent / BACKUPS


def daily(database: Path, now: datetime) -> Path:
    """Return the backup of a day: local time decides which it is."""
    return folder(database) / f"{database.stem}{DAILY}{now.astimezone():%Y%m%d}{database.suffix}"


def dailies(database: Path) -> list[Path]:
    """Return the backups that were made by themselves, in the order of their days."""
    return sorted(named_backups(database, f"{DAILY}{'[0-9]' * 8}{glob.escape(database.suffix)}"))


def unfinished(database: Path) -> list[Path]:
    """Return what is left of a backup that is being made by itself, or was broken off."""
    copies = named_backups(database, f"{DAILY}*.tmp*")
    return [*copies, *named_backups(database, f"{DAILY}*.claim", before=".")]


def day_of(path: Path) -> date:
    """Return the day of a backup that was made by itself."""
    return datetime.strptime(path.stem[-8:], "%Y%m%d").date()
