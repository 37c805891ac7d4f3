"""Connections to PostgreSQL whose waits all end, and the pool of the few that a server has at the same time."""

import threading
import time
from collections import deque
from collections.abc import Callable, Generator
from contextlib import suppress
from functools import partial
from typing import Any, Final, Self, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from memory_server.call import deadline
from memory_server.call.places import Places

CONNECTING: Final = 10.0
"""Seconds that connecting may take, all hosts of the address together; less where a call has less left."""

PAUSE: Final = 10.0
"""Seconds of silence after which a background job asks PostgreSQL if it still works at the statement."""

LONGEST: Final = 4 * 3600.0
"""Seconds that one statement may take at most: to build an index of some million vectors takes an hour."""

ANSWER: Final = 0.5
"""Seconds for an answer after the end of a call: PostgreSQL ends a wait for a lock at that end, and says so."""

IDLE: Final = 600.0
"""Seconds after which an unused connection is closed."""

FAILOVER: Final = 10.0
"""Seconds after the first failure to connect in which calls wait for a machine that takes over."""

AGAIN: Final = 0.2
"""Seconds between two attempts to find that machine."""

Condition = TypeVar("Condition")
Result = TypeVar("Result")

_WORKS = """
    SELECT state = 'active' AND wait_event_type IS DISTINCT FROM 'Client'
    FROM pg_stat_activity
    WHERE pid = %s
"""
"""Gives no row behind a pooler, which makes up the number of the process."""


class Connection(psycopg.Connection[tuple[Any, ...]]):
    """A connection whose waits end with the call; then it is closed, since a late answer could still come on it.

    A background job may wait as long as PostgreSQL, asked on another connection, says that it works at the statement.
    """

    _address = ""

    is_silent = False
    """True if it was closed because PostgreSQL did not answer in time."""

    warnings: list[str]
    """The last warning of PostgreSQL, unless it was cleared."""

    @classmethod
    def connect(cls, conninfo: str = "", **options: Any) -> Self:
        hosts = str(conninfo_to_dict(conninfo).get("host", "")).count(",") + 1
        with deadline.within(CONNECTING):
            each_host = max(2, int(deadline.left() / hosts))  # the driver takes no less
            connection = super().connect(conninfo, **{"connect_timeout": each_host, **options})
        # Of several hosts the one that it speaks to: another one knows nothing of its statements.
        info = connection.info
        connection._address = make_conninfo(
            conninfo, host=info.host, hostaddr=info.hostaddr or None, port=info.port
        )
        connection.warnings = []
        connection.add_notice_handler(partial(_keep_warning, connection.warnings))
        return connection

    @classmethod
    def _connect_gen(cls, conninfo: str = "") -> Any:
        # Each host of the address would have the time for a late answer.
        return _until_the_end(super()._connect_gen(conninfo), lambda: False, may_be_late=False)

    def wait(self, gen: Any, *args: Any, **options: Any) -> Any:
        """Bound every wait of the driver: for statements, pipelines, copies and notifications."""
        try:
            return super().wait(_until_the_end(gen, self._is_worked_at), *args, **options)
        except _Silent:
            self.is_silent = True
            self.close()
            with suppress(psycopg.Error):
                gen.close()  # it would say farewell on the connection
            raise

    def __del__(self, *_: object) -> None:
        """Close a connection that is dropped with its database; the driver would warn."""
        if hasattr(self, "pgconn"):
            self.close()

    def _is_worked_at(self) -> bool:
        """True while PostgreSQL says that it works at the statement of this connection."""
        with (
            suppress(psycopg.Error),
            deadline.within(CONNECTING),
            Connection.connect(self._address, autocommit=True) as observer,
        ):
            return observer.execute(_WORKS, (self.info.backend_pid,)).fetchone() in (None, (True,))
        return False


def _keep_warning(warnings: list[str], notice: psycopg.errors.Diagnostic) -> None:
    """Keep a warning; a method would keep its connection alive."""
    if notice.severity_nonlocalized == "WARNING":
        warnings[:] = [notice.message_primary or notice.sqlstate or ""]


