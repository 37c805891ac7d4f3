"""SQLite's own checks of a file."""

import os
from pathlib import Path

import apsw

from memory_server.sqlite import files
from memory_server.sqlite.rights import INDEXES


def damage(connection: apsw.Connection, *, quick: bool = False) -> list[str]:
    """Run SQLite's check of the whole file; return a line for each problem. `quick` does not check the indexes."""
    _renew_indexes(connection)
    check = "quick_check" if quick else "integrity_check"
    return [str(line) for (line,) in connection.execute(f"PRAGMA {check}") if line != "ok"]


def unwritable(connection: apsw.Connection) -> list[str]:
    """Return a line if nothing can be written: SQLite needs to write to the file and its folder."""
    if connection.filename and not os.access(Path(connection.filename).parent, os.W_OK):
        return ["nothing can be written: the disk or the folder of the file is read-only"]
    return ["nothing can be written: the file is read-only"] if connection.readonly("main") else []


def refuse_damaged(connection: apsw.Connection, path: Path | None) -> None:
    """Raises Unavailable where SQLite finds the file damaged."""
    problems = damage(connection, quick=True)
    if problems:
        raise files.damaged(path, f"The database {path} is damaged ({problems[0]}).")


def _renew_indexes(connection: apsw.Connection) -> None:
    """Make the connection read the word indexes again: a query does so first, but the checks do not.

    FTS5 keeps the list of an index's segments with each connection. Where another connection has written since, the
    checks would compare that old list with the new segments, and call a sound index damaged.
    """
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    for index in INDEXES & tables:
        connection.execute(f"SELECT rowid FROM {index} WHERE {index} MATCH 'a' LIMIT 1").fetchall()
