"""Names the files and folders of backups."""

from datetime import datetime
from pathlib import Path

from memory_server import defaults
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
    return file_like(database).parent / "backups"
