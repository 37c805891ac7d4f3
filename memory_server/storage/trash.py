"""The table `trash`: what was deleted, as JSON, until it is brought back or erased."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from memory_server.domain.caller import Caller
from memory_server.domain.forgetting import Kind
from memory_server.errors import Conflict
from memory_server.storage.statements import HasStatements
from memory_server.storage.tables.conversations import WritableConversations

PARTS: Final[Mapping[Kind, Mapping[str, tuple[str, ...]]]] = {
    Kind.MEMORY: {
        "memories": ("id",),
        "memory_history": ("memory_id",),
        "memory_anchors": ("memory_id",),
        "edges": ("source_id", "target_id"),
        "changes": ("memory_id",),
    },
    Kind.TURN: {"turns": ("id",)},
    Kind.SHORT_TERM: {"short_term_memories": ("id",), "short_term_keywords": ("memory_id",)},
    Kind.LONG_TERM: {
        "long_term_memories": ("id",),
        "wakes": ("memory_id",),
        "rules": ("memory_id",),
        "rule_hits": ("memory_id",),
        "changes": ("long_term_id",),
    },
}
"""By kind, the tables that hold a part of an item, each with the columns that have the item's id.

The first table is that of the item itself: to delete its row takes the others with it. An edge lies with the end that
is deleted first.
"""


@dataclass(frozen=True, slots=True)
class Trashed:
    """Something in the trash; `parts` are the rows of each table. `writer` alone has written it; None: nobody alone."""

    id: int
    kind: Kind
    item_id: int
    conversation: str | None
    parts: dict[str, list[dict[str, Any]]]
    deleted_at: str
    writer: str | None


def as_json(value: object) -> str:
    """Return JSON that people can read, escaped where a text is no UTF-8, for which surrogates stand."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value)
    return text


class TrashRows(Protocol):
    """Moves the rows of items into the trash and back, as each store keeps them."""


class WritableTrashRows(TrashRows, Protocol):
    def put(self, kind: Kind, ids: Sequence[int], caller: Caller, deleted_at: str) -> int:
        """Move the rows of items into the trash; return the number of items that were there."""
        ...

    def insert(self, table: str, rows: Sequence[Mapping[str, Any]]) -> int:
        """Insert rows as they were, and index their words; return how many there was a place for. Edges only between
        memories."""
        ...

    def erase_edges(self, ids: Sequence[int]) -> None:
        """Erase the edges to what has these ids of the trash that lie with their other end: it may come back, and they
        must not."""
        ...


class Whole(HasStatements, Protocol):
    """The transaction, as far as the trash needs it."""

    @property
    def trash_rows(self) -> WritableTrashRows: ...


@dataclass(frozen=True, slots=True)
class Trash:
    tx: Whole

    def select(
        self, kind: Kind, *, item_id: int | None = None, conversation: str | None = None
    ) -> list[Trashed]:
        """Return what is in the trash, deleted last first: of one id, of one conversation, or all of a kind."""
        tx = self.tx.statements
        name = None if conversation is None else tx.key(conversation)
        limits = {"item_id = :item": item_id, "conversation = :conversation": name}
        conditions = ["kind = :kind", *(clause for clause, value in limits.items() if value is not None)]
        return self._select(
            " AND ".join(conditions), {"kind": kind.value, "item": item_id, "conversation": name}
        )

    def find(self, id: int) -> Trashed | None:
        """Return what is in the trash under an id of the trash."""
        return next(iter(self._select("id = :id", {"id": id})), None)

    def find_last(self, kind: Kind, item_id: int) -> Trashed | None:
        """Return what was deleted last under an id."""
        return next(iter(self.select(kind, item_id=item_id)), None)

    def older(self, before: str, limit: int | None) -> list[int]:
        """Return what was deleted before a moment, by its id in the trash, the oldest first."""
        rows = self.tx.statements.rows(
            f"""
            SELECT id
            FROM trash
            WHERE deleted_at < :before
            ORDER BY deleted_at
            {"" if limit is None else "LIMIT :limit"}
            """,
            {"before": before, "limit": limit},
        )
        return [id for (id,) in rows]

    def _select(self, condition: str, values: Mapping[str, Any]) -> list[Trashed]:
        tx = self.tx.statements
        rows = tx.rows(
            f"""
            SELECT id, kind, item_id, conversation, parts, deleted_at, writer
            FROM trash
            WHERE {condition}
            ORDER BY id DESC
            """,
            values,
        )
        return [
            Trashed(id, Kind(kind), item_id, name and tx.name(name), json.loads(parts), deleted_at, writer)
            for id, kind, item_id, name, parts, deleted_at, writer in rows
        ]


