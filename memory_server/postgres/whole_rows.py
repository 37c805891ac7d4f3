"""Rows with their ids and their moments; their words are indexed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import psycopg

from memory_server.postgres.tx import Tx

Result = TypeVar("Result")


def little_endian(sent: bytes) -> bytes:
    """Return the numbers of a vector as every store keeps them in exports, from what `vector_send` gives of it: 4 bytes
    before the numbers, these with their first byte first."""
    return np.frombuffer(sent, dtype=">f4", offset=4).astype("<f4").tobytes()


@dataclass(frozen=True, slots=True)
class WholeRows:
    tx: Tx

    def vectors(self, table: str, item: str, ids: Sequence[int]) -> list[tuple[int, int, bytes]]:
        rows = self.tx.rows(
            f"SELECT {item}, space_id, vector_send(vector) FROM {table} WHERE {item} = ANY (%s) ORDER BY {item}",
            (list(ids),),
        )
        return [(id, space_id, little_endian(sent)) for id, space_id, sent in rows]

    def attempt(self, take: Callable[[], Result]) -> Result | str:
        self.tx.send("SAVEPOINT one_item")
        try:
            result = take()
            self.tx.send("RELEASE one_item")
            self.tx.wait()
        except (
            psycopg.IntegrityError,
            psycopg.DataError,
            ValueError,
            OverflowError,
        ) as error:  # also text with a character that cannot be kept, and huge numbers
            self._skip_to_end()
            self.tx.send("ROLLBACK TO one_item")
            self.tx.send("RELEASE one_item")
            return str(error).partition("\n")[0]
        return result

    def _skip_to_end(self) -> None:
        """Read the answers to what was sent behind a statement that failed: PostgreSQL ran none of it. A call of the
        driver ends at the first of them where the failure came early, so it is repeated until none is left.
        """
        while True:
            try:
                self.tx.pipeline.sync()
                return
            except (psycopg.errors.PipelineAborted, psycopg.IntegrityError, psycopg.DataError):
                continue
