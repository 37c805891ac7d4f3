"""What was written last, over all kinds that answer questions."""

from dataclasses import dataclass

from memory_server.sqlite.tx import Tx


@dataclass(frozen=True, slots=True)
class Written:
    """What was written last, over all kinds that answer questions."""

    tx: Tx

    def newest(self) -> tuple[int, ...]:
        return tuple(
            int(self.tx.value(f"SELECT ifnull(max({column}), 0) FROM {table}"))
            for table, column in (
                ("memories", "id"),
                ("memory_history", "id"),
                ("fact_history", "id"),
                ("turns", "id"),
            )
        )
