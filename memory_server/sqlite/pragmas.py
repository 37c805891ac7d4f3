"""How a connection is set up: a function for each choice, with its reason."""

import apsw

from memory_server.errors import Mend, Unavailable


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
