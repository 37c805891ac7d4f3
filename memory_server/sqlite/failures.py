"""What the driver's exceptions mean, by type and code, and what mends each."""

from pathlib import Path

import apsw

from memory_server.errors import Conflict, MemoryServerError, Mend, Unavailable, Written


def meaning(error: apsw.Error, path: Path | None) -> MemoryServerError:
    """The failure that a caller can understand."""
    match error:
        case apsw.BusyError() | apsw.LockedError():
            return Unavailable(
                f"Another process has kept {path} locked for longer than this call waits. "
                "The program that holds it (often an open sqlite3 transaction) must be closed.",
                Mend.TRY_AGAIN,
                written=Written.NOTHING,
            )
        case apsw.FullError():
            return Unavailable(
                f"The disk that holds {path} is full. Space must be freed.",
                Mend.TRY_AGAIN,
                written=Written.NOTHING,
            )
        case apsw.ReadOnlyError() if moved(error):
            return Unavailable(
                f"The database {path} was moved, replaced or deleted while it was open. "
                "The next try uses the file that is there now.",
                written=Written.NOTHING,
            )
        case apsw.ReadOnlyError():
            return Unavailable(
                f"The database {path} is read-only. "
                "The user must make the file and its folder writable (chmod u+w).",
                Mend.TRY_AGAIN,
                written=Written.NOTHING,
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
            return Unavailable(f"The database {path} is damaged ({error}).", Mend.RESTORE)
        case apsw.ConstraintError():
            return Conflict(f"The write breaks a rule of the database: {error}.", written=Written.NOTHING)
        case _:
            return Unavailable(
                f"The database {path} failed ({type(error).__name__}: {error}).", written=Written.NOTHING
            )


def moved(error: apsw.Error) -> bool:
    """Whether another file, or none, stands where the database was: SQLite then refuses to write."""
    return getattr(error, "extendedresult", 0) == apsw.SQLITE_READONLY_DBMOVED


def busy(path: Path | None, seconds: float) -> Unavailable:
    """Other calls of this process had every connection until the call's time was over."""
    waited = f"{seconds:.0f}" if seconds >= 0.5 else f"{seconds:.1f}"
    return Unavailable(
        f"Other calls have kept {path} busy for {waited} s. "
        "Often another program holds the file locked, such as an open sqlite3 transaction.",
        Mend.TRY_AGAIN,
        written=Written.NOTHING,
    )
