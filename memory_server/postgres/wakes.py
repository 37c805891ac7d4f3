"""The table `wakes`: the latest wakes of long-term memories."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory_server.domain.caller import Caller
from memory_server.domain.long_term import LongTermId, Wake
from memory_server.postgres.tx import Tx
from memory_server.storage import long_term


@dataclass(frozen=True, slots=True)
class Wakes:
    """The table `wakes`: the latest wakes of long-term memories."""

    tx: Tx

    def insert(self, woken: Sequence[tuple[LongTermId, str]], caller: Caller) -> None:
        self.tx.send(
            """
            INSERT INTO wakes (memory_id, at, client, session, why)
            SELECT m.id, %s, %s, %s, w.why
            FROM unnest(%s::bigint[], %s::text[]) WITH ORDINALITY AS w (id, why, place)
            JOIN long_term_memories AS m ON m.id = w.id
            ORDER BY w.place
            """,
            (
                self.tx.now,
                caller.author,
                caller.session,
                [id for id, _ in woken],
                [why for _, why in woken],
            ),
        )
        self.tx.send(
            "DELETE FROM wakes WHERE id <= (SELECT max(id) FROM wakes) - %s", (long_term.KEPT_WAKES,)
        )

    def select(self, memory: LongTermId, limit: int) -> list[Wake]:
        rows = self.tx.rows(
            "SELECT at, client, why FROM wakes WHERE memory_id = %s ORDER BY at DESC, id DESC LIMIT %s",
            (memory, limit),
        )
        return [Wake(*row) for row in rows]

    def last(self, memories: Sequence[LongTermId], session: str | None) -> dict[LongTermId, str]:
        rows = self.tx.rows(
            """
            SELECT memory_id, max(at)
            FROM wakes
            WHERE memory_id = ANY(%s::bigint[]) AND session IS NOT DISTINCT FROM %s::text
            GROUP BY memory_id
            """,
            (list(memories), session),
        )
        return {LongTermId(id): at for id, at in rows}
