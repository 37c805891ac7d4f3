"""The one connection to the database file, its transactions, and what its failures mean."""

import logging
import os
import random
import stat
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import apsw

from memory_server.domain.moment import timestamp
from memory_server.errors import Conflict, MemoryServerError, Unavailable
from memory_server.sqlite import migrate, vectors

logger = logging.getLogger(__name__)

BUSY_LIMIT = 20.0
"""Seconds to wait for another process to finish its write."""

COUNTING_PATIENCE = 1.0
"""The same for a read that only wants to count itself."""

Value = str | int | float | bytes | None
Values = Sequence[Value] | Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Tx:
    """A transaction. Table modules take one; only services open one. `now` is when it began."""

    connection: apsw.Connection
    now: str

    def rows(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        return self.connection.execute(sql, values).fetchall()

    def row(self, sql: str, values: Values = ()) -> tuple[Any, ...] | None:
        return self.connection.execute(sql, values).fetchone()

    def one(self, sql: str, values: Values = ()) -> tuple[Any, ...]:
        """The only row of a statement that always gives one."""
        (row,) = self.rows(sql, values)
        return row

    def value(self, sql: str, values: Values = ()) -> Any:
        row = self.row(sql, values)
        return None if row is None else row[0]

    def tokenize(self, text: str) -> list[str]:
        """The tokens that the word index makes of a text: folded, without accents, stemmed."""
        tokenizer = self.connection.fts5_tokenizer("porter", ["unicode61", "remove_diacritics", "2"])
        groups = tokenizer(text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False)
        return [str(token) for group in groups for token in group]


@dataclass(frozen=True, slots=True)
class WriteTx(Tx):
    """A transaction that may write: functions that write demand it by type."""

    afterwards: list[str] = field(default_factory=list)
    """Statements to run once it is committed."""

    def execute(self, sql: str, values: Values = ()) -> int:
        """Run one statement; how many rows it changed."""
        before = self.connection.total_changes()
        self.connection.execute(sql, values)
        return self.connection.total_changes() - before

    def rewrite_file_afterwards(self) -> None:
        """`secure_delete` is not enough: pages whose rows have moved keep copies of them in their unused middle."""
        self.afterwards.append("VACUUM")


class Database:
    """One connection and one lock a process: the driver refuses concurrent use of a connection.

    The file is opened at the first use, and a failure to open is tried again at the next, so that a
    client hears in each answer what is wrong until it is mended. `path` None is a database in memory.
    """

    def __init__(
        self,
        path: Path | None,
        clock: Callable[[], datetime],
        migrations: Path | None = None,
        make_folders: bool = False,
    ) -> None:
        """`make_folders`: every missing folder above the file is made, not only the last."""
        self._make_folders = make_folders
        self.path = path
        self._clock = clock
        self._migrations = migrate.load(migrations or migrate.packaged_folder())
        self._lock = threading.RLock()
        self._opened: apsw.Connection | None = None
        self._closed = False

    def open(self) -> None:
        """Open and migrate the file now.

        Raises:
            Unavailable: it cannot be opened; the message says why and what mends it.
        """
        with self._lock, self._translated():
            self._connection()

    @contextmanager
    def read(self) -> Iterator[Tx]:
        """One consistent view of the file."""
        with self._lock, self._translated():
            connection = self._connection()
            connection.execute("BEGIN")
            try:
                yield Tx(connection, timestamp(self._clock()))
            finally:
                _roll_back(connection)

    @contextmanager
    def write(self, patience: float | None = None) -> Iterator[WriteTx]:
        """One write: committed and on disk when the block ends, undone when it raises.

        `patience` is how many seconds to wait for other processes where that is less than BUSY_LIMIT.
        """
        with self._lock, self._translated(), _waiting_at_most(patience):
            connection = self._connection()
            connection.execute("BEGIN IMMEDIATE")
            try:
                migrate.refuse_newer(connection, self._migrations[-1].version)
                tx = WriteTx(connection, timestamp(self._clock()))
                yield tx
                connection.execute("COMMIT")
            finally:
                _roll_back(connection)
            self._finish(connection, tx)

    def count(self, mark: Callable[[WriteTx], object]) -> str | None:
        """Let a read count itself, unless the file is read-only; why it could not. Then only the count is lost."""
        if self.read_only:
            return None
        try:
            with self.write(COUNTING_PATIENCE) as tx:
                mark(tx)
        except Unavailable as error:
            return str(error)
        return None

    @property
    def read_only(self) -> bool:
        with self._lock, self._translated():
            return self._connection().readonly("main")

    def size(self) -> int:
        """Bytes of the database."""
        with self.read() as tx:
            return int(tx.value("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"))

    def problems(self) -> list[str]:
        """What is wrong with the file: SQLite's own checks, missing triggers, a word index that is not whole."""
        with self.read() as tx:
            found = [str(row[0]) for row in tx.rows("PRAGMA integrity_check")]
            found += [f"foreign key: {row}" for row in tx.rows("PRAGMA foreign_key_check")]
            there = {name for (name,) in tx.rows("SELECT name FROM sqlite_schema WHERE type = 'trigger'")}
            found += [
                f"trigger {name} is missing" for name in sorted(migrate.triggers(self._migrations) - there)
            ]
            unindexed = tx.value(
                "SELECT count(*) FROM memories WHERE id NOT IN (SELECT rowid FROM memory_words)"
            )
            if unindexed:
                found.append(f"{unindexed} memories are not in the word index")
            for kind, texts in _TEXTS.items():
                found += [f"{kind} {id} holds text that is not UTF-8" for id in _undecodable(tx, texts)]
            return [line for line in found if line != "ok"]

    def facts(self) -> dict[str, str]:
        """What a person may ask about the file and the libraries that read it."""
        with self._lock, self._translated():
            connection = self._connection()
            return {
                "schema": f"version {migrate.version_of(connection)}",
                "sqlite": f"{apsw.sqlite_lib_version()} (apsw {apsw.apsw_version()})",
                "journal": f"{connection.pragma('journal_mode')}, synchronous {connection.pragma('synchronous')}",
                "vectors": vectors.engine(connection),
            }

    def backup(self, target: Path) -> None:
        """Write a checked copy of the whole database to `target`, in one step."""
        with self._lock, self._translated():
            migrate.backup(self._connection(), target)

    def close(self, timeout: float = -1) -> bool:
        """Close the file for good; false when another thread kept it busy for `timeout` seconds."""
        if not self._lock.acquire(timeout=timeout):
            return False
        try:
            self._closed = True
            self._let_go()
            return True
        finally:
            self._lock.release()

    def _let_go(self) -> None:
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def _connection(self) -> apsw.Connection:
        if self._closed:
            raise Unavailable("The server is stopping. Call again after it has restarted.")
        if self._opened is None:
            self._opened = self._open()
        return self._opened

    def _finish(self, connection: apsw.Connection, tx: WriteTx) -> None:
        try:
            for statement in tx.afterwards:
                connection.execute(statement)
        except apsw.Error as error:
            raise Unavailable(
                f"The memory is deleted, but overwriting its traces in {self.path} failed ({error}). "
                "To overwrite them, run `sqlite3 FILE VACUUM`."
            ) from error

    def _open(self) -> apsw.Connection:
        if self.path is not None:
            _prepare_file(self.path, self._make_folders)
        connection = apsw.Connection(":memory:" if self.path is None else str(self.path))
        try:
            connection.set_busy_handler(_nap)
            migrate.refuse(connection, self._migrations[-1].version)
            if self.path is not None:
                _keep_rollback_journal(connection)
            _flush_every_commit(connection)
            _enforce_foreign_keys(connection)
            _overwrite_deleted_text(connection)
            _keep_uncommitted_pages_in_memory(connection)
            vectors.install(connection)
            migrate.migrate(connection, self.path, self._migrations, timestamp(self._clock()))
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """The driver's exceptions, by type, as ours. Nothing else in the package knows them."""
        try:
            yield
        except apsw.Error as error:
            if _moved(error):
                self._let_go()
            raise _meaning(error, self.path) from error
        except UnicodeDecodeError as error:
            raise Unavailable(
                f"A row of {self.path} holds text that is not UTF-8, as a hand edit or an import can leave. "
                "The user can run `memory-server doctor`: it names the row, to be mended in sqlite3."
            ) from error
        except OSError as error:
            raise Unavailable(f"The database {self.path} cannot be reached: {error}.") from error


_TEXTS = {
    "memory": "SELECT id, CAST(content || ifnull(created_by, '') AS BLOB) FROM memories",
    "short-term memory": "SELECT id, CAST(text AS BLOB) FROM short_term_memories",
    "long-term memory": """
        SELECT id, CAST(name || prompt || "trigger" || ifnull(created_context, '') || ifnull(updated_context, '')
            || ifnull(error, '') AS BLOB)
        FROM long_term_memories
    """,
    "conversation": "SELECT id, CAST(name AS BLOB) FROM conversations",
}
"""The text of each row that a person may have written."""


def _undecodable(tx: Tx, texts: str) -> list[int]:
    """The ids of rows whose bytes are no UTF-8."""
    rows = tx.rows(texts)
    return [id for id, text in rows if text.decode(errors="ignore").encode() != text]


def _meaning(error: apsw.Error, path: Path | None) -> MemoryServerError:
    match error:
        case apsw.BusyError() | apsw.LockedError():
            return Unavailable(
                f"Another process has kept {path} locked for longer than this call waits. Nothing was written. "
                "Close the program that holds it (often an open sqlite3 transaction), then call again."
            )
        case apsw.FullError():
            return Unavailable(
                f"The disk that holds {path} is full. Nothing was written. Free space, then call again."
            )
        case apsw.ReadOnlyError() if _moved(error):
            return Unavailable(
                f"The database {path} was moved, replaced or deleted while it was open. Nothing was written. "
                "Call again: the file that is there now will be used."
            )
        case apsw.ReadOnlyError():
            return Unavailable(
                f"The database {path} is read-only. Nothing was written. "
                f"Make the file and its folder writable (chmod u+w), then call again."
            )
        case apsw.CantOpenError() | apsw.PermissionsError() | apsw.AuthError():
            return Unavailable(
                f"The database {path} cannot be opened ({error}). Check --db and its permissions."
            )
        case apsw.NotADBError():
            return Unavailable(
                f"The file {path} is not a SQLite database. It was left as it is. "
                "Start memory-server with --db and another path."
            )
        case apsw.CorruptError():
            return Unavailable(
                f"The database {path} is damaged ({error}). Copy the file away, then restore a backup; without one, "
                "`sqlite3 FILE .dump | sqlite3 NEW` rescues what can still be read."
            )
        case apsw.ConstraintError():
            return Conflict(f"The write breaks a rule of the database: {error}. Nothing was written.")
        case _:
            return Unavailable(
                f"The database {path} failed ({type(error).__name__}: {error}). Nothing was written."
            )


def _moved(error: apsw.Error) -> bool:
    """Whether another file, or none, stands where the database was: SQLite then refuses to write."""
    return getattr(error, "extendedresult", 0) == apsw.SQLITE_READONLY_DBMOVED


def _roll_back(connection: apsw.Connection) -> None:
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def _prepare_file(path: Path, make_folders: bool) -> None:
    """A new file is for its owner alone, and so is a folder that is made for it.

    The file is created and closed before the driver opens it: closing any handle of an open database
    drops this process's locks on it.
    """
    if path.is_dir():
        raise Unavailable(f"{path} is a folder. Start memory-server with --db and the path of a file in it.")
    if path.exists():
        return
    if not path.parent.is_dir():
        if not make_folders and not path.parent.parent.is_dir():
            raise Unavailable(
                f"The folder {path.parent} does not exist. Create it (mkdir -p), or start with another --db."
            )
        path.parent.mkdir(mode=stat.S_IRWXU, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, stat.S_IRUSR | stat.S_IWUSR))


