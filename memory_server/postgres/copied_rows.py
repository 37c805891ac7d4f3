"""Sends many rows into a table at once, by COPY in its binary format."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory_server.postgres import migrate
from memory_server.postgres.connections import Connection

_SENT_AS = {
    "integer": "int4",
    "bigint": "int8",
    "text": "text",
    "boolean": "bool",
    "double precision": "float8",
    "public.vector": "bytea",
    "vector": "bytea",
    "tsvector": "bytea",
    "jsonb": "bytea",
}
"""The type in which a value of each column type is sent; bytes where psycopg has no binary form for the
column's type."""


@dataclass(frozen=True, slots=True)
class Sending:
    """Sends rows of a tenant. `types`: by table and column, the type to send, as `read_types` gives them."""

    tenant: int
    types: Mapping[str, Mapping[str, str]]

    def send(
        self, connection: Connection, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]
    ) -> None:
        """Insert rows with these columns. PostgreSQL stores the first rows while the next are made."""
        names, types = ("tenant_id", *columns), self.types[table]
        with (
            connection.cursor() as cursor,
            cursor.copy(f"COPY {table} ({', '.join(names)}) FROM STDIN (FORMAT BINARY)") as copy,
        ):
            copy.set_types([types[name] for name in names])
            for row in rows:
                copy.write_row((self.tenant, *row))


def read_types(connection: Connection) -> dict[str, dict[str, str]]:
    """Return by table and column the type in which a value is sent."""
    types: dict[str, dict[str, str]] = {}
    for table, column, type in connection.execute(
        """
        SELECT c.relname, attname, coalesce(nullif(typbasetype, 0), atttypid)::regtype::text
        FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid JOIN pg_type AS t ON t.oid = atttypid
        WHERE relnamespace = %s::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
        """,
        (migrate.SCHEMA,),
    ):
        if type in _SENT_AS:
            types.setdefault(table, {})[column] = _SENT_AS[type]
    return types
