"""The newest ids over all kinds that answer questions."""

from dataclasses import dataclass

from memory_server.storage.statements import Statements


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
