"""The rows of a tenant as they are, for a copy of it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from memory_server.postgres.tx import Tx
from memory_server.postgres.whole_rows import little_endian
from memory_server.storage.columns import TABLES, VECTOR, Table
from memory_server.storage.copying import Key, Row

GROUPS: Final = 1024
"""Groups of keys that are compared one by one: of 100,000 rows each has a hundred."""


@dataclass(slots=True)
class Copied:
    """The rows of a tenant as they are: see `storage.copying.ComparedRows`. It names the tenant, since who fills one is
    the owner of the tables and sees all."""

    tx: Tx

    def count(self, table: Table) -> int:
        return int(self.tx.value(f"SELECT count(*) FROM {table.name} WHERE tenant_id = tenant()"))

    def rows(self, table: Table, after: Key | None, upto: Key | None, limit: int | None) -> list[Row]:
        where, values = between(table, after, upto)
        order = f"ORDER BY {', '.join(table.key)} LIMIT {'ALL' if limit is None else limit}"
        return self._rows(table, f"WHERE {where} {order}", values)

    def _rows(self, table: Table, end: str, values: Sequence[Any]) -> list[Row]:
        columns = ", ".join(f"vector_send({name})" if name == VECTOR else name for name in table.columns)
        rows = self.tx.ask(f"SELECT {columns} FROM {table.name} {end}", values, binary=True).rows()
        if VECTOR not in table.columns:
            return rows
        place = table.columns.index(VECTOR)
        return [(*row[:place], little_endian(row[place]), *row[place + 1 :]) for row in rows]

    def mark(self) -> str:
        return str(self.tx.value("SELECT pg_snapshot_xmin(pg_current_snapshot())::text"))

    def changed(self, table: Table, mark: str) -> list[Key]:
        return self.tx.rows(
            f"""
            SELECT {", ".join(table.key)} FROM {table.name}
            WHERE tenant_id = tenant() AND age(xmin) <= age((%s::xid8)::xid)
            """,
            (mark,),
        )

    def digests(self, table: Table) -> dict[int, tuple[int, str]]:
        rows = self.tx.rows(
            f"""
            SELECT hash & {GROUPS - 1}, count(*), bit_xor(hash)::text
            FROM (SELECT {_hash(table)} AS hash FROM {table.name} WHERE tenant_id = tenant()) AS hashed
            GROUP BY 1
            """
        )
        return {group: (number, digest) for group, number, digest in rows}

    def keys(self, table: Table, groups: Collection[int]) -> list[Key]:
        return self.tx.rows(
            f"""
            SELECT {", ".join(table.key)} FROM {table.name}
            WHERE tenant_id = tenant() AND ({_hash(table)} & {GROUPS - 1}) = ANY(%s)
            """,
            (list(groups),),
        )

    def pick(self, table: Table, keys: Collection[Key]) -> list[Row]:
        where, values = among(table, keys)
        return self._rows(table, f"WHERE {where}", values)

    def highest_ids(self) -> Mapping[str, int]:
        rows = self.tx.rows(
            """
            SELECT name, next_id(name) - 1 AS highest FROM unnest(%s::text[]) AS t (name)
            """,
            ([table.name for table in TABLES if table.numbered],),
        )
        return {name: highest for name, highest in rows if highest}


def among(table: Table, keys: Collection[Key]) -> tuple[str, list[list[Any]]]:
    """A condition that the rows of the tenant with these keys meet, with its values."""
    arrays = [list(column) for column in zip(*keys, strict=True)] or [[] for _ in table.key]
    casts = ", ".join(f"%s::{'bigint' if name in table.numbers else 'text'}[]" for name in table.key)
    return f"tenant_id = tenant() AND ({', '.join(table.key)}) IN (SELECT * FROM unnest({casts}))", arrays


def _hash(table: Table) -> str:
    """A hash of the key, which may be another one in another version of PostgreSQL: then all keys are compared."""
    return f"""hashtextextended(concat_ws(' ', {", ".join(table.key)}) COLLATE "C", 0)"""


def between(table: Table, after: Key | None, upto: Key | None) -> tuple[str, Key]:
    """A condition that the rows of the tenant after one key and up to another one meet, with its values."""
    key, marks = ", ".join(table.key), ", ".join("%s" for _ in table.key)
    bounds = [
        f"({key}) {sign} ({marks})" for sign, bound in ((">", after), ("<=", upto)) if bound is not None
    ]
    return " AND ".join(["tenant_id = tenant()", *bounds]), (*(after or ()), *(upto or ()))
