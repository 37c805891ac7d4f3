"""Writes rows with their ids and their moments, and indexes their words."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import psycopg

from memory_server.postgres import word_rows
from memory_server.postgres.tx import Tx
from memory_server.storage.columns import listed

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class WholeRows:
    """Writes rows with their ids and their moments, and indexes their words."""

    tx: Tx

    def attempt(self, take: Callable[[], Result]) -> Result | str:
        self.tx.send("SAVEPOINT one_item")
        try:
            taken = take()
            self.tx.send("RELEASE one_item")
            self.tx.wait()
        except (
            psycopg.IntegrityError,
            psycopg.DataError,
            ValueError,
            OverflowError,
        ) as error:  # also text with a character that cannot be kept, and huge numbers
            self.tx.pipeline.sync()
            self.tx.send("ROLLBACK TO one_item")
            self.tx.send("RELEASE one_item")
            return str(error).partition("\n")[0]
        return taken

    def insert(self, table: str, row: Mapping[str, Any], id: int | None = None) -> int:
        marks = ", ".join(f"%({column})s" for column in row)
        (inserted,) = self.tx.one(
            f"""
            INSERT INTO {table} (id, {listed(tuple(row))})
            VALUES (greatest(next_id('{table}'), %(id)s::bigint), {marks})
            RETURNING id
            """,
            {**row, "id": id},
        )
        word_rows.write(self.tx, table, int(inserted), row)
        return int(inserted)

    def update(self, table: str, id: int, row: Mapping[str, Any]) -> None:
        settings = ", ".join(f'"{column}" = %({column})s' for column in row)
        self.tx.send(f"UPDATE {table} SET {settings} WHERE id = %(id)s", {**row, "id": id})
        word_rows.write(self.tx, table, id, row)
