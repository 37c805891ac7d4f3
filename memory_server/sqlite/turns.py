"""The table `turns`, and the search in their embeddings."""

from typing import Any

from memory_server.domain.caller import Caller
from memory_server.domain.embedding import Vector
from memory_server.domain.turn import Turn
from memory_server.sqlite.database import Tx, WriteTx
from memory_server.sqlite.embeddings import as_blob
from memory_server.sqlite.rows import Rows

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


def nearest(tx: Tx, space_id: int, query: Vector, limit: int) -> list[tuple[Turn, float]]:
    """The turns nearest in meaning with their cosine, best first."""
    rows = tx.rows(
        """
        SELECT t.id, t.message, t.summary, t.project, t.created_at, t.created_by,
            round(1 - vec_distance_cosine(e.vector, ?), 5)
        FROM turn_embeddings AS e
        JOIN turns AS t ON t.id = e.turn_id
        WHERE e.space_id = ?
        ORDER BY 7 DESC, t.id DESC
        LIMIT ?
        """,
        (as_blob(query), space_id, limit),
    )
    return [(_turn(row[:6]), row[6]) for row in rows]
