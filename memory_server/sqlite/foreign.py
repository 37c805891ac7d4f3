"""Reads SQLite files of other programs, from a copy: nothing is written beside the file, and no lock is taken."""

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import apsw

from memory_server.errors import Hint, Mend, Unavailable
from memory_server.sqlite import migrate, pages, pragmas, temporary
from memory_server.storage.packaged import Migration

BESIDE = ("-wal", "-journal")
"""Endings of the files beside a SQLite file whose rows are not yet in the file itself."""

UNREADABLE = "unreadable"

WAIT = 5_000
"""Milliseconds that a read waits for the program of the file."""

_READS = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI

TRIES = 3
"""Copies that are made at most: another program may write during one."""


@contextmanager
def opened(path: Path) -> Iterator[apsw.Connection]:
    """Yield a connection to a copy of a file, with the rows that its program has not moved into it yet.

    Raises: Unavailable: the file is damaged, needs what this SQLite has not, or another program writes into it all the
    time.
    """
    with temporary.folder() as folder:
        copy = copied(path, folder)
        with _translated(path), closing(pragmas.connected(copy)) as connection:
            _refuse_damaged(connection, path)
            yield connection


@contextmanager
def in_place(path: Path) -> Iterator[Callable[..., list[Any]]]:
    """Yield a function that reads rows of a file where it lies: it may be larger than the room for a copy.

    Each read ends at once, so the file's program waits for none of them. A log without its index beside it is read from
    a copy, because SQLite would write one.

    Raises:
        Unavailable: the file is damaged, or was written while it was read.
    """
    address = _address(path)
    if address is None:
        with opened(path) as connection:
            yield partial(_rows_of, connection)
        return
    before = _state(path)
    with _translated(path), closing(pragmas.connected(address, _READS)) as connection:
        connection.set_busy_timeout(WAIT)
        yield partial(_rows_of, connection)
    if "immutable" in address and _state(path) != before:
        raise Unavailable(f"{path} was written while it was read. Import it again.")


def _address(path: Path) -> str | None:
    """Return the address at which SQLite reads a file and leaves nothing beside it; None where there is none."""
    companions = {ending for ending in (*BESIDE, "-shm") if path.with_name(path.name + ending).exists()}
    with path.open("rb") as file:
        has_log = file.read(19)[18:] == b"\2"
    if companions == {"-wal", "-shm"} or not (companions or has_log):
        return f"{path.resolve().as_uri()}?mode=ro&readonly_shm=1"
    return None if companions else f"{path.resolve().as_uri()}?immutable=1"


def _rows_of(connection: apsw.Connection, sql: str, values: Mapping[str, Any] | None = None) -> list[Any]:
    return connection.execute(sql, values or {}).fetchall()


def names(path: Path) -> frozenset[str]:
    """Return the names of the tables of a file; none where it is no file of SQLite, or cannot be read."""
    with path.open("rb") as file:
        if not file.read(16).startswith(b"SQLite format 3"):
            return frozenset()
    try:
        with in_place(path) as rows:
            return frozenset(name for (name,) in rows("SELECT name FROM sqlite_schema WHERE type = 'table'"))
    except Unavailable:
        return frozenset()


def tables(path: Path) -> dict[str, list[str]]:
    """Return the columns of each ordinary table of a file; SQLite reads a virtual table only with its module."""
    with opened(path) as connection:
        names = [
            name
            for (name,) in connection.execute(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0"
            )
        ]
        return {
            name: [
                column for (column,) in connection.execute("SELECT name FROM pragma_table_info(?)", (name,))
            ]
            for name in names
        }


def rows(path: Path, sql: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a statement, by the names of their columns; one that is not UTF-8 has UNREADABLE alone."""
    with opened(path) as connection:
        cursor = connection.execute(sql)
        try:
            names = [name for name, *_ in cursor.description_full]
        except apsw.ExecutionCompleteError:  # there are no rows
            return
        number = 0
        while True:
            number += 1
            try:
                yield dict(zip(names, next(cursor), strict=True))
            except StopIteration:
                return
            except UnicodeDecodeError:
                yield {UNREADABLE: number}


def copied(path: Path, folder: Path) -> Path:
    """Copy a file into a folder, with the rows that its program has not moved into it yet; return the path.

    Raises:
        Unavailable: another program writes into it all the time.
    """
    target = folder / "copy.db"
    for _ in range(TRIES):
        before = _state(path)
        shutil.copyfile(path, target)
        for ending in BESIDE:
            companion = path.with_name(path.name + ending)
            copy = folder / f"copy.db{ending}"
            copy.unlink(missing_ok=True)
            if companion.exists():
                shutil.copyfile(companion, copy)
        if _state(path) == before:
            return target
    raise Unavailable(f"{path} is being written all the time. Stop its program, then import it again.")


def make_ours(copy: Path, path: Path, migrations: list[Migration]) -> list[str]:
    """Remove the SQL that is not ours from the copy of a database of this program; return a line for each change.

    Raises:
        Unavailable: the file is damaged, newer than this program, or no database of it, or its tables were changed.
    """
    if copy.is_file() and not _is_sqlite(copy):
        raise Unavailable(
            f"{path} is no database. Nothing was merged.", Hint(Mend.IMPORT_FILE, {"path": path})
        )
    with _translated(path), closing(pragmas.connected(copy)) as connection:
        _refuse_damaged(connection, path)
        our_tables = "SELECT count(*) FROM sqlite_schema WHERE name IN ('memories', 'migrations')"
        if connection.execute(our_tables).get != 2:
            raise Unavailable(
                f"{path} is a database of another program. Nothing was merged.",
                Hint(Mend.IMPORT_FILE, {"path": path}),
            )
        return migrate.mend_schema(connection, migrations)


def _is_sqlite(path: Path) -> bool:
    """Return True for a file of SQLite; it takes an empty file for a database without tables."""
    with path.open("rb") as file:
        return file.read(len(pages.MAGIC)) in (b"", pages.MAGIC)


def _state(path: Path) -> list[tuple[int, int] | None]:
    states: list[tuple[int, int] | None] = []
    for file in (path, *(path.with_name(path.name + ending) for ending in BESIDE)):
        status = file.stat() if file.exists() else None
        states.append(None if status is None else (status.st_mtime_ns, status.st_size))
    return states


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    try:
        yield
    except apsw.Error as error:
        raise Unavailable(f"{path} cannot be read: {error}") from error


def _refuse_damaged(connection: apsw.Connection, path: Path) -> None:
    result = connection.execute("PRAGMA quick_check(1)").get
    if result != "ok":
        raise Unavailable(f"{path} is damaged: {result}")
