"""What was written last, over all kinds that answer questions."""

from dataclasses import dataclass

from memory_server.postgres.tx import Tx


@dataclass(frozen=True, slots=True)
class Written:
    """What was written last, over all kinds that answer questions."""

    tx: Tx

    def newest(self) -> tuple[int, ...]:
        return tuple(
            self.tx.one(
                """
                SELECT
                    coalesce((SELECT max(id) FROM memories), 0),
                    coalesce((SELECT max(id) FROM memory_history), 0),
                    coalesce((SELECT max(id) FROM fact_history), 0),
                    coalesce((SELECT max(id) FROM turns), 0)
                """
            )
        )
