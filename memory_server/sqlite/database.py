"""The connections to the database file and their transactions."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path

import apsw

from memory_server.call import acting, deadline
from memory_server.call.deadline import CALL
from memory_server.call.places import Places
from memory_server.domain.caller import Person
from memory_server.domain.moment import timestamp
from memory_server.errors import (
    Hint,
    Invalid,
    MemoryServerError,
    Mend,
    NotMade,
    Problem,
    Unavailable,
    Written,
)
from memory_server.sqlite import (
    bm25,
    checks,
    erasing,
    failures,
    files,
    migrate,
    pragmas,
    rights,
    schema,
    temporary,
    vectors,
)
from memory_server.sqlite.database_files import DatabaseFiles
from memory_server.sqlite.free_bytes import Unexpected
from memory_server.sqlite.transaction import Transaction
from memory_server.sqlite.tx import Copies
from memory_server.sqlite.waiting import left, nap, until_the_end
from memory_server.storage import packaged
from memory_server.storage.database import COUNTING_PATIENCE, record
from memory_server.storage.later import Later, Mark
from memory_server.storage.tx import WriteTx

logger = logging.getLogger(__name__)

READERS = 4
"""Connections that read at the same time in a process: for a search, a list, a background job and a hook."""


@dataclass(slots=True)
class _Handles:
    """The connections to one file: one that writes, and the idle ones that read.

    `identity` is None where the database is in memory: then the one connection does both. `person_writer` and
    `person_idle` are connections that show what one person sees.
    """

    writer: apsw.Connection
    idle: list[apsw.Connection]
    identity: files.Identity | None
    read_only: bool
    person_idle: list[apsw.Connection] = field(default_factory=list)
    person_writer: apsw.Connection | None = None

    def close(self) -> None:
        self.close_writers()
        self.close_idle()

    def close_writers(self) -> None:
        self.writer.close()
        if self.person_writer is not None:
            self.person_writer.close()

    def close_idle(self) -> None:
        for connections in (self.idle, self.person_idle):
            while connections:
                connections.pop().close()


class Database:
    """The file as `storage.database.Database`: one connection writes and a few read, each used by one thread at a time.

    Threads wait for a connection in the order in which they came, and no longer than their call may take. The file is
    opened at the first use; after a failure the next use tries again, so that each answer names the problem until it
    is mended. Once it was open, no new file is made in its place: if it goes away, its content is rescued. `path` None
    is a database in memory.
    """

    def __init__(
        self,
        path: Path | None,
        clock: Callable[[], datetime],
        migrations: Path | None = None,
        make_folders: bool = False,
        several: bool = False,
    ) -> None:
        """`make_folders`: make every missing folder above the file, not only the last one.

        `several`: the server has several people, so each transaction needs a person: see `call.acting`.
        """
        self._several = several
        self._makes = True
        self._make_folders = make_folders
        self.path = path
        self._clock = clock
        self._migrations = packaged.load(migrations or packaged.folder())
        self._writing = Places(1)
        self._reading = self._writing if path is None else Places(READERS)
        self._opening = Places(1)
        self._failure: MemoryServerError | None = None
        """Why the last attempt to open the file failed."""
        self._handles: _Handles | None = None
        self._was_open = False
        self._loss: str | None = None
        self._untold_news: str | None = None
        """What happened to the file, while only background work has noticed it: the next call is told."""
        self._news = ""
        """What happened to the file last, for all threads that notice it at the same time."""
        self._schema_version: int | None = None
        """The number of the last schema that was looked at: it has no SQL that is not ours."""
        self._later = Later()
        self.files = DatabaseFiles(path, clock, self.read, self.write)
        self._copies = Copies()
        self._closed = False

    def open(self) -> None:
        with self._translated(), until_the_end(CALL):
            self._open_handles()

    def refuse_new(self) -> None:
        self._makes = False

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        person = self._acting()
        with self._translated(), until_the_end(CALL), self._reader(person) as connection:
            connection.execute("BEGIN")
            try:
                self._look_at_schema(connection)
                yield Transaction(connection, self._now(), person=person, copies=self._copies)
            finally:
                _roll_back(connection)

    @contextmanager
    def write(self, patience: float = CALL) -> Iterator[Transaction]:
        person = self._acting()
        if person is not None and person.reads_only:
            raise Invalid("You may only read here. Nothing was changed.")
        with self._translated(), until_the_end(patience), self._writer(person) as connection:
            connection.execute("BEGIN IMMEDIATE")
            marks: list[Mark] = []
            try:
                self._look_at_schema(connection)
                marks = self._later.take(person)
                before = connection.total_changes()
                _write_marks(Transaction(connection, self._now(), person=person, before=before), marks)
                before = connection.total_changes()
                yield Transaction(connection, self._now(), person=person, before=before, copies=self._copies)
                connection.execute("COMMIT")
                marks = []
            finally:
                self._later.put_back(marks)
                _roll_back(connection)

    def later(self, mark: Callable[[WriteTx], object]) -> None:
        handles, person = self._handles, self._acting()
        if handles is not None and not handles.read_only and not (person and person.reads_only):
            self._later.add(Mark(mark, self._now(), person))

    def settle(self, patience: float = COUNTING_PATIENCE) -> Problem | None:
        handles, person = self._handles, self._acting()
        for owner in self._later.persons() if person is None else [person]:
            if not self._later.has(owner):
                continue
            try:
                with acting.as_(owner), self.write(patience):
                    pass
            except Unavailable as error:
                if self._handles is not handles:
                    raise
                return error.problem
        return None

    def record(self, mark: Callable[[WriteTx], object]) -> Problem | None:
        return record(self, mark)

    @property
    def read_only(self) -> bool:
        person = acting.person()
        with self._translated(), until_the_end(CALL):
            return self._open_handles().read_only or (person is not None and person.reads_only)

    @property
    def migrations(self) -> list[packaged.Migration]:
        """The migrations that this program knows."""
        return self._migrations

    def backup(self, target: Path, progress: Callable[[int, int], None] | None = None) -> None:
        """Write a checked copy of the whole database to `target`. `progress` gets the pages done and all pages."""
        with self._translated(), until_the_end(CALL), self._reader() as connection:
            migrate.backup(connection, target, progress)

    def compact(self) -> tuple[int, int]:
        """Write the file anew without its free pages; return its bytes before and after."""
        with self._translated(), until_the_end(CALL), self._writer() as writer:
            before = Transaction(writer, self._now()).size()
            writer.execute("VACUUM")
            return before, Transaction(writer, self._now()).size()

    @contextmanager
    def snapshot(self) -> Iterator[Transaction]:
        """Yield a view that stays the same however long it is read and blocks no writer: it is of a copy of the
        file.
        """
        with temporary.folder() as folder:
            path = folder / "memory.db"
            self.backup(path)
            copy = Database(path, self._clock)
            try:
                with copy.read() as tx:
                    yield tx
            finally:
                copy.close()

    def problems(self) -> list[str]:
        with self.read() as tx:
            return tx.health.problems()

    def leads(self) -> bool:
        """True: every process does the background work of a file, and skips what another one has done."""
        return True

    def stamp(self) -> str:
        """Return a text that changes with each write, of this process or another; reads no byte of the file."""
        if self.path is None:
            return ""
        try:
            status = self.path.stat()
        except FileNotFoundError:
            return "gone"
        return f"{status.st_mtime_ns}-{status.st_size}"

    def free(self) -> int:
        """Count the bytes of the free pages: a compaction gives back at least these."""
        with self.read() as tx:
            return int(
                tx.value("SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size")
            )

    def erase(self) -> int:
        """Overwrite the free bytes of the file, which held what was deleted; return how many bytes were written.

        A file that is laid out in an unexpected way is written anew as a whole.
        """
        with self._translated(), until_the_end(CALL):
            handles = self._open_handles()
            if self.path is None or handles.read_only:
                return 0
            self._check_place(handles, None)
            try:
                with erasing.opened(self._connect) as eraser:
                    return eraser.erase()
            except Unexpected as reason:
                logger.warning("%s is written anew: %s", self.path, reason)
            with self._writer() as writer:
                writer.execute("VACUUM")
                return Transaction(writer, self._now()).size()

    def close(self, timeout: float = CALL) -> bool:
        try:
            with acting.as_(None):
                problem = self.settle()
        except Unavailable as error:
            problem = error.problem
        if problem is not None:
            logger.warning("the last accesses were not counted: %s", problem.text)
        self._closed = True
        if not self._writing.enter(timeout):
            return False
        if self._handles is not None:
            self._handles.close()
            self._handles = None
        self._writing.leave()
        return True

    # Connections

    def _acting(self) -> Person | None:
        """Return the person for whom the transaction is; it shows no more than that person sees."""
        if self._several and not acting.is_named():
            raise RuntimeError("this server has several people, and nobody has said for whom this is")
        return acting.person()

    @contextmanager
    def _place_in(self, places: Places) -> Iterator[None]:
        """Take a place for this thread; raises Unavailable where others have them until the call's time is over."""
        seconds = left()
        if not places.enter(seconds):
            raise failures.busy(self.path, seconds)
        try:
            yield
        finally:
            places.leave()

    @contextmanager
    def _writer(self, person: Person | None = None) -> Iterator[apsw.Connection]:
        handles = self._open_handles()
        with self._place_in(self._writing):
            try:
                self._check_place(handles, handles.writer)
                if person is None:
                    yield handles.writer
                else:
                    if handles.person_writer is None:
                        handles.person_writer = self._connect_for_persons()
                    rights.act(handles.person_writer, person)
                    yield handles.person_writer
            finally:
                if handles is not self._handles:
                    handles.close_writers()

    def _connect_for_persons(self) -> apsw.Connection:
        if self.path is None:
            raise RuntimeError("a database in memory serves one person")
        connection = self._connect()
        try:
            rights.install(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def _reader(self, person: Person | None = None) -> Iterator[apsw.Connection]:
        handles = self._open_handles()
        with self._place_in(self._reading):
            if handles.identity is None and person is None:
                yield handles.writer
                return
            idle = handles.idle if person is None else handles.person_idle
            connection = idle.pop() if idle else None
            try:
                self._check_place(handles, connection)
                if connection is None:
                    connection = self._connect() if person is None else self._connect_for_persons()
                if person is not None:
                    rights.act(connection, person)
                yield connection
            finally:
                if connection is not None:
                    if handles is self._handles and not self._closed:
                        idle.append(connection)
                    else:
                        connection.close()

    def _open_handles(self) -> _Handles:
        """Return the connections; opens the file where it is not open. One thread does that, and the others wait for
        it.

        A background job whose awaited attempt failed makes no attempt of its own: calls may wait behind it.
        """
        if self._handles is not None and self._untold_news is None:
            return self._handles
        failure = self._failure
        with self._place_in(self._opening):
            self._refuse_closed()
            if self._handles is None:
                if self._failure is not None and self._failure is not failure and not deadline.is_set():
                    raise self._failure
                self._handles = self._attempted()
            if self._untold_news is not None and deadline.is_set():
                happened, self._untold_news = self._untold_news, None
                raise Unavailable(happened, Mend.TRY_AGAIN, written=Written.NOTHING)
            return self._handles

    def _attempted(self) -> _Handles:
        """Open the file; a failure is remembered for the threads that wait."""
        try:
            with self._translated():
                handles = self._opened() if self._loss is None else self._opened_anew(self._loss)
        except MemoryServerError as error:
            self._failure = error
            raise
        if self._loss is not None:
            self._news = _used_from_now_on(self._loss)
            self._untold_news = self._untold_news and self._news
        self._was_open, self._loss, self._failure = True, None, None
        return handles

    def _refuse_closed(self) -> None:
        if self._closed:
            raise Unavailable("The server is stopping: nothing was done.")

    def _opened_anew(self, loss: str) -> _Handles:
        """Open the file that stands at the path now; if that fails, the error also says what was lost and where it is
        saved.
        """
        if self.path is None or not self.path.exists():
            self._mark_told()
            raise Unavailable(loss, Hint(Mend.PUT_FILE_BACK, {"path": self.path}), written=Written.NOTHING)
        try:
            with self._translated():
                return self._opened()
        except Unavailable as error:
            self._mark_told()
            raise Unavailable(
                f"{loss} The file that is there now cannot be used: {error.problem.text}",
                *error.problem.hints,
                written=Written.NOTHING,
            ) from error

    def _opened(self) -> _Handles:
        """Open the file. One that has replaced an open one is checked first, and gets no tables."""
        if self.path is not None:
            if self._was_open:
                files.refuse_empty(self.path)
            elif not self._makes and not self.path.exists():
                raise NotMade(f"There is no database {self.path}.")
            else:
                files.prepare(self.path, self._make_folders)
        connection = self._connect()
        try:
            migrate.refuse(connection, self._migrations)
            connection.execute("BEGIN")
            self._schema_version = None
            self._look_at_schema(connection)
            connection.execute("ROLLBACK")
            if self._was_open:
                checks.refuse_damaged(connection, self.path)
            if self.path is not None:
                pragmas.keep_rollback_journal(connection)
            migrate.migrate(connection, self.path, self._migrations, self._now())
            identity = None if self.path is None else files.identify(self.path)
            idle = [] if self.path is None else [self._connect()]
            return _Handles(connection, idle, identity, connection.readonly("main"))
        except BaseException:
            connection.close()
            raise

    def _look_at_schema(self, connection: apsw.Connection) -> None:
        """In a transaction, before its first read: refuse a file that was upgraded or got foreign SQL since the last
        look.

        SQLite counts each change of the schema, and to read both numbers takes 2 µs.
        """
        version, number = connection.execute(
            "SELECT user_version, schema_version FROM pragma_user_version, pragma_schema_version"
        ).get
        migrate.refuse_newer(version, self._migrations[-1].version)
        if number != self._schema_version:
            schema.refuse_foreign(connection, migrate.applied(connection, self._migrations))
            self._schema_version = number

    def _connect(self, vfs: str | None = None) -> apsw.Connection:
        """Return a connection with our settings, through the VFS of that name. It makes no file: the file must
        exist.
        """
        if self.path is None:
            connection = pragmas.connected(":memory:")
        else:
            connection = pragmas.connected(self.path, apsw.SQLITE_OPEN_READWRITE, vfs)
        connection.set_busy_handler(nap)
        pragmas.flush_every_commit(connection)
        pragmas.enforce_foreign_keys(connection)
        pragmas.overwrite_deleted_text(connection)
        pragmas.keep_uncommitted_pages_in_memory(connection)
        vectors.install(connection)
        bm25.install(connection)
        return connection

    # A file that goes away

    def _check_place(self, handles: _Handles, connection: apsw.Connection | None) -> None:
        """Raises Unavailable where the open file no longer stands at its path.

        `connection` is the caller's connection to it, if any: it still reaches the file that the path no longer does.
        """
        if self.path is None or files.identify(self.path) == handles.identity:
            return
        with self._place_in(self._opening):
            if self._handles is handles:
                self._later.clear()
                self._loss = self._untold_news = self._describe_loss(self.path, handles, connection)
                self._handles = None
                handles.close_idle()
            if self._handles is None and self._loss is not None:
                self._handles = self._opened_anew(self._loss)
                self._news = self._untold_news = _used_from_now_on(self._loss)
                self._loss = None
            self._refuse_closed()
            self._mark_told()
            raise Unavailable(self._news, Mend.TRY_AGAIN, written=Written.NOTHING)

    def _mark_told(self) -> None:
        """Drop the news: a call reports it now."""
        if deadline.is_set():
            self._untold_news = None

    def _describe_loss(self, path: Path, handles: _Handles, connection: apsw.Connection | None) -> str:
        """Rescue the content that the open connections still reach; say what happened, and where the content is."""
        files.await_other(path, handles.identity)
        if not path.exists():
            happened = f"The database {path} was moved or deleted while it was open."
        elif files.identify(path) is None:
            return f"The database {path} was emptied by another program while it was open."
        else:
            happened = f"Another file has taken the place of the database {path} while it was open."
        if path.exists() and handles.identity is not None:
            return f"{happened} {self._rescued(path, partial(migrate.rescue, handles.identity))}"
        if connection is not None:
            return f"{happened} {self._rescued(path, partial(migrate.backup, connection))}"
        with self._place_in(self._writing):  # every reader is busy: the writer reaches the file too
            return f"{happened} {self._rescued(path, partial(migrate.backup, handles.writer))}"

    def _rescued(self, path: Path, copy: Callable[[Path], None]) -> str:
        """Copy the content to a file beside the database; return a sentence that says where it is."""
        try:
            target = files.rescue_target(path, self._now())
            copy(target)
        except (apsw.Error, OSError, Unavailable) as error:
            logger.error("the content of %s was not rescued: %s", path, error)
            return f"What it held could not be rescued ({error}); a backup may hold it."
        logger.error("%s went away; its content is in %s", path, target)
        return f"All that it held is saved in {target}."

    def _now(self) -> str:
        return timestamp(self._clock())

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Translate the driver's exceptions, by type, into ours. Nothing else in the package knows them."""
        try:
            yield
        except apsw.Error as error:
            raise failures.meaning(error, self.path) from error
        except UnicodeDecodeError as error:
            raise Unavailable(
                f"A row of {self.path} holds text that is not UTF-8, as a hand edit or an import can leave.",
                Mend.CHECK_FILE,
            ) from error
        except OSError as error:
            if error.filename is None:  # it is of what the caller writes to
                raise
            raise Unavailable(f"The database {self.path} cannot be reached: {error}.") from error


def _used_from_now_on(loss: str) -> str:
    return f"{loss} The file that is there now was checked: it is sound and is used from now on."


def _roll_back(connection: apsw.Connection) -> None:
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def _write_marks(tx: Transaction, marks: Sequence[Mark]) -> None:
    """Write marks, each as of its moment. One that fails is left out: a count must not undo what it is written with."""
    for mark in marks:
        try:
            with tx.connection:  # a savepoint
                mark.write(replace(tx, now=mark.at))
        except Exception:
            if not tx.connection.in_transaction:  # SQLite has undone the whole write, as on a full disk
                raise
            logger.exception("what a read has to write was left out")
