"""Where backups are written, and what they are called."""

from datetime import datetime
from pathlib import Path


def named(database: Path, now: datetime) -> str:
    """The name of a backup: that of the database with the moment, in local time."""
    return f"{database.stem}-{now.astimezone():%Y%m%d-%H%M%S}{database.suffix}"


def folder(database: Path) -> Path:
    """The usual folder: `backups` beside the database."""
    return database.parent / "backups"
