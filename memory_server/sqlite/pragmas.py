"""Sets up a connection: a function for each choice, with its reason."""

from pathlib import Path

import apsw

from memory_server.errors import Mend, Unavailable

_MAKES = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE


def connected(path: Path | str, flags: int = _MAKES, vfs: str | None = None) -> apsw.Connection:
    """A connection that trusts nothing in its file. Only this function makes connections to files."""
    connection = apsw.Connection(str(path), flags=flags, vfs=vfs)
    _distrust_schema(connection)
    _check_cells(connection)
    return connection


def _distrust_schema(connection: apsw.Connection) -> None:
    """Triggers, views, CHECKs and indexes of the file may call functions without side effects alone."""
    connection.pragma("trusted_schema", False)


def _check_cells(connection: apsw.Connection) -> None:
    """A damaged page is then found when it is read, before its sizes are believed."""
    connection.pragma("cell_size_check", True)


def keep_rollback_journal(connection: apsw.Connection) -> None:
    """The main file alone is then always a whole backup; with a write-ahead log it is not."""
    mode = connection.pragma("journal_mode", "delete")
    if mode != "delete":
        raise Unavailable(
            f"The database is in journal mode {mode!r} and another program has it open. "
            "That program must be closed.",
            Mend.TRY_AGAIN,
        )


def flush_every_commit(connection: apsw.Connection) -> None:
    """EXTRA also flushes the folder after the journal is gone: a power cut then loses no commit."""
    connection.pragma("synchronous", "extra")
    connection.pragma("fullfsync", True)


def enforce_foreign_keys(connection: apsw.Connection) -> None:
    connection.pragma("foreign_keys", True)


def overwrite_deleted_text(connection: apsw.Connection) -> None:
    connection.pragma("secure_delete", True)


def keep_uncommitted_pages_in_memory(connection: apsw.Connection) -> None:
    """Else a long write fills the cache and spills into the file before its commit: a copy of the main file alone,
    taken after a kill amid deletions in 54 MB, was then damaged in 13 of 20 tries; so in 1.
    """
    connection.pragma("cache_spill", False)