class _Silent(psycopg.OperationalError):
    """PostgreSQL did not answer in time."""


def _until_the_end(
    steps: Generator[Condition, Any, Result], is_worked_at: Callable[[], bool], may_be_late: bool = True
) -> Generator[Condition, Any, Result]:
    """Run the steps of the driver, each of which may wait, until the call's end; checks the time ten times a second or
    more. `may_be_late`: an answer may come a little after that end.
    """
    began = time.monotonic()
    ends = began + (deadline.left() if deadline.is_set() else PAUSE) + (ANSWER if may_be_late else 0)
    ready, works = None, True
    while True:
        try:
            condition = steps.send(ready)
        except StopIteration as done:
            result: Result = done.value
            return result
        now = time.monotonic()
        if now >= ends:
            if not works or deadline.is_set() or now >= began + LONGEST:
                raise _Silent("PostgreSQL did not answer in time")
            works = is_worked_at()
            ends = time.monotonic() + (PAUSE if works else ANSWER)  # the answer may be on its way just now
        ready = yield condition


class Pool:
    """Up to `size` connections at the same time.

    A thread that needs one waits for its turn, and connects where none is idle: so it gets the error if that fails.
    """

    def __init__(self, size: int, connect: Callable[[], Connection]) -> None:
        self._connect = connect
        self.patience = 0.0
        """Seconds after a first failure to connect in which it tries again."""
        self._failing_since = 0.0
        """When connecting failed first since the last transaction that ended well; 0 where it did not."""
        self._places = Places(size)
        self._idle = deque[tuple[float, Connection]]()
        self._lock = threading.Lock()
        self._closed = False

    def take(self, seconds: float) -> Connection | None:
        """Return a connection; None where others use all of them for so many seconds."""
        if not self._places.enter(seconds):
            return None
        try:
            while (connection := self._next()) is not None:
                if _is_alive(connection):
                    return connection
                connection.close()
            return self._connected()
        except BaseException:
            self._places.leave()
            raise

    def is_worth_a_try(self) -> bool:
        """False for a while after connecting has failed, so that not each call waits for it."""
        if time.monotonic() > self._failing_since + FAILOVER:
            self._failing_since = 0.0
        return self._failing_since == 0.0

    def give_back(self, connection: Connection) -> None:
        """Keep the connection for the next transaction, unless it is closed or inside a transaction.

        Where PostgreSQL fell silent on it, the idle ones are closed too: each would cost another call its time.
        """
        idle = connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        now = time.monotonic()
        oldest = now if connection.is_silent else now - IDLE
        with self._lock:
            if idle and not self._closed:
                self._idle.append((now, connection))
                self._failing_since = 0.0
            else:
                connection.close()
            while self._idle and self._idle[0][0] < oldest:
                self._idle.popleft()[1].close()
        self._places.leave()

    def close(self) -> None:
        """Close all that are idle now, and the others when they are given back."""
        with self._lock:
            self._closed = True
            while self._idle:
                self._idle.pop()[1].close()

    def _connected(self) -> Connection:
        """Connect; if that fails, go on for the time in which another machine may take over, and the call lasts."""
        while True:
            try:
                return self._connect()
            except psycopg.OperationalError:
                now = time.monotonic()
                self._failing_since = self._failing_since or now
                if now + AGAIN > self._failing_since + self.patience or deadline.left() < AGAIN:
                    raise
            time.sleep(AGAIN)

    def _next(self) -> Connection | None:
        """Return the idle connection that was used last, so that surplus ones grow old; None where there is none."""
        with self._lock:
            return self._idle.pop()[1] if self._idle else None


def _is_alive(connection: Connection) -> bool:
    """False where PostgreSQL has closed a connection that was idle: that is seen without a round trip.

    The first read takes the last message of a server that stops, the second sees the end.
    """
    try:
        connection.pgconn.consume_input()
        connection.pgconn.consume_input()
    except psycopg.OperationalError:
        return False
    return True
