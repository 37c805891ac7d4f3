"""The connections to PostgreSQL and their transactions."""

import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from memory_server import where
from memory_server.call import acting, again, deadline
from memory_server.call.deadline import CALL
from memory_server.call.places import Places
from memory_server.domain import rights
from memory_server.domain.caller import Person
from memory_server.domain.moment import timestamp
from memory_server.errors import Invalid, MemoryServerError, NotMade, Problem, Unavailable
from memory_server.postgres import failures, migrate, tenants
from memory_server.postgres.connections import FAILOVER, Connection, Pool
from memory_server.postgres.links import CONNECTIONS, Links
from memory_server.postgres.no_files import NoFiles
from memory_server.postgres.transaction import Transaction
from memory_server.postgres.tx import Trips
from memory_server.postgres.watch import Listener, WriteWatch
from memory_server.storage.database import COUNTING_PATIENCE, record
from memory_server.storage.later import Later, Mark
from memory_server.storage.tx import WriteTx
from memory_server.where import Postgres

logger = logging.getLogger(__name__)

logging.getLogger("psycopg").setLevel(logging.ERROR)  # it raises all that it warns of

PREPARED: Final = 5
"""Runs of a statement on one connection before it is prepared there."""

WRITES: Final = 0x6D77
"""The first number of the advisory lock for the writes of a tenant ('mw'); the second is the tenant's."""

MOVES: Final = 10
"""Databases in which one tenant is looked for, each of which says that it has moved."""

