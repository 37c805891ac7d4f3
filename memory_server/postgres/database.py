"""The connections to PostgreSQL and their transactions."""

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TypeAlias

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import ConnectionPool, PoolTimeout

from memory_server.domain import acting, deadline
from memory_server.domain.caller import Person
from memory_server.domain.deadline import CALL
from memory_server.domain.moment import timestamp
from memory_server.errors import Invalid, Problem, Unavailable
from memory_server.postgres import failures, migrate
from memory_server.postgres.transaction import Transaction
from memory_server.postgres.tx import Trips
from memory_server.postgres.watch import Watch
from memory_server.storage.database import COUNTING_PATIENCE
from memory_server.storage.later import Later, Mark
from memory_server.storage.tx import WriteTx
from memory_server.where import Postgres

logger = logging.getLogger(__name__)

SOON: Final = 1.0
"""Seconds after which a call that waits for a connection looks whether PostgreSQL is there at all."""

CONNECTIONS: Final = 8
"""Connections of a server at the same time. None is kept while something is embedded."""

CONNECTING: Final = 10.0
"""Seconds that the first connection may take; less where somebody waits for less, as a person does for a hook."""

WRITES: Final = 0x6D77
"""The first number of the advisory lock of the writes of a tenant ('mw'); the second is the tenant's."""

_ALIVE: Final = {
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
"""A peer that does not answer for a minute is gone, unless the address says otherwise."""

Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]


