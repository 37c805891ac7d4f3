"""A look into the file as it is, for a shell that completes a line."""

from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from memory_server.errors import Unavailable
from memory_server.sqlite import migrate, pragmas, schema
from memory_server.sqlite.database import Database
from memory_server.sqlite.transaction import Transaction

PATIENCE = 100
"""Milliseconds that a look waits for a write to end: a person has pressed a key."""


class Glance(Database):
    """A file that is only looked at: it is neither made nor migrated nor written."""

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """One consistent view of the file.

        Raises:
            Unavailable: there is no such file, it has another schema, or it is being written.
        """
        with self._translated():
            connection = pragmas.connected(str(self.path), apsw.SQLITE_OPEN_READONLY)
            try:
                connection.set_busy_timeout(PATIENCE)
                newest = self.migrations[-1].version
                migrate.refuse(connection, self.migrations)
                if migrate.version_of(connection) != newest:
                    raise Unavailable("The file has an older schema.")
                connection.execute("BEGIN")
                schema.refuse_foreign(connection, self.migrations)
                yield Transaction(connection, self._now())
            finally:
                connection.close()
