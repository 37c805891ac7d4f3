"""The table `trash`: what was deleted, as JSON, until it is brought back or erased."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memory_server.domain.caller import Caller
from memory_server.domain.forgetting import Kind
from memory_server.sqlite import conversations
from memory_server.sqlite.database import Tx, WriteTx
from memory_server.sqlite.erasing import erase_traces
from memory_server.sqlite.rows import Rows

ROWS = (
    Rows(
        "trash",
        ("kind", "conversation", "parts", "deleted_at", "deleted_by"),
        moments=("deleted_at",),
        json=("parts",),
    ),
)


@dataclass(frozen=True, slots=True)
class _Part:
    """A table that holds a part of a thing: the rows whose `key` is its id. Brought back where `condition` is true."""

    table: str
    keys: tuple[str, ...]
    condition: str = "1"


_PARTS = {
    Kind.MEMORY: (
        _Part("memories", ("id",)),
        _Part("memory_history", ("memory_id",)),
        _Part(
            "edges",
            ("source_id", "target_id"),
            "(SELECT count(*) FROM memories WHERE id IN (row.value ->> 'source_id', row.value ->> 'target_id')) = 2",
        ),
    ),
    Kind.TURN: (_Part("turns", ("id",)),),
    Kind.SHORT_TERM: (
        _Part("short_term_memories", ("id",)),
        _Part("short_term_keywords", ("memory_id",)),
    ),
    Kind.LONG_TERM: (_Part("long_term_memories", ("id",)),),
}
"""The first table is that of the thing itself: to delete its row takes the others with it."""


@dataclass(frozen=True, slots=True)
class Trashed:
    """Something in the trash; `parts` are the rows of each table."""

    id: int
    item_id: int
    conversation: str | None
    parts: dict[str, list[dict[str, Any]]]


def put(tx: WriteTx, kind: Kind, ids: Sequence[int], caller: Caller) -> int:
    """Move things into the trash; how many there were."""
    number = 0
    for id in ids:
        parts = {part.table: _rows(tx, part, id) for part in _PARTS[kind]}
        (main, *_) = _PARTS[kind]
        if not parts[main.table]:
            continue
        conversation = parts[main.table][0].get("conversation_id")
        name = (
            tx.value("SELECT name FROM conversations WHERE id = ?", (conversation,)) if conversation else None
        )
        tx.execute(
            """
            INSERT INTO trash (kind, item_id, conversation, parts, deleted_at, deleted_by)
            VALUES (?, ?, ?, ?, ?, ?)
            """,
            (kind.value, id, name, json.dumps(parts, ensure_ascii=False), tx.now, caller.client),
        )
        tx.execute(f"DELETE FROM {main.table} WHERE id = ?", (id,))
        number += 1
    return number


def select(
    tx: Tx, kind: Kind, *, item_id: int | None = None, conversation: str | None = None
) -> list[Trashed]:
    """What is in the trash, deleted last first: of one id, of one conversation, or all of a kind."""
    rows = tx.rows(
        """
        SELECT id, item_id, conversation, parts
        FROM trash
        WHERE kind = ? AND (? IS NULL OR item_id = ?) AND (? IS NULL OR conversation = ?)
        ORDER BY id DESC
        """,
        (kind.value, item_id, item_id, conversation, conversation),
    )
    return [Trashed(id, item, name, json.loads(parts)) for id, item, name, parts in rows]


def find_last(tx: Tx, kind: Kind, item_id: int) -> Trashed | None:
    """What was deleted last under an id."""
    return next(iter(select(tx, kind, item_id=item_id)), None)


def restore(tx: WriteTx, kind: Kind, trashed: Trashed, conversation_id: int | None = None) -> None:
    """Bring something back as it was, under the id that it had, into a conversation where it had one."""
    for part in _PARTS[kind]:
        rows = trashed.parts.get(part.table, [])
        if conversation_id is not None:
            rows = [{**row, "conversation_id": conversation_id} for row in rows]
        if rows:
            _insert(tx, part, rows)
    if kind is Kind.MEMORY:
        _hand_on_edges(tx, trashed)
    if kind is Kind.SHORT_TERM:
        tx.execute("UPDATE short_term_memories SET keyed = 1 WHERE id = ?", (trashed.item_id,))
    tx.execute("DELETE FROM trash WHERE id = ?", (trashed.id,))


def erase(tx: WriteTx, ids: Sequence[int]) -> None:
    """Erase what is in the trash under these ids of the trash: no byte of it stays in the file."""
    tx.execute("DELETE FROM trash WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(ids)),))
    conversations.delete_empty(tx)
    erase_traces(tx)


def older(tx: Tx, before: str, limit: int) -> list[int]:
    """What was deleted before a moment, by its id in the trash, the oldest first."""
    rows = tx.rows("SELECT id FROM trash WHERE deleted_at < ? ORDER BY deleted_at LIMIT ?", (before, limit))
    return [id for (id,) in rows]


def _hand_on_edges(tx: WriteTx, restored: Trashed) -> None:
    """An edge whose other end is still in the trash comes back with that."""
    for edge in restored.parts.get("edges", []):
        other = edge["target_id"] if edge["source_id"] == restored.item_id else edge["source_id"]
        waiting = find_last(tx, Kind.MEMORY, other)
        if waiting is not None and tx.value("SELECT 1 FROM memories WHERE id = ?", (other,)) is None:
            waiting.parts.setdefault("edges", []).append(edge)
            tx.execute(
                "UPDATE trash SET parts = ? WHERE id = ?",
                (json.dumps(waiting.parts, ensure_ascii=False), waiting.id),
            )


def _rows(tx: Tx, part: _Part, id: int) -> list[dict[str, Any]]:
    columns = _columns(tx, part.table)
    where = " OR ".join(f"{key} = ?" for key in part.keys)
    names = ", ".join(f'"{column}"' for column in columns)
    found = tx.rows(f"SELECT {names} FROM {part.table} WHERE {where}", tuple(id for _ in part.keys))
    return [dict(zip(columns, row, strict=True)) for row in found]


def _insert(tx: WriteTx, part: _Part, rows: list[dict[str, Any]]) -> None:
    columns = [column for column in _columns(tx, part.table) if column in rows[0]]
    names = ", ".join(f'"{column}"' for column in columns)
    values = ", ".join(f"row.value ->> '{column}'" for column in columns)
    tx.execute(
        f"""
        INSERT OR IGNORE INTO {part.table} ({names})
        SELECT {values} FROM json_each(?) AS row WHERE {part.condition}
        """,
        (json.dumps(rows, ensure_ascii=False),),
    )


def _columns(tx: Tx, table: str) -> list[str]:
    return [name for (name,) in tx.rows(f"SELECT name FROM pragma_table_info('{table}')")]
