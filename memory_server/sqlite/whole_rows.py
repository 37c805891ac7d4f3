"""Rows with their ids and their moments. SQL triggers index their words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import apsw

from memory_server.sqlite.tx import Tx

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
        # Text that is no UTF-8 is a ValueError, a huge number an OverflowError.
        except (apsw.ConstraintError, ValueError, OverflowError) as error:
            self.tx.connection.execute("ROLLBACK TO one_item")
            return str(error).removeprefix("ConstraintError: ")
        finally:
            self.tx.connection.execute("RELEASE one_item")
