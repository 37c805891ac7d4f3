"""The table `wakes`: the latest wakes of long-term memories."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from memory_server.domain.caller import Caller
from memory_server.domain.long_term import LongTermId, Wake
from memory_server.storage.statements import Statements

MOST: Final = 10_000
"""Wakes that are kept: about two megabytes. The oldest ones go first."""


@dataclass(frozen=True, slots=True)
class Wakes:
    tx: Statements

    def select(self, memory: LongTermId, limit: int) -> list[Wake]:
        """Return the latest wakes of a memory, the last one first."""
        rows = self.tx.rows(
            "SELECT at, client, why FROM wakes WHERE memory_id = :memory ORDER BY at DESC, id DESC LIMIT :limit",
            {"memory": memory, "limit": limit},
        )
        return [Wake(*row) for row in rows]

    def last(self, memories: Sequence[LongTermId], session: str | None) -> dict[LongTermId, str]:
        """Return when each of these memories was woken last in a session, if it was."""
        rows = self.tx.rows(
            """
            SELECT memory_id, max(at)
            FROM wakes
            WHERE memory_id IN (SELECT value FROM json_each(:memories)) AND session IS NOT DISTINCT FROM :session
            GROUP BY memory_id
            """,
            {"memories": self.tx.array(memories), "session": session},
        )
        return {LongTermId(id): at for id, at in rows}


@dataclass(frozen=True, slots=True)
class WritableWakes(Wakes):
    def insert(self, woken: Sequence[tuple[LongTermId, str]], caller: Caller) -> None:
        """Add the wakes of one search, each with its reason; a memory that was deleted meanwhile is left out."""
        self.tx.send_each(
            """
            INSERT INTO main.wakes (memory_id, at, client, session, why)
            SELECT id, :now, :client, :session, :why
            FROM long_term_memories
            WHERE id = :memory
            """,
            (
                {
                    "memory": memory,
                    "now": self.tx.now,
                    "client": caller.author,
                    "session": caller.session,
                    "why": why,
                }
                for memory, why in woken
            ),
        )
        self.tx.send("DELETE FROM main.wakes WHERE id <= (SELECT max(id) FROM wakes) - :most", {"most": MOST})
