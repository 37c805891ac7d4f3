"""The table `erasures`: what was deleted and is still to be erased. Triggers ask for it; jobs do it.

Each row counts how often something was asked for and how often of that is done, so a kill loses nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from memory_server.postgres.tx import Tx


@dataclass(frozen=True, slots=True)
class Erasures:
    """The table `erasures`: what was deleted and is still to be erased. Triggers ask for it; jobs do it."""

    tx: Tx

    def due(self) -> dict[str, int]:
        return dict(self.tx.rows("SELECT what, asked FROM erasures WHERE asked > done ORDER BY what"))

    def mark_done(self, asked: Mapping[str, int]) -> None:
        self.tx.send(
            """
            UPDATE erasures
            SET done = greatest(done, now_done.times)
            FROM unnest(%s::text[], %s::bigint[]) AS now_done (what, times)
            WHERE erasures.what = now_done.what
            """,
            (list(asked), list(asked.values())),
        )
