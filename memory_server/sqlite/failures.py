"""Translates the driver's exceptions, by type and code, into errors that say what mends them."""

from contextlib import closing
from pathlib import Path

import apsw

from memory_server.errors import Conflict, Hint, MemoryServerError, Mend, Unavailable, Written
from memory_server.sqlite import files, pragmas

LARGEST = 2**63 - 1
"""The largest id that a row can have. A table that has it takes no more rows: SQLite gives each new one a larger id."""

_LOCKING = {
    apsw.SQLITE_IOERR_LOCK,
    apsw.SQLITE_IOERR_RDLOCK,
    apsw.SQLITE_IOERR_UNLOCK,
    apsw.SQLITE_IOERR_CHECKRESERVEDLOCK,
}
"""SQLite's codes for a file system that answers that it has no locks."""

_COMMITTING = {apsw.SQLITE_IOERR_DELETE, apsw.SQLITE_IOERR_DIR_FSYNC}
"""SQLite's codes for a failed deletion of the journal, which is what commits: it may be gone all the same."""


def meaning(error: apsw.Error, path: Path | None) -> MemoryServerError:
    """Translate an error of the driver into one that says what mends it."""
    match error:
        case apsw.IOError() | apsw.BusyError() if _has_no_locks(error, path):
            return Unavailable(
                f"The file system that holds {path} does not lock files, and SQLite needs that. "
                "The database must be on another disk.",
                Mend.USE_ANOTHER_FILE,
                written=Written.NOTHING,
            )
        case apsw.IOError() if _extended(error) in _COMMITTING:
            return Unavailable(
                f"The disk that holds {path} failed while this was being committed ({_code(error)}). "
                "The file may be whole: the disk must be checked.",
                Mend.LOOK_FIRST,
                written=Written.UNKNOWN,
            )
        case apsw.IOError():
            return _again(
                f"The disk that holds {path} failed ({_code(error)}). The file may be whole: the disk must be checked."
            )
        case apsw.BusyError() | apsw.LockedError():
            return _again(
                f"Another process has kept {path} locked for longer than this call waits. "
                "The program that holds it (often an open sqlite3 transaction) must be closed."
            )
        case apsw.FullError() if tables := _used_up(path):
            return Unavailable(
                f"The table {tables[0]} has a row with the largest id that there is ({LARGEST}), "
                "so it takes no more rows.",
                Hint(Mend.FREE_IDS, {"table": tables[0], "id": LARGEST}),
                written=Written.NOTHING,
            )
        case apsw.FullError():
            return _again(f"The disk that holds {path} is full. Space must be freed.")
        case apsw.ReadOnlyError() if moved(error):
            return Unavailable(
                f"The database {path} was moved, replaced or deleted while it was open. "
                "The next try uses the file that is there now.",
                written=Written.NOTHING,
            )
        case apsw.ReadOnlyError():
            return _again(
                f"The database {path} is read-only. "
                "The user must make the file and its folder writable (chmod u+w)."
            )
        case apsw.CantOpenError() | apsw.PermissionsError() | apsw.AuthError():
            return Unavailable(
                f"The database {path} cannot be opened ({error}). Its path or its permissions may be wrong.",
                Mend.USE_ANOTHER_FILE,
            )
        case apsw.NotADBError():
            return Unavailable(
                f"The file {path} is not a SQLite database. It was left as it is.",
                Mend.USE_ANOTHER_FILE,
            )
        case apsw.CorruptError():
            return files.damaged(path, f"The database {path} is damaged ({error}).")
        case apsw.ConstraintError():
            return Conflict(f"The write breaks a rule of the database: {error}.", written=Written.NOTHING)
        case _:
            return Unavailable(
                f"The database {path} failed ({type(error).__name__}: {error}).", written=Written.NOTHING
            )


def _has_no_locks(error: apsw.Error, path: Path | None) -> bool:
    """SQLite has codes for most answers of the file system, but says "busy" to the answer "no locks"."""
    if isinstance(error, apsw.BusyError):
        return path is not None and not files.can_lock(path.parent)
    return _extended(error) in _LOCKING


def _used_up(path: Path | None) -> list[str]:
    """Return the tables whose largest id is taken. SQLite calls that full, as it calls a disk."""
    if path is None:
        return []
    try:
        with closing(pragmas.connected(path, apsw.SQLITE_OPEN_READONLY)) as connection:
            rows = connection.execute(
                "SELECT name FROM sqlite_sequence WHERE seq = ? ORDER BY name", (LARGEST,)
            )
            return [name for (name,) in rows]
    except apsw.Error:
        return []


def _extended(error: apsw.Error) -> int:
    """Return SQLite's extended result code; 0 where the driver has none."""
    code: int = getattr(error, "extendedresult", 0)
    return code


def _code(error: apsw.Error) -> str:
    """Return the name of the code, such as SQLITE_IOERR_READ."""
    return str(apsw.mapping_extended_result_codes.get(_extended(error), "SQLITE_IOERR"))


def moved(error: apsw.Error) -> bool:
    """True if another file, or none, stands where the database was: SQLite then refuses to write."""
    return _extended(error) == apsw.SQLITE_READONLY_DBMOVED


def _again(text: str) -> Unavailable:
    """Make the error for a call of which nothing was written, and that can be tried again."""
    return Unavailable(text, Mend.TRY_AGAIN, written=Written.NOTHING)


def busy(path: Path | None, seconds: float) -> Unavailable:
    """Make the error for a call that waited in vain: other calls of this process used every connection."""
    waited = f"{seconds:.0f}" if seconds >= 0.5 else f"{seconds:.1f}"
    return _again(
        f"Other calls have kept {path} busy for {waited} s. "
        "Often another program holds the file locked, such as an open sqlite3 transaction."
    )
