"""Reads sign bits and the list of what has changed, for the copies in the process (`sign_bits`)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from memory_server.sqlite.tx import Tx, Values

Row = tuple[int, bytes, bytes, int, bytes]
"""Id, project, type, importance and bits. Names are bytes: a hand edit can have left some that are not UTF-8."""

Change = tuple[int, int]
"""A row of a table of changes: its id and its mark."""


class BitSource(Protocol):
    """The place from which the bits of a copy are read: those of a space, in the order of a key (project, id)."""

    @property
    def table(self) -> str: ...

    @property
    def cost(self) -> int:
        """To read a row takes so many times what one of `embedding_bits` takes."""
        ...

    @property
    def changes(self) -> str:
        """The table of changes."""
        ...

    @property
    def changed(self) -> str:
        """The statement for the ids that were changed after a change."""
        ...

    def visible(self, tx: Tx) -> "Visible | None":
        """Return the rows that a person sees; None where all are compared, and the caller leaves out the others."""
        ...

    def after(self, tx: Tx, space_id: int, key: tuple[bytes, int], limit: int) -> list[Row]:
        """Return the rows that follow a key."""
        ...

    def of(self, tx: Tx, space_id: int, ids: Sequence[int]) -> list[Row]:
        """Return the rows with these ids."""
        ...


@dataclass(frozen=True, slots=True)
class MemoryBits:
    """The bits of memories, which stand in a table of their own, with what a filter needs."""

    table: ClassVar[str] = "embedding_bits"
    cost: ClassVar[int] = 1
    changes: ClassVar[str] = "bits_changes"
    changed: ClassVar[str] = "SELECT DISTINCT memory_id FROM bits_changes WHERE id > ? ORDER BY memory_id"

    def after(self, tx: Tx, space_id: int, key: tuple[bytes, int], limit: int) -> list[Row]:
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

    def of(self, tx: Tx, space_id: int, ids: Sequence[int]) -> list[Row]:
        return tx.rows(
            f"""
            SELECT {_COLUMNS}
            FROM main.embedding_bits INDEXED BY embedding_bits_by_memory
            WHERE memory_id IN (SELECT value FROM json_each(?)) AND space_id = ?
            """,
            (json.dumps(list(ids)), space_id),
        )

    def visible(self, tx: Tx) -> "Visible | None":
        """Repeat `domain.rights.sees` for the copy; None where the transaction sees all."""
        if tx.person is None:
            return None
        own_rows = tx.rows("SELECT id FROM main.memories WHERE person = ?", (tx.owner,))
        hidden_rows = tx.rows(
            "SELECT id FROM main.memories WHERE person IS NOT NULL AND project IS NOT NULL AND person <> ?",
            (tx.owner,),
        )
        return Visible(tx.person.projects, [id for (id,) in own_rows], [id for (id,) in hidden_rows])


_COLUMNS = "memory_id, CAST(project AS BLOB), CAST(type AS BLOB), importance, bits"


@dataclass(frozen=True, slots=True)
class VectorBits:
    """The bits of a table of vectors, made while they are read; `id` is the column of the text's id.

    A damaged vector has no bits.
    """

    table: str
    id: str
    cost: ClassVar[int] = 3
    changes: ClassVar[str] = "vector_changes"

    @property
    def changed(self) -> str:
        return f"""
            SELECT DISTINCT item_id FROM vector_changes WHERE id > ? AND source = '{self.table}' ORDER BY item_id
        """

    def visible(self, tx: Tx) -> "Visible | None":  # noqa: ARG002
        return None

    def after(self, tx: Tx, space_id: int, key: tuple[bytes, int], limit: int) -> list[Row]:
        return self._rows(
            tx, f"space_id = ? AND {self.id} > ? ORDER BY {self.id} LIMIT ?", (space_id, key[1], limit)
        )

    def of(self, tx: Tx, space_id: int, ids: Sequence[int]) -> list[Row]:
        listed = f"space_id = ? AND {self.id} IN (SELECT value FROM json_each(?))"
        return self._rows(tx, listed, (space_id, json.dumps(list(ids))))

    def _rows(self, tx: Tx, where: str, values: Values) -> list[Row]:
        bits = "iif(length(vector) > 0 AND length(vector) % 32 = 0, vec_quantize_binary(vector), x'')"
        return tx.rows(f"SELECT {self.id}, x'', x'', 0, {bits} FROM main.{self.table} WHERE {where}", values)


@dataclass(frozen=True, slots=True)
class Visible:
    """The memories that a person sees: those of `projects` (None: of all) without `hidden_ids`, and the person's
    `own_ids`.
    """

    projects: frozenset[str] | None
    own_ids: list[int]
    hidden_ids: list[int]


def last_change(tx: Tx, source: BitSource) -> Change:
    row = tx.row(f"SELECT id, mark FROM {source.changes} ORDER BY id DESC LIMIT 1")
    return (row[0], row[1]) if row else (0, 0)


def changed_since(tx: Tx, source: BitSource, change: Change) -> list[int] | None:
    """Return the ids that were changed after a change; None where the file does not have that change."""
    id, mark = change
    if tx.value(f"SELECT mark FROM {source.changes} WHERE id = ?", (id,)) != mark:
        return None
    return [id for (id,) in tx.rows(source.changed, (id,))]


def count(tx: Tx, table: str, space_id: int, least: int) -> int:
    """Count the rows of a space; first only up to `least`, which is fast for a small one."""
    bounded = f"SELECT count(*) FROM (SELECT 1 FROM main.{table} WHERE space_id = ? LIMIT ?)"
    counted = int(tx.value(bounded, (space_id, least + 1)))
    if counted <= least:
        return counted
    return int(tx.value(f"SELECT count(*) FROM main.{table} WHERE space_id = ?", (space_id,)))
