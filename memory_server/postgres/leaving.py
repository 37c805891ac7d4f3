"""The tenant that moves away, which servers use meanwhile."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Final

import psycopg

from memory_server.domain.moment import timestamp
from memory_server.errors import Mend, Unavailable
from memory_server.postgres import failures, migrate, tenants
from memory_server.postgres.connections import Connection
from memory_server.postgres.copied import Copied
from memory_server.postgres.database import WRITES
from memory_server.postgres.filling import act_in, commit_durably
from memory_server.postgres.tx import Trips, Tx
from memory_server.where import Postgres

LEAVING: Final = 0x6D6C
"""The first number of the advisory lock of the process that moves a tenant away ('ml'); the second is the tenant's."""

WAITING: Final = 5
"""Seconds that a move waits for its turn to write. Writes that come after it wait too."""


class Leaving:
    """Reads a tenant at several moments, lets its writes wait, and leaves it for another address."""

    def __init__(self, place: Postgres, clock: Callable[[], datetime]) -> None:
        self._place = place
        self._clock = clock
        self._connection: Connection | None = None
        self._tx: Tx

    def begin(self, target: str) -> bool:
        """Begin to move to an address. Return true if the tenant has been left for it already.

        Raises:
            Unavailable: it has moved to another address, or there is none, or another process moves it.
        """
        with self._translated():
            connection = self._connection = Connection.connect(
                self._place.url, autocommit=True, application_name="memory-server, moving"
            )
            now, migrations = timestamp(self._clock()), migrate.load()
            version = migrate.version_of(connection)
            tenant = tenants.find(connection, self._place.tenant) if version else None
            if tenant is None:
                raise Unavailable(f"There is no tenant {self._place.tenant} in {self._place}.")
            migrate.refuse_newer(version, migrations[-1].version)
            migrate.migrate(connection, migrations, now)
            act_in(connection, tenant.id, now)
            self._tx = Tx(connection, psycopg.Pipeline(connection), now, tenant=tenant.id, trips=Trips())
            self._refuse_others()
            if tenant.moved_to not in (None, target):
                raise failures.moved(str(self._place), str(tenant.moved_to))
            return tenant.moved_to == target

    @contextmanager
    def look(self) -> Iterator[Copied]:
        """Yield the rows of one moment, while others write."""
        with self._translated():
            self._tx.send("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            try:
                yield Copied(self._tx)
            finally:
                self._end()

    @contextmanager
    def pause(self, target: str) -> Iterator[Copied]:
        """Yield the last rows, while all writes wait; at the end of the block the tenant is left for the target.

        Where the block raises, the writes go on here.
        """
        with self._translated(), self._tx.connection.transaction():
            self._tx.send("SELECT set_config('lock_timeout', %s, true)", (f"{WAITING}s",))
            self._tx.send("SELECT pg_advisory_xact_lock(%s, %s)", (WRITES, self._tx.tenant))
            yield Copied(self._tx)
            commit_durably(self._tx)
            self._tx.send("UPDATE tenants SET moved_to = %s WHERE id = tenant()", (target,))

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def _end(self) -> None:
        connection = self._tx.connection
        if not connection.closed:
            connection.execute("ROLLBACK")

    def _refuse_others(self) -> None:
        """Raises Unavailable where another process moves the tenant, or this role may not."""
        if self._tx.value("SELECT row_security_active('memories')"):
            raise Unavailable(
                f"The tables of {self._place} belong to another role: move as the role that made them."
            )
        if not self._tx.value("SELECT pg_try_advisory_lock(%s, %s)", (LEAVING, self._tx.tenant)):
            raise Unavailable(f"Another process moves {self._place} now.", Mend.TRY_AGAIN)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            raise failures.meaning(error, str(self._place)) from error