def _nap(tries: int) -> bool:
    """Wait 1-10 ms at random, so that two waiting processes do not keep step."""
    if tries == 0:
        _waits.started = time.monotonic()
    if time.monotonic() - _waits.started > _waits.__dict__.get("limit", BUSY_LIMIT):
        return False
    time.sleep(random.uniform(0.001, 0.010))
    return True


_waits = threading.local()


@contextmanager
def _waiting_at_most(patience: float | None) -> Iterator[None]:
    if patience is None:
        yield
        return
    _waits.limit = patience
    try:
        yield
    finally:
        del _waits.limit


def _keep_rollback_journal(connection: apsw.Connection) -> None:
    """The main file alone is then always a whole backup; with a write-ahead log it is not."""
    mode = connection.pragma("journal_mode", "delete")
    if mode != "delete":
        raise Unavailable(
            f"The database is in journal mode {mode!r} and another program has it open. "
            "Close that program, then call again."
        )


def _flush_every_commit(connection: apsw.Connection) -> None:
    """EXTRA also flushes the folder after the journal is gone: a power cut then loses no commit."""
    connection.pragma("synchronous", "extra")
    connection.pragma("fullfsync", True)


def _enforce_foreign_keys(connection: apsw.Connection) -> None:
    connection.pragma("foreign_keys", True)


def _overwrite_deleted_text(connection: apsw.Connection) -> None:
    connection.pragma("secure_delete", True)


def _keep_uncommitted_pages_in_memory(connection: apsw.Connection) -> None:
    """Else a long write fills the cache and spills into the file before its commit: a copy of the main file alone,
    taken after a kill amid deletions in 54 MB, was then damaged in 13 of 20 tries; so in 1.
    """
    connection.pragma("cache_spill", False)
