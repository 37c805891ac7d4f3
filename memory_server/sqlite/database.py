"""The connection to the database file and its transactions."""

import logging
import random
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
from memory_server.errors import Hint, Mend, Problem, Unavailable
from memory_server.sqlite import failures, files, migrate, pragmas, vectors

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
    skipped: list[Problem] = field(default_factory=list)
    """The rows that were left out because their text is not UTF-8, as a hand edit or an import can leave it."""

    def rows(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """The rows that a statement gives, without those that cannot be read: they are noted in `skipped`."""
        cursor = self.connection.execute(sql, values)
        try:
            return cursor.fetchall()
        except UnicodeDecodeError:
            repeatable = cursor.is_readonly
            _abandon(cursor)
            if not repeatable:  # to run it again would write twice
                raise
        return self._readable_rows(sql, values)

    def row(self, sql: str, values: Values = ()) -> tuple[Any, ...] | None:
        """The first row.

        Raises:
            Unavailable: it cannot be read.
        """
        cursor = self.connection.execute(sql, values)
        try:
            return cursor.fetchone()
        except UnicodeDecodeError as error:
            repeatable, columns = cursor.is_readonly, cursor.description_full
            _abandon(cursor)
            if not repeatable:
                raise
            problem = self._unreadable(sql, values, columns, 0)
            raise Unavailable(problem.text, *problem.hints) from error

    def one(self, sql: str, values: Values = ()) -> tuple[Any, ...]:
        """The only row of a statement that always gives one.

        Raises:
            Unavailable: it cannot be read.
        """
        found = self.rows(sql, values)
        if not found:
            self.row(sql, values)  # raises
        (row,) = found
        return row

    def value(self, sql: str, values: Values = ()) -> Any:
        row = self.row(sql, values)
        return None if row is None else row[0]

    def size(self) -> int:
        """Bytes of the database."""
        return int(self.value("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"))

    def _readable_rows(self, sql: str, values: Values) -> list[tuple[Any, ...]]:
        cursor = self.connection.execute(sql, values)
        columns = cursor.description_full
        found: list[tuple[Any, ...]] = []
        place = 0
        while True:
            try:
                found.append(next(cursor))
            except StopIteration:
                return found
            except UnicodeDecodeError:
                problem = self._unreadable(sql, values, columns, place)
                if problem not in self.skipped:
                    self.skipped.append(problem)
            place += 1

    def _unreadable(self, sql: str, values: Values, columns: Sequence[Sequence[Any]], place: int) -> Problem:
        """Which row of which table a statement gives at a place. Its id is read alone, without the text."""
        ids = [(name, table) for name, _, _, table, origin in columns if origin == "id"]
        if not ids:
            which = f"a row of {columns[0][3] or 'the database'}"
        else:
            name, table = ids[0]
            id = self.connection.execute(f'SELECT "{name}" FROM ({sql}) LIMIT 1 OFFSET {place}', values).get
            which = f"row {id} of {table}"
        return Problem(f"{which} cannot be read: it holds text that is not UTF-8", (Hint(Mend.CHECK_FILE),))

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

    def count(self, mark: Callable[[WriteTx], object]) -> Problem | None:
        """Let a read count itself, unless the file is read-only; why it could not. Then only the count is lost."""
        if self.read_only:
            return None
        try:
            with self.write(COUNTING_PATIENCE) as tx:
                mark(tx)
        except Unavailable as error:
            return error.problem
        return None

    @property
    def read_only(self) -> bool:
        with self._lock, self._translated():
            return self._connection().readonly("main")

    @property
    def migrations(self) -> list[migrate.Migration]:
        """What makes up the schema that this program knows."""
        return self._migrations

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
            raise Unavailable("The server is stopping: nothing was done.")
        if self._opened is None:
            self._opened = self._open()
        return self._opened

    def _finish(self, connection: apsw.Connection, tx: WriteTx) -> None:
        try:
            for statement in tx.afterwards:
                connection.execute(statement)
        except apsw.Error as error:
            raise Unavailable(
                f"The text is deleted, but overwriting its traces in {self.path} failed ({error}). "
                "The user can overwrite them with the SQL command VACUUM."
            ) from error

    def _open(self) -> apsw.Connection:
        if self.path is not None:
            files.prepare(self.path, self._make_folders)
        connection = apsw.Connection(":memory:" if self.path is None else str(self.path))
        try:
            connection.set_busy_handler(_nap)
            migrate.refuse(connection, self._migrations[-1].version)
            if self.path is not None:
                pragmas.keep_rollback_journal(connection)
            pragmas.flush_every_commit(connection)
            pragmas.enforce_foreign_keys(connection)
            pragmas.overwrite_deleted_text(connection)
            pragmas.keep_uncommitted_pages_in_memory(connection)
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
            if failures.moved(error):
                self._let_go()
            raise failures.meaning(error, self.path) from error
        except UnicodeDecodeError as error:
            raise Unavailable(
                f"A row of {self.path} holds text that is not UTF-8, as a hand edit or an import can leave.",
                Mend.CHECK_FILE,
            ) from error
        except OSError as error:
            raise Unavailable(f"The database {self.path} cannot be reached: {error}.") from error


def _abandon(cursor: apsw.Cursor) -> None:
    """End a statement that failed half way: an error that somebody keeps would keep it running."""
    cursor.close(True)


def _roll_back(connection: apsw.Connection) -> None:
    if connection.in_transaction:
        connection.execute("ROLLBACK")


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
