"""Picks the store: a file of SQLite, or PostgreSQL, whose modules are not imported for a file."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memory_server import installation
from memory_server.where import Postgres, Where

if TYPE_CHECKING:
    from memory_server.postgres.links import Links
    from memory_server.storage.copying import Leaving, MoveTarget, Target
    from memory_server.storage.database import Database


def clock() -> datetime:
    """Return the time now, in UTC."""
    return datetime.now(UTC)


def at(
    where: Where,
    clock: Callable[[], datetime],
    several: bool = False,
    make_folders: bool = False,
    links: "Callable[[], Links] | None" = None,
) -> "Database":
    """Return the database at a place; nothing is opened yet.

    `several`: it serves several people. `make_folders`: make every missing folder above a file, not only the last.
    `links` gives what the tenants of this process share.

    Raises:
        Unavailable: the driver of PostgreSQL is not installed.
    """
    if isinstance(where, Postgres):
        with installation.needs("postgres", str(where)):
            from memory_server.postgres.database import Database as OnPostgres
        return OnPostgres(where, clock, several, links and links())
    from memory_server.sqlite.database import Database as File

    return File(where, clock, make_folders=make_folders, several=several)


def filling(where: Where, clock: Callable[[], datetime]) -> "Target":
    """Return a new database to fill; nothing is opened yet.

    Raises:
        Unavailable: the driver of PostgreSQL is not installed.
    """
    if isinstance(where, Postgres):
        with installation.needs("postgres", str(where)):
            from memory_server.postgres.filling import Filling as Tenant
        return Tenant(where, clock)
    from memory_server.sqlite.filling import Filling as File

    return File(where, clock)


def leaving(where: Postgres, clock: Callable[[], datetime]) -> "Leaving":
    """Return a tenant that moves away; nothing is opened yet.

    Raises:
        Unavailable: the driver of PostgreSQL is not installed.
    """
    with installation.needs("postgres", str(where)):
        from memory_server.postgres.leaving import Leaving
    return Leaving(where, clock)


def arriving(where: Postgres, clock: Callable[[], datetime]) -> "MoveTarget":
    """Return a new tenant for one that moves; nothing is opened yet."""
    from memory_server.postgres.filling import Filling

    return Filling(where, clock)
