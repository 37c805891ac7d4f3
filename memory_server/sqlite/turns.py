"""The table `turns`, and the search in their embeddings."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memory_server.domain.caller import Caller
from memory_server.domain.turn import Turn, TurnDraft
from memory_server.sqlite.tx import Tx

_COLUMNS = "id, message, summary, project, created_at, created_by, ifnull(occurred_at, created_at), session"


def _turn(row: tuple[Any, ...]) -> Turn:
    return Turn(*row)


@dataclass(frozen=True, slots=True)
class Turns:
    """The table `turns`, and the search in their embeddings."""

    tx: Tx

    def insert(self, draft: TurnDraft, caller: Caller) -> int:
        row = self.tx.one(
            """
            INSERT INTO main.turns (message, summary, project, session, created_at, created_by, occurred_at, person)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
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
        return int(row[0])

    def select(self, ids: Sequence[int]) -> list[Turn]:
        rows = self.tx.rows(
            f"""
            SELECT {_COLUMNS}
            FROM turns
            WHERE id IN (SELECT value FROM json_each(?))
            """,
            (json.dumps(list(ids)),),
        )
        found = {row[0]: _turn(row) for row in rows}
        return [found[id] for id in ids if id in found]

    def newest(self, project: str, limit: int) -> list[Turn]:
        rows = self.tx.rows(
            f"""
            SELECT {_COLUMNS}
            FROM turns
            WHERE project = ?
                AND id NOT IN (
                    SELECT item_id FROM digested JOIN memories ON memories.id = digest_id WHERE kind = 'turn'
                )
            ORDER BY ifnull(occurred_at, created_at) DESC, id DESC
            LIMIT ?
            """,
            (project, limit),
        )
        return [_turn(row) for row in rows]