@dataclass(frozen=True, slots=True)
class WritableTrash(Trash):
    def put(self, kind: Kind, ids: Sequence[int], caller: Caller, deleted_at: str | None = None) -> int:
        """Move items into the trash; return how many there were. They are deleted now, or at the moment given."""
        return self.tx.trash_rows.put(kind, ids, caller, deleted_at or self.tx.now) if ids else 0

    def restore(self, trashed: Trashed) -> None:
        """Bring something back as it was, under the id that it had, into its conversation where it had one.

        Raises:
            Conflict: another row has taken its id.
        """
        tx, place = self.tx.statements, {}
        if trashed.conversation is not None:
            place["conversation_id"] = WritableConversations(tx).find_or_insert(trashed.conversation)
        for table in PARTS[trashed.kind]:
            rows = [{**row, **place} for row in trashed.parts.get(table, [])]
            if rows and self.tx.trash_rows.insert(table, rows) < len(rows) and table != "edges":
                raise _taken(table, trashed)
        if trashed.kind is Kind.MEMORY:
            self._hand_on_edges(trashed)
        if trashed.kind is Kind.SHORT_TERM:  # to insert it asks for its keywords anew, and they are here
            keyed = bool(trashed.parts["short_term_memories"][0]["keyed"])
            tx.send(
                "UPDATE main.short_term_memories SET keyed = :keyed WHERE id = :id",
                {"keyed": keyed, "id": trashed.item_id},
            )
        tx.send("DELETE FROM main.trash WHERE id = :id", {"id": trashed.id})

    def erase(self, ids: Sequence[int]) -> None:
        """Erase what is in the trash under these ids of the trash. Triggers ask to overwrite its bytes."""
        self.tx.trash_rows.erase_edges(ids)
        tx = self.tx.statements
        tx.send(
            "DELETE FROM main.trash WHERE id IN (SELECT value FROM json_each(:ids))", {"ids": tx.array(ids)}
        )
        WritableConversations(tx).delete_empty()

    def _hand_on_edges(self, restored: Trashed) -> None:
        """An edge whose other end is still in the trash comes back with that."""
        edges_by_end: dict[int, list[dict[str, Any]]] = {}
        for edge in restored.parts.get("edges", []):
            end = edge["target_id"] if edge["source_id"] == restored.item_id else edge["source_id"]
            edges_by_end.setdefault(end, []).append(edge)
        if not edges_by_end:
            return
        tx = self.tx.statements
        rows = tx.rows(
            "SELECT id FROM memories WHERE id IN (SELECT value FROM json_each(:ids))",
            {"ids": tx.array(edges_by_end)},
        )
        for end in edges_by_end.keys() - {id for (id,) in rows}:
            waiting = self.find_last(Kind.MEMORY, end)
            if waiting is not None:
                waiting.parts.setdefault("edges", []).extend(edges_by_end[end])
                tx.send(
                    "UPDATE main.trash SET parts = :parts WHERE id = :id",
                    {"parts": as_json(waiting.parts), "id": waiting.id},
                )


def _taken(table: str, trashed: Trashed) -> Conflict:
    """Return the error for something that cannot be restored: another row has its id, or that of a part of it."""
    return Conflict(
        f"A row of the table {table} has taken the place of d{trashed.id}, which has the id {trashed.item_id}. "
        "Nothing was restored: it stays in the trash. Give that row another id."
    )
