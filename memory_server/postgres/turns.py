"""The table `turns`, and the search in their embeddings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memory_server.domain.caller import Caller
from memory_server.domain.turn import Turn, TurnDraft
from memory_server.postgres import word_rows
from memory_server.postgres.tx import Tx

_COLUMNS = "id, message, summary, project, created_at, created_by, coalesce(occurred_at, created_at), session"


def _turn(row: tuple[Any, ...]) -> Turn:
    return Turn(*row)


@dataclass(frozen=True, slots=True)
class Turns:
    """The table `turns`, and the search in their embeddings."""

    tx: Tx

    def insert(self, draft: TurnDraft, caller: Caller) -> int:
        (id,) = self.tx.one(
            """
            INSERT INTO turns (message, summary, project, session, created_at, created_by, occurred_at, person)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s)
            RETURNING id
            """,
            (
                draft.message,
                draft.summary,
                caller.project.name,
                draft.session or caller.session,
                self.tx.now,
                caller.author,
                draft.occurred_at,
                self.tx.owner,
            ),
        )
        word_rows.write_turn(self.tx, id, draft.summary, draft.message)
        return int(id)

    def select(self, ids: Sequence[int]) -> list[Turn]:
        rows = self.tx.rows(f"SELECT {_COLUMNS} FROM turns WHERE id = ANY(%s::bigint[])", (list(ids),))
        found = {row[0]: _turn(row) for row in rows}
        return [found[id] for id in ids if id in found]

    def newest(self, project: str, limit: int) -> list[Turn]:
        rows = self.tx.rows(
            f"""
            SELECT {_COLUMNS}
            FROM turns AS t
            WHERE project = %s AND NOT EXISTS (
                SELECT 1
                FROM digested AS d
                JOIN memories AS m ON m.id = d.digest_id
                WHERE d.kind = 'turn' AND d.item_id = t.id
            )
            ORDER BY coalesce(occurred_at, created_at) DESC, id DESC
            LIMIT %s
            """,
            (project, limit),
        )
        return [_turn(row) for row in rows]
