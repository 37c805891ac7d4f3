"""The newest of all kinds that answer questions."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory_server.storage.statements import Statements
from memory_server.storage.words import WRITTEN_AT, Index


@dataclass(frozen=True, slots=True)
class Written:
    tx: Statements

    def newest(self) -> tuple[int, ...]:
        """Return numbers that change whenever a memory, a fact or a turn is stored or changes its text."""
        return self.tx.one(
            """
            SELECT
                coalesce((SELECT max(id) FROM memories), 0),
                coalesce((SELECT max(id) FROM memory_history), 0),
                coalesce((SELECT max(id) FROM fact_history), 0),
                coalesce((SELECT max(id) FROM turns), 0)
            """
        )

    def since(self, index: Index, ids: Sequence[int], moment: str) -> list[int]:
        """Return the rows of these that were written after a moment."""
        table, column = WRITTEN_AT[index]
        rows = self.tx.rows(
            f"SELECT id FROM {table} WHERE id IN (SELECT value FROM json_each(:ids)) AND {column} > :moment",
            {"ids": self.tx.array(ids), "moment": moment},
        )
        return [id for (id,) in rows]
