"""The schema of the database: made and brought forward by one server, while the others wait."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import sql

from memory_server.errors import Mend, Unavailable
from memory_server.storage import packaged

SCHEMA = "memory_server"
"""The schema that holds all tables, and the role that transactions act as."""

LOCK = 0x6D656D
"""The number of the advisory lock of the server that migrates ('mem')."""


def load() -> list[packaged.Migration]:
    """Return the migrations in order."""
    return packaged.load(packaged.folder() / "postgres")


def migrate(
    connection: psycopg.Connection[tuple[Any, ...]], migrations: list[packaged.Migration], now: str
) -> None:
    """Bring the schema forward, or make it; all or nothing. A newer schema stays as it is.

    Raises:
        Unavailable: a newer version made the schema, and this one cannot use it; or pgvector is not there.
    """
    newest = migrations[-1].version
    if version_of(connection) == newest:
        return
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        version = version_of(connection)
        refuse_too_new(connection, version, newest)
        if version == 0:
            _prepare(connection)
        connection.execute(sql.SQL("SET LOCAL search_path = {}, public").format(sql.Identifier(SCHEMA)))
        for migration in packaged.missing(migrations, version):
            connection.execute(migration.path.read_text("utf-8"), prepare=False)
            connection.execute(
                "INSERT INTO migrations (version, name, applied_at) VALUES (%s, %s, %s)",
                (migration.version, migration.name, now),
            )


def bring_forward(connection: psycopg.Connection[tuple[Any, ...]], now: str) -> None:
    """Bring the schema forward for a process that copies all of it. Raises Unavailable where the schema is newer."""
    migrations = load()
    refuse_newer(version_of(connection), migrations[-1].version)
    migrate(connection, migrations, now)


def version_of(connection: psycopg.Connection[tuple[Any, ...]]) -> int:
    """Return the newest migration that the schema has; 0 where there is no schema.

    It asks a catalog: within a transaction, `to_regclass` answers from what the session has cached, and does not see
    the schema that another server has made since.
    """
    tables = "SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = %s AND tablename = 'migrations'"
    if connection.execute(tables, (SCHEMA,)).fetchone() is None:
        return 0
    row = connection.execute(
        sql.SQL("SELECT coalesce(max(version), 0) FROM {}.migrations").format(sql.Identifier(SCHEMA))
    ).fetchone()
    return 0 if row is None else int(row[0])


def refuse_too_new(connection: psycopg.Connection[tuple[Any, ...]], version: int, newest: int) -> None:
    """Raise Unavailable where the schema says that a program which knows `newest` cannot use it."""
    if version > newest:
        oldest = connection.execute(
            sql.SQL("SELECT {}.oldest_program()").format(sql.Identifier(SCHEMA))
        ).fetchone()
        if oldest is None or newest < oldest[0]:
            refuse_newer(version, newest)


def refuse_newer(version: int, newest: int) -> None:
    """Raise Unavailable where the schema is newer: who copies all of it would leave out what is new."""
    if version > newest:
        raise Unavailable(
            f"The database has schema version {version}, and this program knows version {newest}.",
            Mend.UPGRADE,
        )


def _prepare(connection: psycopg.Connection[tuple[Any, ...]]) -> None:
    """Make what the migrations need: the extension, the role that transactions act as, and the schema."""
    user = connection.info.user
    with _explained("CREATE EXTENSION vector;"):
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public")
    with _explained(f"CREATE ROLE {SCHEMA} NOLOGIN; GRANT {SCHEMA} TO {user};"):
        if connection.execute("SELECT FROM pg_roles WHERE rolname = %s", (SCHEMA,)).fetchone() is None:
            connection.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(sql.Identifier(SCHEMA)))
        member = connection.execute("SELECT pg_has_role(%s, 'MEMBER')", (SCHEMA,)).fetchone()
        if member != (True,):
            connection.execute(sql.SQL("GRANT {} TO {}").format(sql.Identifier(SCHEMA), sql.Identifier(user)))
    with _explained(f"GRANT CREATE ON DATABASE {connection.info.dbname} TO {user};"):
        connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(SCHEMA)))
    connection.execute(
        sql.SQL(
            "CREATE TABLE {}.migrations (version int PRIMARY KEY, name text NOT NULL, applied_at text NOT NULL)"
        ).format(sql.Identifier(SCHEMA))
    )


@contextmanager
def _explained(statements: str) -> Iterator[None]:
    """Turn a refusal for lack of rights into an error that names the statements an administrator can run."""
    try:
        yield
    except psycopg.errors.InsufficientPrivilege as error:
        raise Unavailable(
            f"The role of the server may not prepare the database. An administrator must run in it: {statements}",
            Mend.TRY_AGAIN,
        ) from error
    except (psycopg.errors.FeatureNotSupported, psycopg.errors.UndefinedFile) as error:
        raise Unavailable(
            "The server of PostgreSQL has no pgvector: the extension must be installed there.", Mend.TRY_AGAIN
        ) from error
