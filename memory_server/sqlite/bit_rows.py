"""Reads the rows of `embedding_bits` and the list of changed rows, for the copy in the process (`sign_bits`)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memory_server.sqlite.tx import Tx

Change = tuple[int, int]
"""A row of `bits_changes`: its id and its mark."""

_COLUMNS = "memory_id, CAST(project AS BLOB), CAST(type AS BLOB), importance, bits"
"""Names are read as bytes: a hand edit can have left bytes that are not UTF-8."""


@dataclass(frozen=True, slots=True)
class Visible:
    """The memories that a person sees: those of `projects` (None: of all) without `hidden_ids`, and the person's
    `own_ids`.
    """

    projects: frozenset[str] | None
    own_ids: list[int]
    hidden_ids: list[int]


def visible(tx: Tx) -> Visible | None:
    """Repeat `domain.rights.sees` for the copy; None where the transaction sees all."""
    if tx.person is None:
        return None
    own_rows = tx.rows("SELECT id FROM main.memories WHERE person = ?", (tx.owner,))
    hidden_rows = tx.rows(
        "SELECT id FROM main.memories WHERE person IS NOT NULL AND project IS NOT NULL AND person <> ?",
        (tx.owner,),
    )
    return Visible(tx.person.projects, [id for (id,) in own_rows], [id for (id,) in hidden_rows])


def last_change(tx: Tx) -> Change:
    row = tx.row("SELECT id, mark FROM bits_changes ORDER BY id DESC LIMIT 1")
    return (row[0], row[1]) if row else (0, 0)


def changed_since(tx: Tx, change: Change) -> list[int] | None:
    """Return the memories whose bits were changed after a change; None where the file does not have that change."""
    id, mark = change
    if tx.value("SELECT mark FROM bits_changes WHERE id = ?", (id,)) != mark:
        return None
    rows = tx.rows(
        "SELECT DISTINCT memory_id FROM bits_changes WHERE id > ? ORDER BY memory_id",
        (id,),
    )
    return [memory for (memory,) in rows]


def count(tx: Tx, space_id: int, least: int) -> int:
    """Count the rows of a space; first only up to `least`, which is fast for a small one."""
    bounded = "SELECT count(*) FROM (SELECT 1 FROM main.embedding_bits WHERE space_id = ? LIMIT ?)"
    counted = int(tx.value(bounded, (space_id, least + 1)))
    if counted <= least:
        return counted
    return int(tx.value("SELECT count(*) FROM main.embedding_bits WHERE space_id = ?", (space_id,)))


def after(tx: Tx, space_id: int, key: tuple[bytes, int], limit: int) -> list[tuple[Any, ...]]:
    """Return the rows that follow a key (project, id)."""
    return tx.rows(
        f"""
        SELECT {_COLUMNS}
        FROM main.embedding_bits
        WHERE space_id = ? AND (project, memory_id) > (CAST(? AS TEXT), ?)
        ORDER BY project, memory_id
        LIMIT ?
        """,
        (space_id, *key, limit),
    )


def of(tx: Tx, space_id: int, ids: Sequence[int]) -> list[tuple[Any, ...]]:
    """Return the rows of these memories."""
    return tx.rows(
        f"""
        SELECT {_COLUMNS}
        FROM main.embedding_bits INDEXED BY embedding_bits_by_memory
        WHERE memory_id IN (SELECT value FROM json_each(?)) AND space_id = ?
        """,
        (json.dumps(list(ids)), space_id),
    )
