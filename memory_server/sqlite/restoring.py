"""Puts a backup in the place of a database: checked first, and the old file kept beside."""

from collections.abc import Callable
from pathlib import Path

import apsw

from memory_server.errors import Mend, Unavailable
from memory_server.sqlite import checks, files, migrate, pragmas

KEPT = ".before-restore-"
"""What stands in the name of the file that a backup has replaced: it is one of the copies, which go after 30 days."""


def check(source: Path, newest: int) -> int:
    """The version of the schema of a backup.

    Raises:
        Unavailable: it is no database of ours, newer than this program, or damaged.
    """
    if not source.is_file() or source.stat().st_size == 0:
        raise Unavailable(f"{source} is no file, or an empty one. Nothing was restored.", Mend.NAME_BACKUP)
    connection = _reader(source)
    try:
        migrate.refuse(connection, newest)
        version = migrate.version_of(connection)
        if version == 0:
            raise Unavailable(
                f"{source} is no backup of this program. Nothing was restored.", Mend.NAME_BACKUP
            )
        found = checks.damage(connection)
    except (apsw.NotADBError, apsw.CorruptError) as error:
        raise Unavailable(
            f"{source} is no sound database ({error}). Nothing was restored.", Mend.NAME_BACKUP
        ) from error
    finally:
        connection.close()
    if found:
        raise Unavailable(f"{source} is damaged ({found[0]}). Nothing was restored.", Mend.NAME_BACKUP)
    return version


def replace(
    source: Path, target: Path, now: str, told: Callable[[int, int], None] | None = None
) -> Path | None:
    """Put a copy of a checked backup in the place of a database; where the old file is now, if there was one."""
    kept = _keep(target, now) if target.exists() else None
    connection = _reader(source)
    try:
        migrate.backup(connection, target, told)
    finally:
        connection.close()
    return kept


def _keep(target: Path, now: str) -> Path:
    """A whole copy of the old file, also of what a killed program left in its journal; a damaged one as it is."""
    kept = files.dated(target, KEPT, now)
    journal = target.with_name(f"{target.name}-journal")
    try:
        connection = pragmas.connected(target, flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            migrate.backup(connection, kept)
        finally:
            connection.close()
    except (apsw.Error, Unavailable):
        target.replace(kept)
        if journal.exists():
            journal.replace(kept.with_name(f"{kept.name}-journal"))
    journal.unlink(missing_ok=True)  # it belongs to the old file: the new one would be undone with it
    files.tighten(kept)
    return kept


def _reader(path: Path) -> apsw.Connection:
    return pragmas.connected(path, flags=apsw.SQLITE_OPEN_READONLY)
