"""The table `turns`, and the search in their embeddings."""

import json
from collections.abc import Sequence
from typing import Any

from memory_server.domain.caller import Caller
from memory_server.domain.embedding import Vector
from memory_server.domain.turn import Turn
from memory_server.sqlite.embeddings import as_blob
from memory_server.sqlite.rows import Rows
from memory_server.sqlite.tx import Tx, WriteTx

ROWS = (
    Rows(
        "turns",
        ("message", "summary", "project", "session", "created_at", "created_by"),
        moments=("created_at",),
    ),
)


def _turn(row: tuple[Any, ...]) -> Turn:
    return Turn(*row)


def insert(tx: WriteTx, message: str, summary: str, caller: Caller) -> int:
    """The id of the new turn."""
    row = tx.one(
        """
        INSERT INTO turns (message, summary, project, session, created_at, created_by)
        VALUES (?, ?, ?, ?, ?, ?)
        RETURNING id
        """,
        (message, summary, caller.project.key, caller.session, tx.now, caller.client),
    )
    return int(row[0])


def embedded_text(message: str, summary: str) -> str:
    """The text of a turn that is embedded."""
    return f"{summary}\n{message}"


def select(tx: Tx, ids: Sequence[int]) -> list[Turn]:
    """These turns, in the order given."""
    rows = tx.rows(
        """
        SELECT id, message, summary, project, created_at, created_by
        FROM turns
        WHERE id IN (SELECT value FROM json_each(?))
        """,
        (json.dumps(list(ids)),),
    )
    found = {row[0]: _turn(row) for row in rows}
    return [found[id] for id in ids if id in found]


def cosines(tx: Tx, space_id: int, query: Vector, limit: int, also: Sequence[int]) -> dict[int, float]:
    """The cosines of the turns nearest in meaning, and of those that the words found."""
    rows = tx.rows(
        """
        WITH all_turns (id, cosine) AS MATERIALIZED (
            SELECT turn_id, round(1 - vec_distance_cosine(vector, ?), 5)
            FROM turn_embeddings
            WHERE space_id = ?
        )
        SELECT id, cosine FROM (SELECT id, cosine FROM all_turns ORDER BY cosine DESC, id DESC LIMIT ?)
        UNION
        SELECT id, cosine FROM all_turns WHERE id IN (SELECT value FROM json_each(?))
        """,
        (as_blob(query), space_id, limit, json.dumps(list(also))),
    )
    return {id: cosine for id, cosine in rows if cosine is not None}
