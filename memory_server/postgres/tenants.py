"""The table of tenants, for a connection that does not act for a tenant yet."""

from dataclasses import dataclass

from memory_server.postgres.connections import Connection


@dataclass(frozen=True, slots=True)
class Tenant:
    """A tenant; `copy_of` names the memory of which it is a copy, as long as the copy is not finished.

    `moved_to` is its address now. `whole`: the copy has all rows, and waits for its source to be left.
    """

    id: int
    copy_of: str | None
    moved_to: str | None
    whole: bool


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


def open_whole(connection: Connection, id: int) -> None:
    """Let a tenant be used whose source has been left for it."""
    connection.execute(
        "UPDATE memory_server.tenants SET copy_of = NULL, whole = false WHERE id = %s AND whole", (id,)
    )


def _named(connection: Connection, name: str) -> list[Tenant]:
    # A replica may lack the newest columns while servers are upgraded.
    rows = connection.execute(
        """
        SELECT id, copy_of, to_jsonb(t) ->> 'moved_to', coalesce((to_jsonb(t) ->> 'whole')::boolean, false)
        FROM memory_server.tenants AS t
        WHERE name = %s
        """,
        (name,),
    )
    return [Tenant(*row) for row in rows]
