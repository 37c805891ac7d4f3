"""Moves the rows of items into the trash and back, with texts that are no UTF-8 too."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory_server.domain.caller import Caller
from memory_server.domain.forgetting import Kind
from memory_server.sqlite.tx import Tx
from memory_server.storage.columns import BY_NAME
from memory_server.storage.trash import PARTS, as_json

_CONDITIONS = {"edges": "(SELECT count(*) FROM main.memories WHERE id IN (:source_id, :target_id)) = 2"}
"""By table, what must be true for a row to come back."""


@dataclass(frozen=True, slots=True)
class TrashRows:
    tx: Tx

    def put(self, kind: Kind, ids: Sequence[int], caller: Caller, deleted_at: str) -> int:
        number = 0
        main = next(iter(PARTS[kind]))
        for id in ids:
            parts = {table: self._rows(table, keys, id) for table, keys in PARTS[kind].items()}
            if not parts[main]:
                continue
            (row,) = parts[main]
            conversation, person = (
                self.tx.one("SELECT name, person FROM conversations WHERE id = ?", (row["conversation_id"],))
                if "conversation_id" in row
                else (None, row["person"])
            )
            self.tx.execute(
                """
                INSERT INTO main.trash (kind, item_id, conversation, parts, deleted_at, deleted_by, person, writer)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """,
                (
                    kind.value,
                    id,
                    conversation,
                    as_json(parts),
                    deleted_at,
                    caller.author,
                    person,
                    row.get("writer", person),
                ),
            )
            self.tx.execute(f"DELETE FROM main.{main} WHERE id = ?", (id,))
            number += 1
        return number

    def insert(self, table: str, rows: Sequence[Mapping[str, Any]]) -> int:
        columns = [name for name in BY_NAME[table].columns if name in rows[0]]
        names = ", ".join(f'"{name}"' for name in columns)
        texts = BY_NAME[table].texts
        values = ", ".join(f"CAST(:{name} AS TEXT)" if name in texts else f":{name}" for name in columns)
        number = 0
        for row in rows:
            self.tx.connection.execute(
                f"""
                INSERT OR IGNORE INTO main.{table} ({names})
                SELECT {values} WHERE {_CONDITIONS.get(table, "true")}
                """,
                {
                    name: row[name].encode(errors="surrogateescape")
                    if isinstance(row[name], str)
                    else row[name]
                    for name in columns
                },
            )
            number += self.tx.connection.changes()
        return number

    def erase_edges(self, ids: Sequence[int]) -> None:
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
                edge for edge in parts["edges"] if not {edge["source_id"], edge["target_id"]} & gone
            ]
            self.tx.execute("UPDATE main.trash SET parts = ? WHERE id = ?", (as_json(parts), id))

    def _rows(self, table: str, keys: tuple[str, ...], id: int) -> list[dict[str, Any]]:
        """Return the rows of a table that belong to an item.

        Bytes that are no UTF-8 become surrogates: what cannot be read can be forgotten all the same.
        """
        columns, texts = BY_NAME[table].columns, BY_NAME[table].texts
        names = ", ".join(f'CAST("{name}" AS BLOB)' if name in texts else f'"{name}"' for name in columns)
        where = " OR ".join(f"{key} = ?" for key in keys)
        # An edge lies with what is deleted, also where the person does not see its other end: it comes back with it.
        source = "main.edges" if table == "edges" else table
        rows = self.tx.rows(f"SELECT {names} FROM {source} WHERE {where}", tuple(id for _ in keys))
        return [
            {
                name: value.decode(errors="surrogateescape") if isinstance(value, bytes) else value
                for name, value in zip(columns, row, strict=True)
            }
            for row in rows
        ]
