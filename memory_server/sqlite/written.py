"""What was written last, over all kinds that answer questions."""

from memory_server.sqlite.tx import Tx


def newest(tx: Tx) -> tuple[int, ...]:
    """Numbers that change whenever a memory, a fact or a turn is stored or changes its text."""
    return tuple(
        int(tx.value(f"SELECT ifnull(max({column}), 0) FROM {table}"))
        for table, column in (
            ("memories", "id"), ("memory_history", "id"), ("fact_history", "id"), ("turns", "id"),
        )
    )  # fmt: skip
