"""The rows of a file as they are, for a copy of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from memory_server.errors import Conflict, Mend
from memory_server.sqlite.tx import Tx
from memory_server.storage.columns import TABLES, Table, listed
from memory_server.storage.copying import Key, Row


@dataclass(frozen=True, slots=True)
class Copied:
    tx: Tx

    def count(self, table: Table) -> int:
        return int(self.tx.value(f"SELECT count(*) FROM {table.name}"))

    def rows(self, table: Table, after: Key | None, upto: Key | None, limit: int | None) -> list[Row]:
        where, values = between(table, after, upto)
        rows = self.tx.rows(
            f"""
            SELECT {listed(table.columns)} FROM {table.name} {where}
            ORDER BY {", ".join(table.key)} LIMIT {-1 if limit is None else limit}
            """,
            values,
        )
        if self.tx.skipped:  # a copy leaves no row out
            raise Conflict(self.tx.skipped[0].text, Mend.MEND_SOURCE)
        flags = [place for place, name in enumerate(table.columns) if name in table.flags]
        if not flags:
            return rows
        return [tuple(bool(v) if place in flags else v for place, v in enumerate(row)) for row in rows]

    def highest_ids(self) -> Mapping[str, int]:
        numbered = {table.name for table in TABLES if table.numbered}
        return {
            name: seq
            for name, seq in self.tx.rows("SELECT name, seq FROM sqlite_sequence")
            if name in numbered
        }


def between(table: Table, after: Key | None, upto: Key | None) -> tuple[str, Key]:
    """A condition that the rows after one key and up to another one meet, with its values."""
    key, marks = ", ".join(table.key), ", ".join("?" for _ in table.key)
    clauses = [
        f"({key}) {sign} ({marks})" for sign, bound in ((">", after), ("<=", upto)) if bound is not None
    ]
    return f"WHERE {' AND '.join(clauses)}" if clauses else "", (*(after or ()), *(upto or ()))
