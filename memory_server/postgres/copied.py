"""The rows of a tenant as they are, for a copy of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from memory_server.postgres.tx import Tx
from memory_server.postgres.whole_rows import little_endian
from memory_server.storage.columns import TABLES, VECTOR, Table
from memory_server.storage.copying import Key, Row


@dataclass(frozen=True, slots=True)
class Copied:
    """The rows of a tenant as they are, for a copy of it. It names the tenant, since who fills one is the owner of the
    tables and sees all."""

    tx: Tx

    def count(self, table: Table) -> int:
        return int(self.tx.value(f"SELECT count(*) FROM {table.name} WHERE tenant_id = tenant()"))

    def rows(self, table: Table, after: Key | None, upto: Key | None, limit: int | None) -> list[Row]:
        where, values = between(table, after, upto)
        columns = ", ".join(f"vector_send({name})" if name == VECTOR else name for name in table.columns)
        rows = self.tx.ask(
            f"""
            SELECT {columns} FROM {table.name} WHERE {where}
            ORDER BY {", ".join(table.key)} LIMIT {"ALL" if limit is None else limit}
            """,
            values,
            binary=True,
        ).rows()
        if VECTOR not in table.columns:
            return rows
        place = table.columns.index(VECTOR)
        return [(*row[:place], little_endian(row[place]), *row[place + 1 :]) for row in rows]

    def highest_ids(self) -> Mapping[str, int]:
        rows = self.tx.rows(
            """
            SELECT name, next_id(name) - 1 AS highest FROM unnest(%s::text[]) AS t (name)
            """,
            ([table.name for table in TABLES if table.numbered],),
        )
        return {name: highest for name, highest in rows if highest}


def between(table: Table, after: Key | None, upto: Key | None) -> tuple[str, Key]:
    """A condition that the rows of the tenant after one key and up to another one meet, with its values."""
    key, marks = ", ".join(table.key), ", ".join("%s" for _ in table.key)
    bounds = [
        f"({key}) {sign} ({marks})" for sign, bound in ((">", after), ("<=", upto)) if bound is not None
    ]
    return " AND ".join(["tenant_id = tenant()", *bounds]), (*(after or ()), *(upto or ()))
