"""The table of tenants, for a connection that does not act for a tenant yet."""

from dataclasses import dataclass

from memory_server.postgres.connections import Connection


@dataclass(frozen=True, slots=True)
class Tenant:
    """A tenant; `copy_of` names the memory of which it is a copy, as long as the copy is not finished."""

    id: int
    copy_of: str | None


def find(connection: Connection, name: str) -> Tenant | None:
    """Return the tenant with a name; None where there is none."""
    return next(iter(_named(connection, name)), None)


def find_or_add(connection: Connection, name: str, now: str) -> Tenant:
    """Return the tenant with a name; add it where there is none."""
    connection.execute(
        "INSERT INTO memory_server.tenants (name, created_at) VALUES (%s, %s) ON CONFLICT DO NOTHING",
        (name, now),
    )
    (tenant,) = _named(connection, name)
    return tenant


def _named(connection: Connection, name: str) -> list[Tenant]:
    rows = connection.execute("SELECT id, copy_of FROM memory_server.tenants WHERE name = %s", (name,))
    return [Tenant(*row) for row in rows]
