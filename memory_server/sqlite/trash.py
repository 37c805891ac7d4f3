"""The table `trash`: what was deleted, as JSON, until it is brought back or erased."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memory_server.domain.caller import Caller
from memory_server.domain.forgetting import Kind
from memory_server.sqlite.tx import Tx, no_more_than
from memory_server.storage.history import Trashed, taken
from memory_server.storage.tables.conversations import WritableConversations


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
            "(SELECT count(*) FROM main.memories WHERE id IN (:source_id, :target_id)) = 2",
        ),
        _Part("changes", ("memory_id",)),
    ),
    Kind.TURN: (_Part("turns", ("id",)),),
    Kind.SHORT_TERM: (
        _Part("short_term_memories", ("id",)),
        _Part("short_term_keywords", ("memory_id",)),
    ),
    Kind.LONG_TERM: (
        _Part("long_term_memories", ("id",)),
        _Part("wakes", ("memory_id",)),
        _Part("changes", ("long_term_id",)),
    ),
}
"""The first table is that of the thing itself: to delete its row takes the others with it."""


def _as_json(parts: dict[str, list[dict[str, Any]]]) -> str:
    """Readable for people; but where a text is no UTF-8, for which surrogates stand, other letters are escaped too."""
    text = json.dumps(parts, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(parts)
    return text


@dataclass(frozen=True, slots=True)
class Trash:
    """The table `trash`: what was deleted, as JSON, until it is brought back or erased."""

    tx: Tx

    def put(self, kind: Kind, ids: Sequence[int], caller: Caller, deleted_at: str | None = None) -> int:
        number = 0
        for id in ids:
            parts = {part.table: self._rows(part, id) for part in _PARTS[kind]}
            (main, *_) = _PARTS[kind]
            if not parts[main.table]:
                continue
            conversation = parts[main.table][0].get("conversation_id")
            name, person = (
                self.tx.one("SELECT name, person FROM conversations WHERE id = ?", (conversation,))
                if conversation
                else (None, parts[main.table][0]["person"])
            )
            writer = parts[main.table][0]["writer"] if kind is Kind.MEMORY else person
            self.tx.execute(
                """
                INSERT INTO main.trash (kind, item_id, conversation, parts, deleted_at, deleted_by, person, writer)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """,
                (
                    kind.value,
                    id,
                    name,
                    _as_json(parts),
                    deleted_at or self.tx.now,
                    caller.author,
                    person,
                    writer,
                ),
            )
            self.tx.execute(f"DELETE FROM main.{main.table} WHERE id = ?", (id,))
            number += 1
        return number

    def select(
        self, kind: Kind, *, item_id: int | None = None, conversation: str | None = None
    ) -> list[Trashed]:
        rows = self.tx.rows(
            """
            SELECT id, item_id, conversation, parts, deleted_at, writer
            FROM trash
            WHERE kind = ? AND (? IS NULL OR item_id = ?) AND (? IS NULL OR conversation = ?)
            ORDER BY id DESC
            """,
            (kind.value, item_id, item_id, *2 * (conversation and self.tx.key(conversation),)),
        )
        return [
            Trashed(id, item, name and self.tx.name(name), json.loads(parts), moment, writer)
            for id, item, name, parts, moment, writer in rows
        ]

    def find(self, id: int) -> tuple[Kind, Trashed] | None:
        row = self.tx.row("SELECT kind, item_id, conversation, parts FROM trash WHERE id = ?", (id,))
        return (
            None
            if row is None
            else (Kind(row[0]), Trashed(id, row[1], row[2] and self.tx.name(row[2]), json.loads(row[3])))
        )

    def find_last(self, kind: Kind, item_id: int) -> Trashed | None:
        return next(iter(self.select(kind, item_id=item_id)), None)

    def restore(self, kind: Kind, trashed: Trashed, conversation_id: int | None = None) -> None:
        for part in _PARTS[kind]:
            rows = trashed.parts.get(part.table, [])
            if conversation_id is not None:
                rows = [{**row, "conversation_id": conversation_id} for row in rows]
            if rows:
                self._insert(part, rows, trashed)
        if kind is Kind.MEMORY:
            self._hand_on_edges(trashed)
        if kind is Kind.SHORT_TERM:  # to insert it asks for its keywords anew, and they are here
            keyed = trashed.parts["short_term_memories"][0]["keyed"]
            self.tx.execute(
                "UPDATE main.short_term_memories SET keyed = ? WHERE id = ?", (keyed, trashed.item_id)
            )
        self.tx.execute("DELETE FROM main.trash WHERE id = ?", (trashed.id,))

    def erase(self, ids: Sequence[int]) -> None:
        self._erase_edges(ids)
        self.tx.execute(
            "DELETE FROM main.trash WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(ids)),)
        )
        WritableConversations(self.tx).delete_empty()

    def older(self, before: str, limit: int | None) -> list[int]:
        rows = self.tx.rows(
            "SELECT id FROM trash WHERE deleted_at < ? ORDER BY deleted_at LIMIT ?",
            (before, no_more_than(limit)),
        )
        return [id for (id,) in rows]

    def _hand_on_edges(self, restored: Trashed) -> None:
        """An edge whose other end is still in the trash comes back with that."""
        for edge in restored.parts.get("edges", []):
            other = edge["target_id"] if edge["source_id"] == restored.item_id else edge["source_id"]
            waiting = self.find_last(Kind.MEMORY, other)
            if waiting is not None and self.tx.value("SELECT 1 FROM memories WHERE id = ?", (other,)) is None:
                waiting.parts.setdefault("edges", []).append(edge)
                self.tx.execute(
                    "UPDATE main.trash SET parts = ? WHERE id = ?",
                    (_as_json(waiting.parts), waiting.id),
                )

    def _erase_edges(self, ids: Sequence[int]) -> None:
        """The edges to what is erased that lie with their other end: it may come back, and they must not."""
        rows = self.tx.rows(
            """
            SELECT item_id FROM trash WHERE kind = 'memory' AND id IN (SELECT value FROM json_each(?))
            EXCEPT SELECT id FROM memories
            """,
            (json.dumps(list(ids)),),
        )
        gone = {id for (id,) in rows}
        rows = self.tx.rows(
            """
            SELECT id, parts
            FROM trash
            WHERE kind = 'memory' AND item_id NOT IN (SELECT value FROM json_each(:gone)) AND EXISTS (
                SELECT 1
                FROM json_each(parts, '$.edges')
                WHERE value ->> 'source_id' IN (SELECT value FROM json_each(:gone))
                    OR value ->> 'target_id' IN (SELECT value FROM json_each(:gone))
            )
            """,
            {"gone": json.dumps(sorted(gone))},
        )
        for id, text in rows:
            parts = json.loads(text)
            parts["edges"] = [
                each for each in parts["edges"] if not {each["source_id"], each["target_id"]} & gone
            ]
            self.tx.execute("UPDATE main.trash SET parts = ? WHERE id = ?", (_as_json(parts), id))

    def _rows(self, part: _Part, id: int) -> list[dict[str, Any]]:
        """Bytes that are no UTF-8 become surrogates: what cannot be read can be forgotten all the same."""
        columns = self._columns(part.table)
        where = " OR ".join(f"{key} = ?" for key in part.keys)
        names = ", ".join(
            f'CAST("{name}" AS BLOB)' if type == "TEXT" else f'"{name}"' for name, type in columns.items()
        )
        # An edge lies with what is deleted, also where the person does not see its other end: it comes back with it.
        table = "main.edges" if part.table == "edges" else part.table
        found = self.tx.rows(f"SELECT {names} FROM {table} WHERE {where}", tuple(id for _ in part.keys))
        return [
            {
                name: value.decode(errors="surrogateescape") if isinstance(value, bytes) else value
                for name, value in zip(columns, row, strict=True)
            }
            for row in found
        ]

    def _insert(self, part: _Part, rows: list[dict[str, Any]], trashed: Trashed) -> None:
        columns = {name: type for name, type in self._columns(part.table).items() if name in rows[0]}
        names = ", ".join(f'"{name}"' for name in columns)
        values = ", ".join(
            f"CAST(:{name} AS TEXT)" if type == "TEXT" else f":{name}" for name, type in columns.items()
        )
        for row in rows:
            self.tx.execute(
                f"INSERT OR IGNORE INTO main.{part.table} ({names}) SELECT {values} WHERE {part.condition}",
                {
                    name: row[name].encode(errors="surrogateescape")
                    if isinstance(row[name], str)
                    else row[name]
                    for name in columns
                },
            )
            if part.table != "edges" and not self.tx.connection.changes():
                raise taken(part.table, trashed)

    def _columns(self, table: str) -> dict[str, str]:
        """The columns of a table with their types. None of the tables here keeps blobs."""
        return dict(self.tx.rows(f"SELECT name, type FROM pragma_table_info('{table}', 'main')"))
