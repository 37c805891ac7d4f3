"""The tenant that moves away, which servers use meanwhile."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from typing import Final

from memory_server.domain.moment import timestamp
from memory_server.errors import Unavailable
from memory_server.postgres import failures, migrate, tenants
from memory_server.postgres.alone import act_alone_in, commit_durably
from memory_server.postgres.connections import Connection
from memory_server.postgres.copied import Copied
from memory_server.postgres.database import WRITES
from memory_server.postgres.tx import Tx
from memory_server.where import Postgres

LEAVING: Final = 0x6D6C
"""The first number of the advisory lock of the process that moves a tenant away ('ml'); the second is the tenant's."""

WAITING: Final = 5
"""Seconds that a move waits for its turn to write. Writes that come after it wait too."""


_OF_TENANTS: Final = """
    SELECT quote_ident(relname)
    FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid
    WHERE relnamespace = 'memory_server'::regnamespace AND relkind = 'r' AND attname = 'tenant_id'
    ORDER BY relname
"""


class Leaving:
    """Reads a tenant at several moments, lets its writes wait, and leaves it for another address: see
    `storage.copying.Leaving`.
    """

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
            now = timestamp(self._clock())
            tenant = tenants.find(connection, self._place.tenant) if migrate.version_of(connection) else None
            if tenant is None:
                raise Unavailable(f"There is no tenant {self._place.tenant} in {self._place}.")
            migrate.bring_forward(connection, now)
            self._tx = act_alone_in(connection, tenant.id, now, LEAVING, str(self._place))
            if tenant.moved_to not in (None, target):
                raise failures.moved(str(self._place), str(tenant.moved_to))
            return tenant.moved_to == target

    @contextmanager
    def look(self) -> Iterator[Copied]:
        with self._translated():
            self._tx.send("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            try:
                yield Copied(self._tx)
            finally:
                if not self._tx.connection.closed:
                    self._tx.connection.execute("ROLLBACK")

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

    def purge(self) -> int:
        """Delete the rows of the tenant, which has been left; return their number. Its new address stays.

        Triggers write rows to other tables about what is deleted, so the tables are emptied until none has a row.
        """
        with self._translated(), self._tx.connection.transaction():
            statements = [
                f"DELETE FROM {name} WHERE tenant_id = tenant()" for (name,) in self._tx.rows(_OF_TENANTS)
            ]
            deleted = 0
            while number := sum(self._tx.connection.execute(sql.encode()).rowcount for sql in statements):
                deleted += number
            return deleted

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def _translated(self) -> AbstractContextManager[None]:
        return failures.translated(str(self._place))