_ALIVE: Final = {
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
"""A peer that does not answer for a minute is gone, unless the address says otherwise."""


_REPLICA: Final = {"target_session_attrs": "standby", "load_balance_hosts": "random"}
"""Any machine of the address that is a replica."""


@dataclass(frozen=True, slots=True)
class _Lent:
    """A connection that the pool lent to one transaction, in pipeline mode.

    `ending.close()` waits for the answers to all statements. If the caller leaves that out, a thread does it, and
    gives the connection back.
    """

    connection: Connection
    tenant: int
    pipeline: psycopg.Pipeline
    ending: ExitStack


class Database:
    """A pool of connections to one database, and one tenant of it: see `storage.database.Database`.

    Writes of a tenant come one after the other, whichever server they are of, as in a file of SQLite: an advisory lock
    gives the turn. Reads see one moment and wait for nobody. The schema is made or brought forward at the first use;
    after a failure to connect, the next use tries again.
    """

    path: Final[Path | None] = None

    def __init__(
        self,
        place: Postgres,
        clock: Callable[[], datetime],
        several: bool = False,
        links: Links | None = None,
    ) -> None:
        """`several`: the server has several people, so each transaction needs a person: see `call.acting`. `links` are
        those of all tenants of this process.
        """
        self._several = several
        self._links = links
        self._makes = True
        self._clock = clock
        self.place = place
        self._conninfo = make_conninfo(place.url, **{**_ALIVE, **conninfo_to_dict(place.url)})
        self._has_moved = False
        """True if the tenant was in another database when this process opened it."""
        self._migrations = migrate.load()
        self.pool: Pool | None = None
        self._tenant = 0
        self._read_only = False
        self._opening = Places(1)
        self._failure: MemoryServerError | None = None
        """Why the last attempt to open the database failed."""
        self._watch: WriteWatch | None = None
        self.files = NoFiles()
        self._later = Later()
        self._closed = False
        self.trips = Trips()
        """How often a call of this process has waited for the database."""
        self._replicas: Pool | None = None
        self._directories: dict[str | None, list[tuple[Any, ...]]] = {}
        self._ends = ThreadPoolExecutor(CONNECTIONS, "end of a read")

    def open(self) -> None:
        with self._translated():
            self._opened()

    def refuse_new(self) -> None:
        self._makes = False

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """Yield a consistent view of all that is stored, with what the acting person may see.

        The caller does not wait for the end of the transaction: a thread does, and gives the connection back.
        """
        with self._translated(), ExitStack() as stack:
            tx = self._in_step(stack) if self.place.replicas else None
            yield tx or stack.enter_context(self._reading(*self._home()))

    @contextmanager
    def write(self, patience: float = CALL) -> Iterator[Transaction]:
        person = self._acting()
        if person is not None and person.reads_only:
            raise Invalid("You may only read here. Nothing was changed.")
        seconds = deadline.left(patience)
        with self._translated(), self._connection(*self._home(), seconds) as lent:
            tx = self._begun(lent, "BEGIN ISOLATION LEVEL READ COMMITTED", person, seconds)
            tx.send("SELECT pg_advisory_xact_lock(%s, %s)", (WRITES, lent.tenant))
            # Only now: a migration or a copy may have begun while it waited.
            tx.send(*self._refusals(lent.tenant))
            marks = self._later.take(person)
            try:
                if marks:
                    self._write_marks(tx, marks)
                with _checked(tx):
                    yield tx
                tx.send("SELECT tell_write()")
                self.trips.number += 1
                lent.connection.warnings.clear()
                try:
                    committed = lent.connection.execute("COMMIT")  # from here on it may be committed
                    lent.ending.close()
                except psycopg.Error as error:
                    if failures.is_refusal(error):
                        raise
                    marks = []  # they may have been written, and twice is worse than not
                    raise failures.untold(error, str(self.place)) from error
                except BaseException:
                    marks = []
                    raise
                if committed.statusmessage != "COMMIT":  # a statement failed, and its error was caught
                    raise psycopg.errors.InFailedSqlTransaction("an earlier statement failed")
                marks = []
                if lent.connection.warnings:
                    raise failures.on_one_machine(lent.connection.warnings[0], str(self.place))
                again.forbid()
            finally:
                self._later.put_back(marks)

    @contextmanager
    def snapshot(self) -> Iterator[Transaction]:
        with self._translated(), self._reading(*self._home()) as tx:
            migrate.refuse_newer(
                tx.value("SELECT max(version) FROM migrations"), self._migrations[-1].version
            )
            yield tx

    def later(self, mark: Callable[[WriteTx], object]) -> None:
        person = self._acting()
        if self.pool is not None and not self._read_only and not (person and person.reads_only):
            self._later.add(Mark(mark, self._now(), person))
            again.forbid()

    def settle(self, patience: float = COUNTING_PATIENCE) -> Problem | None:
        """Write the marks that `later` keeps for the person, or for all; return why that failed: then they are kept."""
        person = self._acting()
        for owner in self._later.persons() if person is None else [person]:
            if not self._later.has(owner):
                continue
            try:
                with acting.as_(owner), self.write(patience):
                    pass
            except Unavailable as error:
                return error.problem
        return None

    def record(self, mark: Callable[[WriteTx], object]) -> Problem | None:
        return record(self, mark)

    @property
    def read_only(self) -> bool:
        """True if nothing can be written, as on a replica, or not by the acting person."""
        person = acting.person()
        with self._translated():
            self._opened()
        if self._read_only:  # a replica may have been promoted
            with self._translated(), self._reading(*self._home()) as tx:
                self._read_only = bool(tx.value("SELECT pg_is_in_recovery()"))
        return self._read_only or (person is not None and person.reads_only)

    def leads(self) -> bool:
        """True if this server does the background work of the tenant: one of its servers does."""
        return not self.read_only and self._watched().leads

    def stamp(self) -> str:
        with self._translated():
            return str(self._watched().number)

    def problems(self) -> list[str]:
        with self._translated(), self._reading(*self._home()) as tx:
            return tx.health.problems()

    def free(self) -> None:
        """None: there is no file, and PostgreSQL reuses free space by itself."""

    def erase(self) -> int:
        """Let PostgreSQL clear away deleted rows; return the bytes of the database then.

        It reuses their bytes and does not overwrite them; the write-ahead log, replicas and backups keep theirs: see
        docs/scale.md.
        """
        with self._translated():
            self._opened()
            with Connection.connect(self._conninfo, autocommit=True) as connection:
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
        """Write the kept marks, and close all connections for good; those in use when they are given back.

        It takes about `timeout` seconds at most. The answer is always true.
        """
        try:
            with acting.as_(None), deadline.within(timeout):
                problem = self.settle()
        except Unavailable as error:
            problem = error.problem
        if problem is not None:
            logger.warning("the last accesses were not counted: %s", problem.text)
        self._closed = True
        if self._watch is not None:
            self._watch.stop()
        self._ends.shutdown(wait=False)
        for pool in (self.pool, self._replicas):
            if pool is not None and self._links is None:
                pool.close()
        self.pool = None
        return True

    # Connections

    def _acting(self) -> Person | None:
        """Return the person for whom the transaction is; it shows no more than that person sees."""
        if self._several and not acting.is_named():
            raise RuntimeError("this server has several people, and nobody has said for whom this is")
        return acting.person()

    def _begun(self, lent: _Lent, begin: str, person: Person | None, seconds: float = CALL) -> Transaction:
        """Begin a transaction: its first statements wait in the pipeline for the first one that gives rows."""
        now = self._now()
        projects = "*" if person is None or person.projects is None else sorted(person.projects)
        lent.connection.execute(begin.encode())
        lent.connection.execute(
            """
            SELECT
                set_config('search_path', 'memory_server, public', true),
                set_config('role', 'memory_server', true),
                set_config('lock_timeout', %s, true),
                set_config('jit', 'off', true), -- to compile a statement takes longer than to run it
                set_config(
                    'synchronous_commit',
                    replace(current_setting('synchronous_commit'), 'off', 'on'), -- what is told to be written is
                    true
                ),
                set_config('memory.tenant', %s, true),
                set_config('memory.person', %s, true),
                set_config('memory.projects', %s::text, true),
                set_config('memory.shares', %s, true),
                set_config('memory.now', %s, true)
            """,
            (
                f"{max(1, int(1000 * seconds))}ms",
                str(lent.tenant),
                "" if person is None else person.name,
                projects,
                "on" if rights.shares(person) else "",
                now,
            ),
        )
        return Transaction(
            lent.connection,
            lent.pipeline,
            now,
            person=person,
            tenant=lent.tenant,
            trips=self.trips,
            directories=self._directories,
        )

    def _write_marks(self, tx: Transaction, marks: Sequence[Mark]) -> None:
        """Write marks, each as of its moment. One that fails is left out: a count must not undo the write that it
        joins.
        """
        if not self._marked(tx, marks) and len(marks) > 1:
            for mark in marks:
                self._marked(tx, [mark])
        tx.send("SELECT set_config('memory.now', %s, true)", (tx.now,))

    def _marked(self, tx: Transaction, marks: Sequence[Mark]) -> bool:
        """Write all of these marks, or none if one fails; return true if they were written."""
        tx.send("SAVEPOINT marks")
        try:
            for mark in marks:
                tx.send("SELECT set_config('memory.now', %s, true)", (mark.at,))
                # It goes by no directory that was read before: that would undo the write that the mark comes with.
                mark.write(replace(tx, now=mark.at, directories={}))
            tx.send("RELEASE SAVEPOINT marks")
            tx.wait()
        except Exception as error:
            if isinstance(error, psycopg.OperationalError) or (
                isinstance(error, psycopg.Error) and error.sqlstate in failures.REFUSING
            ):
                raise
            if len(marks) == 1:
                logger.exception("what a read has to write was left out")
            with suppress(psycopg.Error):  # the errors of statements that were sent after the one that failed
                tx.wait()
            tx.connection.prepare_threshold = None  # psycopg believes that later statements were prepared
            tx.send("ROLLBACK TO SAVEPOINT marks")
            return False
        return True

    @contextmanager
    def _reading(self, pool: Pool, tenant: int) -> Iterator[Transaction]:
        person = self._acting()
        with self._connection(pool, tenant, deadline.left(CALL)) as lent:
            tx = self._begun(lent, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", person)
            tx.send(*self._refusals(tenant))
            with _checked(tx):
                yield tx
            lent.connection.execute("COMMIT")

    def _in_step(self, stack: ExitStack) -> Transaction | None:
        """Begin to read on a replica that has all writes of the tenant that the primary has; None where none has."""
        pool, tenant = self._home()
        with self._reading(pool, tenant) as primary:
            number = primary.value("SELECT number FROM writes")
        if self._replicas is None:
            self._replicas = self._pool(make_conninfo(self._conninfo, **_REPLICA))
        if not self._replicas.is_worth_a_try():
            return None
        try:
            with ExitStack() as reading:
                tx = reading.enter_context(self._reading(self._replicas, tenant))
                if (
                    number is None
                    or tx.value("SELECT number FROM writes WHERE number >= %s", (number,)) is not None
                ):
                    stack.push(reading.pop_all())
                    return tx
        except psycopg.Error as error:  # it is gone, or has not yet heard of the schema
            logger.warning("no replica can be read: %s", error)
        return None

    @contextmanager
    def _connection(self, pool: Pool, tenant: int, seconds: float) -> Iterator[_Lent]:
        connection = pool.take(seconds)
        if connection is None:
            raise failures.busy(str(self.place), seconds)
        try:
            try:
                with ExitStack() as ending:
                    yield _Lent(connection, tenant, ending.enter_context(connection.pipeline()), ending)
                    remaining = ending.pop_all()
            except psycopg.OperationalError as error:
                if connection.closed or not failures.is_refusal(error):
                    raise failures.lost(error, str(self.place)) from error
                raise
        except BaseException as error:
            if isinstance(error, psycopg.Error):  # psycopg believes that later statements were prepared
                connection.close()
            _give_back(pool, connection, ExitStack())
            raise
        if connection.info.pipeline_status != psycopg.pq.PipelineStatus.OFF:
            with suppress(RuntimeError):  # the database was closed meanwhile
                # In the context of the call, with whose end its waits end.
                self._ends.submit(copy_context().run, _give_back, pool, connection, remaining)
                return
        _give_back(pool, connection, remaining)

    @contextmanager
    def _opening_turn(self) -> Iterator[None]:
        """Let one thread open the database while the others wait for it."""
        seconds = deadline.left()
        if not self._opening.enter(seconds):
            raise failures.busy(str(self.place), seconds)
        try:
            yield
        finally:
            self._opening.leave()

    def _home(self) -> tuple[Pool, int]:
        """Return the pool and the number of the tenant there. A tenant that moves loses the pool first."""
        while True:
            pool, tenant = self._opened(), self._tenant
            if pool is self.pool:
                return pool, tenant

    def _opened(self) -> Pool:
        """Return the pool; opens the database where it is not open.

        A background job whose awaited attempt failed makes no attempt of its own: calls may wait behind it.
        """
        if self.pool is not None:
            return self.pool
        failure = self._failure
        with self._opening_turn():
            if self._closed:
                raise Unavailable("The server is stopping: nothing was done.")
            if self.pool is None:
                if self._failure is not None and self._failure is not failure and not deadline.is_set():
                    raise self._failure
                try:
                    with self._translated():
                        self.pool = self._prepared()
                except MemoryServerError as error:
                    self._failure = error
                    raise
                if self._closed and self._links is None:  # meanwhile
                    self.pool.close()
            return self.pool

    def _watched(self) -> WriteWatch:
        """Return the thread that hears of other servers' writes; the first call starts it."""
        self._opened()
        with self._opening_turn():
            if self._watch is None:
                url = self._conninfo
                listener = Listener(url) if self._links is None else self._links.listener(url)
                self._watch = WriteWatch(listener, self._tenant)
                self._watch.start()
        self._watch.await_look()
        return self._watch

    def _pool(self, conninfo: str) -> Pool:
        """Return the connections to an address; those of all tenants of this process are shared."""
        connect = partial(
            Connection.connect,
            conninfo,
            autocommit=True,  # a transaction begins where one is asked for
            application_name="memory-server",
            prepare_threshold=PREPARED if self.place.prepares else None,
        )
        if self._links is None:
            return Pool(CONNECTIONS, connect)
        return self._links.pool(conninfo, self.place.prepares, connect)

    def _prepared(self) -> Pool:
        """Return the pool of the database in which the tenant is now."""
        for _ in range(MOVES):
            pool, target = self._prepared_here()
            if target is None:
                return pool
            if self._links is None:
                pool.close()
            self._go_to(target)
        raise Unavailable(f"{self.place} has moved again and again.")

    def _follow(self, target: str) -> None:
        """Use the tenant where it has moved to, from the next transaction on."""
        with self._opening_turn():
            if target != str(self.place) and not self._closed:
                self._go_to(target)

    def _go_to(self, target: str) -> None:
        """Leave the database for that of another address, which may need the same password."""
        logger.warning("%s has moved to %s", self.place, target)
        pool, self.pool = self.pool, None
        if pool is not None and self._links is None:
            pool.close()
        if self._watch is not None:
            self._watch.stop()
            self._watch = None
        place = where.of(target)
        if not isinstance(place, Postgres):
            raise Unavailable(f"{self.place} has moved to {target}, which is no address of PostgreSQL.")
        before = conninfo_to_dict(self.place.url)
        password = {"password": before["password"]} if "password" in before else {}
        self._conninfo = make_conninfo(place.url, **{**_ALIVE, **password, **conninfo_to_dict(place.url)})
        self.place, self._has_moved, self._replicas = place, True, None
        self._directories.clear()

    def _prepared_here(self) -> tuple[Pool, str | None]:
        """Return the pool, after the schema was brought forward and the tenant was found on its first connection; and
        the address to which the tenant has moved.
        """
        pool = self._pool(self._conninfo)
        seconds = deadline.left(CALL)
        connection = pool.take(seconds)
        if connection is None:
            raise failures.busy(str(self.place), seconds)
        try:
            target = self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        finally:
            pool.give_back(connection)
        if "," in str(conninfo_to_dict(self._conninfo).get("host", "")):
            pool.patience = FAILOVER  # one machine of the address may take over from another
        return pool, target

    def _prepare(self, connection: Connection) -> str | None:
        """Make the schema or bring it forward, and find the tenant; a new name is a new tenant. Return where it has
        moved to.
        """
        (replica,) = connection.execute("SELECT pg_is_in_recovery()").fetchone() or (False,)
        self._read_only = bool(replica)
        version = migrate.version_of(connection)
        migrate.refuse_too_new(connection, version, self._migrations[-1].version)
        if version == 0 and not self._makes:
            raise NotMade(f"There is no memory in {self.place} yet.")
        if not self._read_only:
            migrate.migrate(connection, self._migrations, self._now())
        name = self.place.tenant
        tenant = tenants.find(connection, name)
        if tenant is None and self._makes and not self._read_only:
            tenant = tenants.find_or_add(connection, name, self._now())
        if tenant is None:
            raise NotMade(f"There is no tenant {name} in {self.place} yet.")
        if tenant.moved_to is None and tenant.copy_of is not None:
            if not (self._has_moved and tenant.whole):
                raise failures.unfinished(str(self.place), tenant.copy_of)
            tenants.open_whole(connection, tenant.id)  # who moved it may have been killed just then
        self._tenant = tenant.id
        return tenant.moved_to

    def _now(self) -> str:
        return timestamp(self._clock())

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Translate the driver's exceptions, by type, into ours. Nothing else in the package knows them."""
        try:
            yield
        except psycopg.Error as error:
            # After a statement that failed, the others are not run and fail too: the first error says why.
            behind = error.__context__ if isinstance(error, psycopg.errors.PipelineAborted) else None
            first = behind if isinstance(behind, psycopg.Error) else error
            if first.sqlstate == failures.NEWER:
                raise failures.newer(first, str(self.place), self._migrations[-1].version) from error
            failure = failures.meaning(first, str(self.place))
            if first.sqlstate == failures.MOVED:
                self._follow(str(first.diag.message_primary))
            raise failure from error

    def _refusals(self, tenant: int) -> tuple[str, tuple[int, int]]:
        """Return the statement that fails where the schema is newer than this program, or the tenant an unfinished
        copy.
        """
        return (
            "SELECT refuse_newer(%s), refuse_unfinished(%s)",
            (self._migrations[-1].version, tenant),
        )


@contextmanager
def _checked(tx: Transaction) -> Iterator[None]:
    """Refuse what the block found, also where that is an error, if it went by projects that are others now."""
    try:
        yield
    except MemoryServerError:
        tx.refuse_outdated()
        raise
    tx.refuse_outdated()


def _give_back(pool: Pool, connection: Connection, ending: ExitStack) -> None:
    """Wait for the answers to all statements, and give the connection back."""
    try:
        ending.close()
        if not connection.closed and connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            connection.execute("ROLLBACK")
    except psycopg.Error as error:
        logger.warning("the end of a transaction failed: %s", error)
        connection.close()
    finally:
        pool.give_back(connection)
