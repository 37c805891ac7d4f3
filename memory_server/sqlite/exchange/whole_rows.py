"""Rows with their ids and their moments. SQL triggers index their words."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import apsw

from memory_server.sqlite.tx import Tx
from memory_server.storage.columns import listed

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class WholeRows:
    tx: Tx

    def vectors(self, table: str, item: str, ids: Sequence[int]) -> list[tuple[int, int, bytes]]:
        return self.tx.rows(
            f"""
            SELECT {item}, space_id, vector
            FROM {table}
            WHERE {item} IN (SELECT value FROM json_each(:ids))
            ORDER BY {item}
            """,
            {"ids": self.tx.array(ids)},
        )

    def attempt(self, take: Callable[[], Result]) -> Result | str:
        self.tx.connection.execute("SAVEPOINT one_item")
        try:
            return take()
        except (
            apsw.ConstraintError,
            ValueError,
            OverflowError,
        ) as error:  # also text that is no UTF-8, and huge numbers
            self.tx.connection.execute("ROLLBACK TO one_item")
            return str(error).removeprefix("ConstraintError: ")
        finally:
            self.tx.connection.execute("RELEASE one_item")

    def insert(self, table: str, row: Mapping[str, Any], id: int | None = None) -> int:
        marks = ", ".join(f":{column}" for column in row)
        (inserted,) = self.tx.one(
            f"INSERT INTO {table} (id, {listed(tuple(row))}) VALUES (:id, {marks}) RETURNING id",
            {**row, "id": id if id is not None and self._is_new(table, id) else None},
        )
        return int(inserted)

    def update(self, table: str, id: int, row: Mapping[str, Any]) -> None:
        settings = ", ".join(f'"{column}" = :{column}' for column in row)
        self.tx.execute(f"UPDATE {table} SET {settings} WHERE id = :id", {**row, "id": id})

    def _is_new(self, table: str, id: int) -> bool:
        """True if no row of the table ever had this id or a later one."""
        last = self.tx.value("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,))
        return id > (last or 0)
