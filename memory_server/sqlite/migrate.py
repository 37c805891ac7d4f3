"""Brings a database file to the newest schema, or leaves it as it was."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from memory_server.errors import Mend, Unavailable
from memory_server.sqlite import files, pragmas, schema
from memory_server.storage import packaged
from memory_server.storage.packaged import Migration

APPLICATION_ID = 0x4D454D53  # "MEMS": `file memory.db` and this server know the file by it.

UNFINISHED_ID = 0x4D454D55
"""The application id of a file into which another database is being copied ("MEMU")."""

PAGES_AT_ONCE = 2_000
"""Pages that are copied between two reports: 8 MB, some milliseconds."""


def version_of(connection: apsw.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").get)


def refuse(
    connection: apsw.Connection, migrations: list[Migration], mend: Mend = Mend.USE_ANOTHER_FILE
) -> None:
    """Refuse a file of another program, or of a version that is newer or was never released, before anything is
    changed, even the journal mode. `mend` helps where it is of another program.
    """
    connection.execute("BEGIN")
    try:
        _refuse_foreign(connection, mend)
        refuse_newer(version_of(connection), migrations[-1].version)
        packaged.missing(migrations, version_of(connection))
    finally:
        connection.execute("ROLLBACK")


def applied(connection: apsw.Connection, migrations: list[Migration]) -> list[Migration]:
    """Return the migrations that were applied to the file."""
    if _is_dump(connection):
        return packaged.applied(migrations, connection.execute("SELECT max(version) FROM migrations").get)
    return packaged.applied(migrations, version_of(connection))


def mend_schema(connection: apsw.Connection, migrations: list[Migration]) -> list[str]:
    """Remove the SQL that is not ours, and make what is missing; return a line for each change.

    Raises:
        Unavailable: the file belongs to another program, is newer than this server, or tables of ours were changed.
    """
    refuse(connection, migrations)
    return schema.mend(connection, applied(connection, migrations))


def refuse_newer(version: int, newest: int) -> None:
    """Refuse a newer file; each transaction checks this, since another window may have upgraded the file.

    Raises:
        Unavailable: the file is newer than this server.
    """
    if version > newest:
        raise Unavailable(
            f"The database has schema version {version}, and this program knows versions up to {newest}. "
            "Nothing was changed.",
            Mend.UPGRADE,
        )


def migrate(connection: apsw.Connection, path: Path | None, migrations: list[Migration], now: str) -> None:
    """Apply what is missing in one transaction. Several processes may do so at once: one does the work.

    Raises:
        Unavailable: the file belongs to another program or is newer than this server.
    """
    newest = migrations[-1].version
    refuse(connection, migrations)
    if version_of(connection) == newest:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        _refuse_foreign(connection)
        schema.refuse_foreign(connection, applied(connection, migrations))
        _adopt_dump(connection)
        refuse_newer(version_of(connection), newest)
        packaged.missing(migrations, version_of(connection))
        if path is not None and 0 < version_of(connection) < newest:
            _back_up_before(path, newest)
        _apply(connection, migrations, now)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _apply(connection: apsw.Connection, migrations: list[Migration], now: str) -> None:
    for migration in packaged.missing(migrations, version_of(connection)):
        connection.execute(migration.path.read_text(encoding="utf-8"))
        connection.execute(
            """
            INSERT INTO migrations (version, name, applied_at)
            VALUES (?, ?, ?)
            """,
            (migration.version, migration.name, now),
        )
        connection.pragma("user_version", migration.version)
    connection.pragma("application_id", APPLICATION_ID)


def _refuse_foreign(connection: apsw.Connection, mend: Mend = Mend.USE_ANOTHER_FILE) -> None:
    owner = int(connection.pragma("application_id"))
    if owner == UNFINISHED_ID:
        raise Unavailable("The file is an unfinished copy of another database.", Mend.COPY_AGAIN)
    foreign = connection.execute("SELECT name FROM sqlite_schema LIMIT 1").get is not None
    if owner != APPLICATION_ID and foreign and not _is_dump(connection):
        raise Unavailable(
            f"{connection.filename} is a SQLite database of another program. Nothing was changed.",
            mend,
        )


def _is_dump(connection: apsw.Connection) -> bool:
    """True for a file restored from `.dump` of the stock program, which writes all rows but neither of the header
    numbers.
    """
    dump_query = """
        SELECT count(*) FROM sqlite_schema
        WHERE type = 'table' AND name IN ('memories', 'migrations', 'memory_words', 'spaces')
    """
    return (
        int(connection.pragma("application_id")) == 0
        and version_of(connection) == 0
        and connection.execute(dump_query).get == 4
    )


def _adopt_dump(connection: apsw.Connection) -> None:
    if _is_dump(connection):
        connection.pragma("user_version", connection.execute("SELECT max(version) FROM migrations").get)
        connection.pragma("application_id", APPLICATION_ID)


def made_at(connection: apsw.Connection) -> str:
    """Return the moment at which a database was made: its copies and backups have the same, and no other database."""
    return str(connection.execute("SELECT applied_at FROM migrations WHERE version = 1").get)


def _back_up_before(path: Path, newest: int) -> None:
    """Copy the file before its migration, under the write lock, so that no other process migrates it first."""
    reader = pragmas.connected(path, flags=apsw.SQLITE_OPEN_READONLY)
    try:
        backup(reader, path.with_name(f"{path.name}{files.BEFORE}{newest:04d}"))
    finally:
        reader.close()


def backup(
    connection: apsw.Connection,
    target: Path,
    progress: Callable[[int, int], None] | None = None,
    before: Callable[[], None] | None = None,
    mend: Callable[[apsw.Connection], object] = lambda _copy: None,
) -> None:
    """Copy the whole database, as it is at one moment, to `target`: checked, flushed, then renamed into place.

    `progress` hears how many pages of how many are copied. `mend` may change the copy before it is checked. `before` is
    called when the copy is whole, before it is renamed.

    Raises:
        Unavailable: nothing can be written there, or the copy failed its integrity check.
    """
    with _placed(target, before) as temporary:
        copy = pragmas.connected(temporary)
        try:
            _copy(connection, copy, progress)
            mend(copy)
        finally:
            copy.close()


def rescue(identity: files.Identity, target: Path) -> None:
    """Copy a database that is open in this process, but no longer at its path, to `target`, byte by byte.

    SQLite itself must not read it: the journal of the file that stands there now has the name that its own would have,
    and would be rolled back into it.

    Raises:
        Unavailable: the copy failed its integrity check.
    """
    with _placed(target) as temporary:
        files.copy_open(identity, temporary)


@contextmanager
def _placed(target: Path, before: Callable[[], None] | None = None) -> Iterator[Path]:
    """Yield the path of a new file to fill; then it is checked, flushed and renamed to `target`."""
    # Made anew under a name that nobody can foresee: a link that somebody has put there would be followed.
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f"{target.name}.", suffix=files.TEMPORARY)
    except OSError as error:
        raise Unavailable(
            f"{target} cannot be written: {error.strerror}. Name a file in a folder to which you may write."
        ) from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        copy = pragmas.connected(temporary)
        try:
            result = copy.execute("PRAGMA integrity_check").get
        finally:
            copy.close()
        if result != "ok":
            raise Unavailable(f"The copy failed its integrity check: {result}. No backup was written.")
        flush(temporary)
        if before is not None:
            before()
        temporary.replace(target)
        flush(target.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _copy(
    source: apsw.Connection, target: apsw.Connection, progress: Callable[[int, int], None] | None
) -> None:
    """Copy in one step; if progress is reported, in several inside one transaction, so that nothing is written
    meanwhile.
    """
    with target.backup("main", source, "main") as job:
        if progress is None:
            job.step()
            return
        begun = not source.in_transaction
        if begun:
            source.execute("BEGIN")
        try:
            source.execute("SELECT count(*) FROM sqlite_schema").fetchall()
            while not job.done:
                job.step(PAGES_AT_ONCE)
                progress(job.page_count - job.remaining, job.page_count)
        finally:
            if begun:
                source.execute("ROLLBACK")


def flush(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    if os.name == "nt" and path.is_dir():  # Windows cannot open a folder.
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