class Database:
    """A pool of connections to one database, and one tenant of it.

    Writes of a tenant come one after the other, whichever server they are of, as in a file of SQLite: an advisory lock
    says whose turn it is. Reads see one moment and wait for nobody. The schema is made or brought forward at the first
    use, and a failure to connect is tried again at the next.
    """

    path: Final[Path | None] = None

    def __init__(self, place: Postgres, clock: Callable[[], datetime], several: bool = False) -> None:
        """`several`: it serves several people, so no transaction begins before somebody says for whom: see
        `domain.acting`."""
        self._several = several
        self._makes = True
        self._clock = clock
        self.place = place
        self._conninfo = make_conninfo(place.url, **{**_ALIVE, **conninfo_to_dict(place.url)})
        self._migrations = migrate.load()
        self.pool: ConnectionPool[Connection] | None = None
        self._tenant = 0
        self._read_only = False
        self._opening = threading.Lock()
        self._watch: Watch | None = None
        self._later = Later()
        self._closed = False
        self.trips = Trips()
        """How often this process has waited for the database."""

    def open(self) -> None:
        """Connect, and make the schema or bring it forward.

        Raises:
            Unavailable: the database cannot be reached or used; the message says why and what mends it.
        """
        with self._translated():
            self._opened()

    def refuse_new(self) -> None:
        """Make no new schema or tenant where none is: from now on it is Unavailable then. Before the first use."""
        self._makes = False

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """One consistent view of all that is stored, as the person sees it for whom something is done."""
        person = self._acting()
        with self._translated(), self._connection(deadline.left(CALL)) as (connection, pipeline):
            yield self._begun(connection, pipeline, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", person)
            connection.execute("ROLLBACK")

    @contextmanager
    def write(self, patience: float = CALL) -> Iterator[Transaction]:
        """One write: committed and durable when the block ends, undone when it raises.

        `patience` is how many seconds to wait for other writers, where the call may take longer. It sees what `later`
        has kept for the same person, and writes that too.

        Raises:
            Invalid: the person may only read.
        """
        person = self._acting()
        if person is not None and person.reads_only:
            raise Invalid("You may only read here. Nothing was changed.")
        seconds = deadline.left(patience)
        with self._translated(), self._connection(seconds) as (connection, pipeline):
            begin = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
            tx = self._begun(connection, pipeline, begin, person, seconds)
            connection.execute("SELECT refuse_newer(%s)", (self._migrations[-1].version,))
            connection.execute("SELECT pg_advisory_xact_lock(%s, %s)", (WRITES, self._tenant))
            marks = self._later.take(person)
            try:
                if marks:
                    tx.wait()
                    self._write_marks(tx, marks)
                yield tx
                connection.execute("SELECT tell_write()")
                connection.execute("COMMIT")
                try:
                    tx.wait()
                except psycopg.OperationalError as error:
                    if connection.closed:
                        raise failures.untold(error, str(self.place)) from error
                    raise
                finally:
                    if connection.closed:  # they may have been written, and twice is worse than not
                        marks = []
                marks = []
            finally:
                self._later.put_back(marks)

    @contextmanager
    def snapshot(self) -> Iterator[Transaction]:
        """A view that stays the same however long it is read, and makes nobody wait who writes."""
        with self.read() as tx:
            yield tx

    def later(self, mark: Callable[[WriteTx], object]) -> None:
        """Let a read record its access with the next write of this process, and without one in the next `settle`.

        So it waits for nobody. A process that is killed loses it.
        """
        person = self._acting()
        if self.pool is not None and not self._read_only and not (person and person.reads_only):
            self._later.add(Mark(mark, self._now(), person))

    def settle(self, patience: float = COUNTING_PATIENCE) -> Problem | None:
        """Write what `later` has kept for the person, or for all; why that could not be done. Then it is kept still."""
        person = self._acting()
        for each in self._later.persons() if person is None else [person]:
            if not self._later.has(each):
                continue
            try:
                with acting.as_(each), self.write(patience):
                    pass
            except Unavailable as error:
                return error.problem
        return None

    def record(self, mark: Callable[[WriteTx], object]) -> Problem | None:
        """Let a read record its access, unless nothing can be written; why it could not. Then only that is lost."""
        try:
            if self.read_only:
                return None
            with self.write(COUNTING_PATIENCE) as tx:
                mark(tx)
        except Unavailable as error:
            return error.problem
        return None

    @property
    def read_only(self) -> bool:
        """Whether nothing can be written, as on a replica, or not by the person for whom something is done."""
        person = acting.person()
        with self._translated():
            self._opened()
        return self._read_only or (person is not None and person.reads_only)

    def leads(self) -> bool:
        """Whether this server does the background work of the tenant: one of those that ask does."""
        return not self.read_only and self._watched().leads

    def stamp(self) -> str:
        """A text that is another one after each write, of this server or another."""
        with self._translated():
            return str(self._watched().number)

    def refuse_empty(self) -> None:
        """There is no file that a program could have emptied."""

    def problems(self) -> list[str]:
        """What is wrong with what is stored, a line each. Reads everything."""
        with self.read() as tx:
            return tx.health.problems()

    def exposed(self) -> list[str]:
        """There is no file."""
        return []

    def copies(self) -> list[str]:
        """There is no file beside it."""
        return []

    def rescues(self) -> list[str]:
        """There is no file beside it."""
        return []

    def tidy(self) -> list[str]:
        """There is no file to tidy."""
        return []

    def removal(self, index: str) -> Callable[[], bool]:  # noqa: ARG002
        """Words leave the index with their rows: nothing is left to remove."""
        return lambda: True

    def drop_copies(self, older_than: str | None = None) -> tuple[str, ...]:  # noqa: ARG002
        """Migrations make no copies here."""
        return ()

    def free(self) -> None:
        """There is no file: PostgreSQL uses what is free again by itself."""

    def erase(self) -> int:
        """Let PostgreSQL clear away the rows that were deleted; how many bytes its tables have then.

        It reuses their bytes and does not overwrite them; the write-ahead log, replicas and backups keep what they
        have: see docs/scale.md.
        """
        with self._translated():
            self._opened()
            with psycopg.connect(self._conninfo, autocommit=True) as connection:
                names = [
                    name
                    for (name,) in connection.execute(
                        "SELECT format('%%I.%%I', schemaname, relname) FROM pg_stat_user_tables WHERE schemaname = %s",
                        (migrate.SCHEMA,),
                    )
                ]
                connection.execute(f"VACUUM {', '.join(names)}".encode())
        with self.read() as tx:
            return tx.size()

    def close(self, timeout: float = CALL) -> bool:
        """Write what is kept, and close all connections for good; false when others use them for `timeout` seconds."""
        try:
            with acting.as_(None):
                problem = self.settle()
        except Unavailable as error:
            problem = error.problem
        if problem is not None:
            logger.warning("the last accesses were not counted: %s", problem.text)
        self._closed = True
        if self._watch is not None:
            self._watch.stop()
        with self._opening:
            if self.pool is not None:
                self.pool.close(timeout)
                self.pool = None
        return True

    # Connections

    def _acting(self) -> Person | None:
        """For whom a transaction is; it shows no more than that person sees."""
        if self._several and not acting.is_named():
            raise RuntimeError("this server has several people, and nobody has said for whom this is")
        return acting.person()

    def _begun(
        self,
        connection: Connection,
        pipeline: psycopg.Pipeline,
        begin: str,
        person: Person | None,
        seconds: float = CALL,
    ) -> Transaction:
        """A transaction that has begun: the statements wait in the pipeline for the first one that gives rows."""
        now = self._now()
        projects = "*" if person is None or person.projects is None else sorted(person.projects)
        connection.execute(begin.encode())
        connection.execute(
            """
            SELECT
                set_config('search_path', 'memory_server, public', true),
                set_config('role', 'memory_server', true),
                set_config('lock_timeout', %s, true),
                set_config(
                    'synchronous_commit',
                    replace(current_setting('synchronous_commit'), 'off', 'on'), -- what is told to be written is
                    true
                ),
                set_config('memory.tenant', %s, true),
                set_config('memory.person', %s, true),
                set_config('memory.projects', %s::text, true),
                set_config('memory.now', %s, true)
            """,
            (
                f"{max(1, int(1000 * seconds))}ms",
                str(self._tenant),
                "" if person is None else person.name,
                projects,
                now,
            ),
        )
        return Transaction(connection, pipeline, now, person=person, tenant=self._tenant, trips=self.trips)

    def _write_marks(self, tx: Transaction, marks: Sequence[Mark]) -> None:
        """Write marks, each as of its moment. One that fails is left out: a count must not undo what it is written
        with."""
        for mark in marks:
            try:
                with tx.connection.transaction():  # a savepoint
                    tx.send("SELECT set_config('memory.now', %s, true)", (mark.at,))
                    mark.write(replace(tx, now=mark.at))
            except psycopg.OperationalError:
                raise
            except Exception:
                logger.exception("what a read has to write was left out")
        tx.send("SELECT set_config('memory.now', %s, true)", (tx.now,))

    @contextmanager
    def _connection(self, seconds: float) -> Iterator[tuple[Connection, psycopg.Pipeline]]:
        pool = self._opened()
        connection = self._taken(pool, seconds)
        try:
            try:
                with connection.pipeline() as pipeline:
                    yield connection, pipeline
            finally:
                _roll_back(connection)
        finally:
            pool.putconn(connection)

    def _taken(self, pool: ConnectionPool[Connection], seconds: float) -> Connection:
        """A connection of the pool. Where none comes soon, because PostgreSQL is away, that is told at once."""
        soon = min(SOON, seconds)
        try:
            return pool.getconn(timeout=max(0.01, soon))
        except PoolTimeout:
            psycopg.connect(self._conninfo, connect_timeout=2).close()  # raises where it is away
            return pool.getconn(timeout=max(0.01, seconds - soon))

    def _opened(self) -> ConnectionPool[Connection]:
        if self.pool is not None:
            return self.pool
        with self._opening:
            if self._closed:
                raise Unavailable("The server is stopping: nothing was done.")
            if self.pool is None:
                self._prepare()
                pool: ConnectionPool[Connection] = ConnectionPool(
                    self._conninfo,
                    min_size=1,
                    max_size=CONNECTIONS,
                    kwargs={"autocommit": True, "application_name": "memory-server"},
                    check=_refuse_dead,
                    open=False,
                    name="memory-server",
                )
                pool.open()
                self.pool = pool
            return self.pool

    def _watched(self) -> Watch:
        """The thread that hears of the writes of others, from the first time that somebody asks for it."""
        self._opened()
        with self._opening:
            if self._watch is None:
                self._watch = Watch(self._conninfo, self._tenant)
                self._watch.start()
            return self._watch

    def _prepare(self) -> None:
        """Make the schema or bring it forward, and find the tenant; a new name is a new tenant."""
        seconds = max(2, round(deadline.left(CONNECTING)))  # libpq takes no less
        with psycopg.connect(self._conninfo, autocommit=True, connect_timeout=seconds) as connection:
            (replica,) = connection.execute("SELECT pg_is_in_recovery()").fetchone() or (False,)
            self._read_only = bool(replica)
            known = migrate.version_of(connection)
            migrate.refuse_newer(known, self._migrations[-1].version)
            if known == 0 and not self._makes:
                raise Unavailable(f"There is no memory in {self.place} yet.")
            if not self._read_only:
                migrate.migrate(connection, self._migrations, self._now())
            row = self._tenant_of(connection)
            if row is None and self._makes and not self._read_only:
                connection.execute(
                    "INSERT INTO memory_server.tenants (name, created_at) VALUES (%s, %s) ON CONFLICT DO NOTHING",
                    (self.place.tenant, self._now()),
                )
                row = self._tenant_of(connection)
            if row is None:
                raise Unavailable(f"There is no tenant {self.place.tenant} in {self.place} yet.")
            if row[1] is not None:
                raise failures.unfinished(str(self.place), row[1])
            self._tenant = int(row[0])

    def _tenant_of(self, connection: Connection) -> tuple[Any, ...] | None:
        """The number of the tenant, and of what it is a copy that is not finished."""
        return connection.execute(
            "SELECT id, copy_of FROM memory_server.tenants WHERE name = %s", (self.place.tenant,)
        ).fetchone()

    def _now(self) -> str:
        return timestamp(self._clock())

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """The driver's exceptions, by type, as ours. Nothing else in the package knows them."""
        try:
            yield
        except psycopg.Error as error:
            raise failures.meaning(error, str(self.place)) from error


def _refuse_dead(connection: Connection) -> None:
    """Raises where the server has closed a connection that lay in the pool: that shows without asking it."""
    connection.pgconn.consume_input()


def _roll_back(connection: Connection) -> None:
    if not connection.closed and connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
        connection.execute("ROLLBACK")
