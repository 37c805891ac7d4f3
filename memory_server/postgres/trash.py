"""The table `trash`: what was deleted, as JSON, until it is brought back or erased."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from memory_server.domain.caller import Caller
from memory_server.domain.forgetting import Kind
from memory_server.language.text import without_lone_surrogates
from memory_server.postgres import word_rows
from memory_server.postgres.spelling import Spelled
from memory_server.postgres.tx import Tx
from memory_server.storage.columns import BY_NAME
from memory_server.storage.history import Trashed, taken
from memory_server.storage.tables.conversations import WritableConversations


def _rows(table: str, key: str) -> str:
    """The rows of a table that belong to the item `i`, as JSON."""
    return f"(SELECT coalesce(jsonb_agg(to_jsonb(p) - 'tenant_id'), '[]') FROM {table} AS p WHERE p.{key} = i.id)"


_PARTS: Final[Mapping[Kind, Mapping[str, str]]] = {
    Kind.MEMORY: {
        "memories": "jsonb_build_array(to_jsonb(i) - '{tenant_id,place,replaced,standing}'::text[])",
        "memory_history": _rows("memory_history", "memory_id"),
        "edges": "edges_of(i.id, coalesce(array_agg(i.id) OVER earlier, '{}'))",
        "changes": _rows("changes", "memory_id"),
    },
    Kind.TURN: {"turns": "jsonb_build_array(to_jsonb(i) - '{tenant_id,place}'::text[])"},
    Kind.SHORT_TERM: {
        "short_term_memories": "jsonb_build_array(to_jsonb(i) - '{tenant_id,place}'::text[])",
        "short_term_keywords": _rows("short_term_keywords", "memory_id"),
    },
    Kind.LONG_TERM: {
        "long_term_memories": "jsonb_build_array(to_jsonb(i) - '{tenant_id,place}'::text[])",
        "wakes": _rows("wakes", "memory_id"),
        "changes": _rows("changes", "long_term_id"),
    },
}
"""The tables that hold a part of an item, each with what lies of it in the trash. The first table is that of the item
itself: to delete its row takes the others with it. An edge lies with the end that is deleted first."""


@dataclass(frozen=True, slots=True)
class Trash:
    """The table `trash`: what was deleted, as JSON, until it is brought back or erased."""

    tx: Tx

    def put(self, kind: Kind, ids: Sequence[int], caller: Caller, deleted_at: str | None = None) -> int:
        if not ids:
            return 0
        parts = _PARTS[kind]
        table = next(iter(parts))
        named = "conversation_id" in BY_NAME[table].columns
        person = "c.person" if named else "i.person"
        self.tx.send(
            f"""
            INSERT INTO trash (id, kind, item_id, conversation, parts, deleted_at, deleted_by, person, writer)
            SELECT
                (SELECT next_id('trash')) - 1 + row_number() OVER (ORDER BY i.place), %(kind)s, i.id,
                {"c.name, " if named else "NULL, "}
                jsonb_build_object({", ".join(f"'{name}', {rows}" for name, rows in parts.items())})::text,
                %(at)s, %(by)s, {person}, {"i.writer" if kind is Kind.MEMORY else person}
            FROM (
                SELECT {table}.*, given.place
                FROM (
                    SELECT id, min(place) AS place
                    FROM unnest(%(ids)s::bigint[]) WITH ORDINALITY AS all_given (id, place)
                    GROUP BY id
                ) AS given
                JOIN {table} ON {table}.id = given.id
            ) AS i
            {"JOIN conversations AS c ON c.id = i.conversation_id" if named else ""}
            WINDOW earlier AS (ORDER BY i.place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
            """,
            {
                "kind": kind.value,
                "ids": list(ids),
                "at": deleted_at or self.tx.now,
                "by": caller.author,
            },
        )
        return int(
            self.tx.value(
                f"""
                WITH gone AS (DELETE FROM {table} WHERE id = ANY (%s) RETURNING id)
                SELECT count(*) FROM gone
                """,
                (list(ids),),
            )
        )

    def select(
        self, kind: Kind, *, item_id: int | None = None, conversation: str | None = None
    ) -> list[Trashed]:
        rows = self.tx.rows(
            """
            SELECT id, item_id, conversation, parts, deleted_at, writer
            FROM trash
            WHERE kind = %(kind)s
                AND (%(item)s::bigint IS NULL OR item_id = %(item)s::bigint)
                AND (%(conversation)s::text IS NULL OR conversation = %(conversation)s::text)
            ORDER BY id DESC
            """,
            {
                "kind": kind.value,
                "item": item_id,
                "conversation": conversation and self.tx.key(conversation),
            },
        )
        return [self._trashed(*row) for row in rows]

    def find(self, id: int) -> tuple[Kind, Trashed] | None:
        row = self.tx.row("SELECT kind, item_id, conversation, parts FROM trash WHERE id = %s", (id,))
        return None if row is None else (Kind(row[0]), self._trashed(id, *row[1:]))

    def find_last(self, kind: Kind, item_id: int) -> Trashed | None:
        return next(iter(self.select(kind, item_id=item_id)), None)

    def restore(self, kind: Kind, trashed: Trashed, conversation_id: int | None = None) -> None:
        for table in _PARTS[kind]:
            rows = trashed.parts.get(table, [])
            if conversation_id is not None:
                rows = [{**row, "conversation_id": conversation_id} for row in rows]
            if rows:
                self._insert(table, rows, trashed)
        if kind is Kind.MEMORY:
            self._hand_on_edges(trashed)
        self._index(kind, trashed)
        self.tx.send("DELETE FROM trash WHERE id = %s", (trashed.id,))

    def erase(self, ids: Sequence[int]) -> None:
        self._erase_edges(ids)
        self.tx.send("DELETE FROM trash WHERE id = ANY (%s)", (list(ids),))
        WritableConversations(Spelled(self.tx)).delete_empty()

    def older(self, before: str, limit: int | None) -> list[int]:
        rows = self.tx.rows(
            "SELECT id FROM trash WHERE deleted_at < %s ORDER BY deleted_at LIMIT %s",
            (before, limit),
        )
        return [id for (id,) in rows]

    def _trashed(
        self,
        id: int,
        item_id: int,
        conversation: str | None,
        parts: str,
        deleted_at: str = "",
        writer: str | None = None,
    ) -> Trashed:
        name = conversation and self.tx.name(conversation)
        return Trashed(id, item_id, name, json.loads(parts), deleted_at, writer)

    def _insert(self, table: str, rows: list[dict[str, Any]], trashed: Trashed) -> None:
        names = ", ".join(name for name in BY_NAME[table].columns if name in rows[0])
        inserted = self.tx.execute(
            f"""
            INSERT INTO {table} ({names})
            SELECT {names}
            FROM jsonb_populate_recordset(NULL::{table}, %s::jsonb)
            {"WHERE are_memories(source_id, target_id)" if table == "edges" else ""}
            ON CONFLICT DO NOTHING
            """,
            (_as_json(rows),),
        )
        if table != "edges" and inserted < len(rows):
            raise taken(table, trashed)

    def _index(self, kind: Kind, restored: Trashed) -> None:
        match kind:
            case Kind.MEMORY:
                (row,) = restored.parts["memories"]
                word_rows.write_memory(self.tx, row["id"], row["content"], row["tags"])
            case Kind.TURN:
                (row,) = restored.parts["turns"]
                word_rows.write_turn(self.tx, row["id"], row["summary"], row["message"])
            case Kind.SHORT_TERM:
                (row,) = restored.parts["short_term_memories"]
                word_rows.write_short_term(self.tx, row["id"], row["text"])

    def _hand_on_edges(self, restored: Trashed) -> None:
        """An edge whose other end is still in the trash comes back with that."""
        edges = restored.parts.get("edges", [])
        if edges:
            self.tx.send(
                """
                UPDATE trash AS t
                SET parts = jsonb_set(
                    readable_json(t.parts),
                    '{edges}',
                    coalesce(readable_json(t.parts) -> 'edges', '[]') || waiting.edges
                )::text
                FROM (
                    SELECT other, jsonb_agg(edge) AS edges
                    FROM (
                        SELECT
                            edge,
                            CASE (edge ->> 'source_id')::bigint
                                WHEN %(id)s THEN (edge ->> 'target_id')::bigint
                                ELSE (edge ->> 'source_id')::bigint
                            END AS other
                        FROM jsonb_array_elements(%(edges)s::jsonb) AS edges (edge)
                    ) AS ends
                    WHERE NOT EXISTS (SELECT 1 FROM memories AS m WHERE m.id = other)
                    GROUP BY other
                ) AS waiting
                WHERE t.id = (SELECT max(id) FROM trash WHERE kind = 'memory' AND item_id = waiting.other)
                """,
                {"id": restored.item_id, "edges": _as_json(edges)},
            )

    def _erase_edges(self, ids: Sequence[int]) -> None:
        """The edges to what is erased that lie with their other end: it may come back, and they must not."""
        self.tx.send(
            """
            WITH gone AS (
                SELECT DISTINCT item_id
                FROM trash
                WHERE kind = 'memory' AND id = ANY (%s)
                    AND NOT EXISTS (SELECT 1 FROM memories AS m WHERE m.id = trash.item_id)
            )
            UPDATE trash AS t
            SET parts = jsonb_set(readable_json(t.parts), '{edges}', lying.kept)::text
            FROM (
                SELECT
                    other.id,
                    coalesce(jsonb_agg(edge) FILTER (WHERE NOT erased), '[]') AS kept,
                    bool_or(erased) AS any
                FROM trash AS other
                CROSS JOIN LATERAL jsonb_array_elements(readable_json(other.parts) -> 'edges') AS edges (edge)
                CROSS JOIN LATERAL (
                    SELECT EXISTS (
                        SELECT 1
                        FROM gone
                        WHERE item_id IN ((edge ->> 'source_id')::bigint, (edge ->> 'target_id')::bigint)
                    )
                ) AS looked (erased)
                WHERE other.kind = 'memory' AND EXISTS (SELECT 1 FROM gone)
                    AND other.item_id NOT IN (SELECT item_id FROM gone)
                GROUP BY other.id
            ) AS lying
            WHERE t.id = lying.id AND lying.any
            """,
            (list(ids),),
        )


def _as_json(rows: list[dict[str, Any]]) -> str:
    return without_lone_surrogates(json.dumps(rows))
