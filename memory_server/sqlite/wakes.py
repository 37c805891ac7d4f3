"""The table `wakes`: the latest wakes of long-term memories."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from memory_server.domain.caller import Caller
from memory_server.domain.long_term import LongTermId, Wake
from memory_server.sqlite.tx import Tx
from memory_server.storage import long_term


@dataclass(frozen=True, slots=True)
class Wakes:
    """The table `wakes`: the latest wakes of long-term memories."""

    tx: Tx

    def insert(self, woken: Sequence[tuple[LongTermId, str]], caller: Caller) -> None:
        self.tx.execute(
            """
            INSERT INTO main.wakes (memory_id, at, client, session, why)
            SELECT value ->> 0, ?, ?, ?, value ->> 1
            FROM json_each(?)
            WHERE EXISTS (SELECT 1 FROM long_term_memories WHERE id = value ->> 0)
            """,
            (self.tx.now, caller.author, caller.session, json.dumps(woken)),
        )
        self.tx.execute(
            "DELETE FROM main.wakes WHERE id <= (SELECT max(id) FROM wakes) - ?", (long_term.KEPT_WAKES,)
        )

    def select(self, memory: LongTermId, limit: int) -> list[Wake]:
        rows = self.tx.rows(
            "SELECT at, client, why FROM wakes WHERE memory_id = ? ORDER BY at DESC, id DESC LIMIT ?",
            (memory, limit),
        )
        return [Wake(*row) for row in rows]

    def last(self, memories: Sequence[LongTermId], session: str | None) -> dict[LongTermId, str]:
        rows = self.tx.rows(
            """
            SELECT memory_id, max(at)
            FROM wakes
            WHERE memory_id IN (SELECT value FROM json_each(?)) AND session IS ?
            GROUP BY memory_id
            """,
            (json.dumps(list(memories)), session),
        )
        return {LongTermId(id): at for id, at in rows}
