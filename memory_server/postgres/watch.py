"""Hears of the writes of other servers, and agrees with them on which one does the background work of a tenant."""

import logging
import threading
import time
import uuid
from typing import Final

import psycopg

from memory_server.call import deadline
from memory_server.postgres.connections import Connection
from memory_server.postgres.migrate import SCHEMA

logger = logging.getLogger(__name__)

CHANNEL: Final = "memory_server"
"""The channel that announces each write, as the number of the tenant and that of the write."""

PAUSE: Final = 5.0
"""Seconds between two looks. A pooler may lose notifications: then a look finds what was written."""

LEASE: Final = 4 * PAUSE
"""Seconds after which another server leads, if the leading one is gone."""

WAIT: Final = 0.5
"""Seconds that it waits for a notification before it checks if it must end."""

_LEAD = f"""
    INSERT INTO {SCHEMA}.leads AS l (tenant_id, holder, until)
    SELECT id, %s, now() + %s * interval '1 second' FROM unnest(%s::int[]) AS watched (id)
    ON CONFLICT (tenant_id) DO UPDATE SET holder = excluded.holder, until = excluded.until
    WHERE l.holder = excluded.holder OR l.until < now()
    RETURNING tenant_id
"""


class WriteWatch:
    """The writes of one tenant, from `start` to `stop`. Those of several tenants of a database have one listener."""

    def __init__(self, listener: "Listener", tenant: int) -> None:
        self.leads = False
        """Whether this server does the background work of all."""
        self.number = 0
        """How many writes the tenant has seen."""
        self.tenant = tenant
        self.looked = threading.Event()
        self._listener = listener

    def start(self) -> None:
        """Begin; returns at once."""
        self._listener.add(self)

    def await_look(self) -> None:
        """Wait until it has looked once, or has tried to: a moment."""
        self.looked.wait(deadline.left(PAUSE))

    def stop(self) -> None:
        """End soon; returns at once."""
        self._listener.remove(self)


class Listener:
    """A thread with a connection of its own, for as long as there is a watch. If it loses the connection, it connects
    again.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._holder = uuid.uuid4().hex
        self._watches: dict[int, WriteWatch] = {}
        self._left: set[int] = set()
        """Tenants that are watched no more, and whose lease this server may still have."""
        self._runs = False
        self._changed = threading.Event()
        self._lock = threading.Lock()

    def add(self, watch: WriteWatch) -> None:
        with self._lock:
            self._watches[watch.tenant] = watch
            self._left.discard(watch.tenant)
            self._changed.set()
            if not self._runs:
                self._runs = True
                threading.Thread(target=self._run, name="watch", daemon=True).start()

    def remove(self, watch: WriteWatch) -> None:
        with self._lock:
            if self._watches.get(watch.tenant) is watch:
                del self._watches[watch.tenant]
                self._left.add(watch.tenant)
                self._changed.set()

    def _goes_on(self) -> bool:
        """True while there is a watch; else the next one starts a new thread."""
        with self._lock:
            self._runs = bool(self._watches)
            return self._runs

    def _run(self) -> None:
        while self._goes_on():
            try:
                with deadline.within(PAUSE):  # a pooler may lose what is prepared
                    connection = Connection.connect(self._url, autocommit=True, prepare_threshold=None)
                with connection:
                    self._listen(connection)
            except psycopg.Error as error:
                logger.warning("the writes of other servers are not heard: %s", error)
                for watch in list(self._watches.values()):
                    watch.leads = False
                    watch.looked.set()
                self._changed.clear()
                self._changed.wait(PAUSE)

    def _listen(self, connection: Connection) -> None:
        listens, due = False, 0.0
        while True:
            if self._changed.is_set():
                self._changed.clear()
                self._give_up_leases(connection)
                due = 0.0
            if not self._watches:
                return
            if time.monotonic() >= due:
                with deadline.within(PAUSE):
                    listens = self._look(connection, listens)
                due = time.monotonic() + PAUSE
            for notification in connection.notifies(timeout=WAIT, stop_after=1):
                tenant, _, number = notification.payload.partition(" ")
                if watch := self._watches.get(int(tenant)):
                    watch.number = int(number)

    def _give_up_leases(self, connection: Connection) -> None:
        with self._lock:
            left = list(self._left)
        if left:
            with deadline.within(PAUSE):
                connection.execute(
                    f"DELETE FROM {SCHEMA}.leads WHERE holder = %s AND tenant_id = ANY(%s)",
                    (self._holder, left),
                )
            self._left.difference_update(left)

    def _look(self, connection: Connection, listens: bool) -> bool:
        """Look for new writes and renew the leases; return true if the connection listens.

        A replica can neither listen nor lead before it is promoted.
        """
        watches = dict(self._watches)
        (replica,) = connection.execute("SELECT pg_is_in_recovery()").fetchone() or (False,)
        if not replica and not listens:
            connection.execute(f"LISTEN {CHANNEL}")
        leads = (
            [] if replica else connection.execute(_LEAD, (self._holder, LEASE, sorted(watches))).fetchall()
        )
        writes = connection.execute(
            f"SELECT tenant_id, number FROM {SCHEMA}.writes WHERE tenant_id = ANY(%s)", (list(watches),)
        )
        numbers = dict(writes.fetchall())
        for tenant, watch in watches.items():
            watch.leads = (tenant,) in leads
            watch.number = numbers.get(tenant, 0)
            watch.looked.set()
        return not replica
