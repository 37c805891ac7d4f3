"""The rows of `embedding_bits`, and which of them have changed: what a copy of them in the process is made from."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memory_server.sqlite.tx import Tx

Change = tuple[int, int]
"""A row of `bits_changes`: its id and its mark."""

_COLUMNS = "memory_id, CAST(project AS BLOB), CAST(type AS BLOB), importance, bits"
"""Names are read as bytes: a hand edit can have left what is no UTF-8."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a person sees of the memories of the file: those of `projects` (None: of all) but `hidden`, and `own`."""

    projects: frozenset[str] | None
    own: list[int]
    hidden: list[int]


def seen(tx: Tx) -> Seen | None:
    """Repeats `domain.rights.sees` for the copy; None where the transaction sees all."""
    if tx.person is None:
        return None
    own = tx.rows("SELECT id FROM main.memories WHERE person = ?", (tx.owner,))
    hidden = tx.rows(
        "SELECT id FROM main.memories WHERE person IS NOT NULL AND project IS NOT NULL AND person <> ?",
        (tx.owner,),
    )
    return Seen(tx.person.projects, [id for (id,) in own], [id for (id,) in hidden])


def last_change(tx: Tx) -> Change:
    row = tx.row("SELECT id, mark FROM bits_changes ORDER BY id DESC LIMIT 1")
    return (row[0], row[1]) if row else (0, 0)


def changed_since(tx: Tx, change: Change) -> list[int] | None:
    """The memories whose bits were changed after a change; None where the file does not know that change."""
    id, mark = change
    if tx.value("SELECT mark FROM bits_changes WHERE id = ?", (id,)) != mark:
        return None
    rows = tx.rows(
        "SELECT DISTINCT memory_id FROM bits_changes WHERE id > ? ORDER BY memory_id",
        (id,),
    )
    return [memory for (memory,) in rows]


def count(tx: Tx, space_id: int, least: int) -> int:
    """How many rows a space has; where they are more than `least`, all are counted."""
    bounded = "SELECT count(*) FROM (SELECT 1 FROM main.embedding_bits WHERE space_id = ? LIMIT ?)"
    some = int(tx.value(bounded, (space_id, least + 1)))
    if some <= least:
        return some
    return int(tx.value("SELECT count(*) FROM main.embedding_bits WHERE space_id = ?", (space_id,)))


def after(tx: Tx, space_id: int, key: tuple[bytes, int], limit: int) -> list[tuple[Any, ...]]:
    """The rows that follow one, by project and id."""
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
    """The rows of these memories."""
    return tx.rows(
        f"""
        SELECT {_COLUMNS}
        FROM main.embedding_bits INDEXED BY embedding_bits_by_memory
        WHERE memory_id IN (SELECT value FROM json_each(?)) AND space_id = ?
        """,
        (json.dumps(list(ids)), space_id),
    )
