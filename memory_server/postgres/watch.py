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
    VALUES (%s, %s, now() + %s * interval '1 second')
    ON CONFLICT (tenant_id) DO UPDATE SET holder = excluded.holder, until = excluded.until
    WHERE l.holder = excluded.holder OR l.until < now()
    RETURNING true
"""


class WriteWatch:
    """A thread with a connection of its own, from `start` to `stop`. If it loses the connection, it connects again."""

    def __init__(self, url: str, tenant: int) -> None:
        self.leads = False
        """Whether this server does the background work of all."""
        self.number = 0
        """How many writes the tenant has seen."""
        self._url = url
        self._tenant = tenant
        self._holder = uuid.uuid4().hex
        self._stopping = threading.Event()
        self._looked = threading.Event()

    def start(self) -> None:
        """Begin; returns at once."""
        threading.Thread(target=self._run, name="watch", daemon=True).start()

    def await_look(self) -> None:
        """Wait until it has looked once, or has tried to: a moment."""
        self._looked.wait(deadline.left(PAUSE))

    def stop(self) -> None:
        """End soon; returns at once."""
        self._stopping.set()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                with deadline.within(PAUSE):  # a pooler may lose what is prepared
                    connection = Connection.connect(self._url, autocommit=True, prepare_threshold=None)
                with connection:
                    self._listen(connection)
            except psycopg.Error as error:
                logger.warning("the writes of other servers are not heard: %s", error)
                self.leads = False
                self._looked.set()
                self._stopping.wait(PAUSE)

    def _listen(self, connection: Connection) -> None:
        listens, due = False, 0.0
        while not self._stopping.is_set():
            if time.monotonic() >= due:
                with deadline.within(PAUSE):
                    listens = self._look(connection, listens)
                due = time.monotonic() + PAUSE
            for notification in connection.notifies(timeout=WAIT, stop_after=1):
                tenant, _, number = notification.payload.partition(" ")
                if tenant == str(self._tenant):
                    self.number = int(number)
        if self.leads:
            with deadline.within(PAUSE):
                connection.execute(f"DELETE FROM {SCHEMA}.leads WHERE holder = %s", (self._holder,))

    def _look(self, connection: Connection, listens: bool) -> bool:
        """Look for new writes and renew the lease; return true if the connection listens.

        A replica can neither listen nor lead before it is promoted.
        """
        (replica,) = connection.execute("SELECT pg_is_in_recovery()").fetchone() or (False,)
        if not replica and not listens:
            connection.execute(f"LISTEN {CHANNEL}")
        lead = None if replica else connection.execute(_LEAD, (self._tenant, self._holder, LEASE)).fetchone()
        self.leads = lead is not None
        written = connection.execute(
            f"SELECT number FROM {SCHEMA}.writes WHERE tenant_id = %s", (self._tenant,)
        ).fetchone()
        self.number = written[0] if written else 0
        self._looked.set()
        return not replica
