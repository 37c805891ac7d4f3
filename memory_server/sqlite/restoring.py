"""Puts a backup in the place of a database: checked first, and the old file kept beside."""

import os
import shutil
import sys
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import apsw

from memory_server.call.deadline import CALL
from memory_server.errors import Mend, Unavailable
from memory_server.sqlite import checks, failures, files, migrate, pragmas, schema, temporary
from memory_server.sqlite.waiting import nap, until_the_end
from memory_server.storage import packaged

KEPT = ".before-restore-"
"""The middle of the name of a file that a backup has replaced: it is one of the copies, which go after 30 days."""


@dataclass(frozen=True, slots=True)
class Backup:
    """A sound backup: the version of its schema, and the SQL in it that is not ours, which is not restored."""

    version: int
    foreign: str


def check(source: Path) -> Backup:
    """Look at a backup.

    Raises:
        Unavailable: it is no database of ours, newer than this program, or damaged, or its tables were changed.
    """
    if not source.is_file() or source.stat().st_size == 0:
        fault = "is a folder" if source.is_dir() else "is empty" if source.exists() else "does not exist"
        raise Unavailable(f"{source} {fault}. Nothing was restored.", Mend.NAME_BACKUP)
    try:
        with closing(_reader(source)) as connection:
            migrations = packaged.load(packaged.folder())
            migrate.refuse(connection, migrations, Mend.NAME_BACKUP)
            version = migrate.version_of(connection)
            different = schema.difference(connection, migrate.applied(connection, migrations))
            schema.refuse_changed(different)
            if version == 0:
                raise Unavailable(
                    f"{source} is no backup of this program. Nothing was restored.", Mend.NAME_BACKUP
                )
            damage = checks.damage(connection)
    except (apsw.NotADBError, apsw.CorruptError) as error:
        raise Unavailable(
            f"{source} is no sound database ({error}). Nothing was restored.", Mend.NAME_BACKUP
        ) from error
    except apsw.Error as error:
        raise failures.meaning(error, source) from error
    if damage:
        raise Unavailable(f"{source} is damaged ({damage[0]}). Nothing was restored.", Mend.NAME_BACKUP)
    return Backup(version, schema.listed(different.foreign))


def made_at(path: Path) -> str:
    """Return the moment at which a database was made; its backups have the same.

    Raises:
        Unavailable: the file cannot be read.
    """
    try:
        with until_the_end(CALL), closing(_reader(path)) as connection:
            connection.set_busy_handler(nap)
            return migrate.made_at(connection)
    except apsw.Error as error:
        raise failures.meaning(error, path) from error


def replace(source: Path, target: Path, now: str, progress: Callable[[int, int], None]) -> Path | None:
    """Put a copy of a checked backup in the place of a database; return the path of the old file, if there was one.

    The copy holds no SQL that is not ours. It is made whole beside the old file. Then the old file gets a second name,
    and the copy is renamed over it: a whole file stands at the path at every moment.

    Raises:
        Unavailable: the disk is full, or a program has the old file locked. It is as it was.
    """
    old_file: Path | None = None
    migrations = packaged.load(packaged.folder())

    def keep() -> None:
        nonlocal old_file
        if target.exists():
            old_file = _keep(target, files.dated(target, KEPT, now), until_renamed)

    try:
        with until_the_end(CALL), ExitStack() as until_renamed:
            reader = until_renamed.enter_context(closing(_reader(source)))
            migrate.backup(reader, target, progress, keep, lambda copy: migrate.mend_schema(copy, migrations))
    except apsw.Error as error:
        raise failures.meaning(error, target) from error
    return old_file


def _keep(target: Path, old_file: Path, until_renamed: ExitStack) -> Path:
    """Give the old file its second name: a sound one without the rest of a killed program's journal, a damaged one as
    it is.

    No program can write into it from then on: SQLite refuses to where another file stands at the path.
    """
    connection = until_renamed.enter_context(closing(_locked(target)))
    try:
        os.link(target, old_file)
    except OSError:  # this file system has no links
        _copy(target, old_file)
    files.tighten(old_file)
    for ending in ("-journal", "-wal"):  # of the old file: the new one would be changed by it
        companion = target.with_name(target.name + ending)
        if companion.exists():
            companion.replace(old_file.with_name(old_file.name + ending))
    migrate.flush(target.parent)
    if sys.platform == "win32":  # what is open cannot be replaced there
        connection.close()
    return old_file


def _locked(path: Path) -> apsw.Connection:
    """Return a connection that lets no other program write; a damaged file cannot be locked.

    Raises:
        BusyError: another program has the file locked.
    """
    connection = pragmas.connected(path, flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_handler(nap)
    try:
        pragmas.keep_rollback_journal(connection)
        connection.execute("BEGIN IMMEDIATE")
    except (apsw.NotADBError, apsw.CorruptError):
        return connection
    except BaseException:
        connection.close()
        raise
    return connection


def _copy(path: Path, target: Path) -> None:
    """Copy a database; a damaged file is copied byte by byte."""
    try:
        with closing(_reader(path)) as connection:
            migrate.backup(connection, target)
    except (apsw.NotADBError, apsw.CorruptError, Unavailable):
        with temporary.file(target) as copy:
            shutil.copyfile(path, copy)
            migrate.flush(copy)
            copy.replace(target)


def _reader(path: Path) -> apsw.Connection:
    """Open for writing, because a transaction that a killed program left in the journal must be undone first."""
    return pragmas.connected(path, flags=apsw.SQLITE_OPEN_READWRITE)
