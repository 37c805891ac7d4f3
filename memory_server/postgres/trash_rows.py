"""Moves the rows of items into the trash and back, with their words."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory_server.domain.caller import Caller
from memory_server.domain.forgetting import Kind
from memory_server.language.text import without_lone_surrogates
from memory_server.postgres import word_rows
from memory_server.postgres.tx import Tx
from memory_server.storage.columns import BY_NAME
from memory_server.storage.trash import PARTS


def _part(table: str, keys: tuple[str, ...]) -> str:
    """Return the rows of a table that belong to the item `i`, as JSON. An edge lies with the end deleted first."""
    if table == "edges":
        return "edges_of(i.id, coalesce(array_agg(i.id) OVER earlier, '{}'))"
    if keys == ("id",):
        return "jsonb_build_array(to_jsonb(i) - '{tenant_id,place,replaced,standing}'::text[])"
    rows = f"FROM {table} AS p WHERE p.{keys[0]} = i.id"
    return f"(SELECT coalesce(jsonb_agg(to_jsonb(p) - 'tenant_id'), '[]') {rows})"


@dataclass(frozen=True, slots=True)
class TrashRows:
    tx: Tx

    def put(self, kind: Kind, ids: Sequence[int], caller: Caller, deleted_at: str) -> int:
        table = next(iter(PARTS[kind]))
        parts = ", ".join(f"'{part}', {_part(part, keys)}" for part, keys in PARTS[kind].items())
        named = "conversation_id" in BY_NAME[table].columns
        person = "c.person" if named else "i.person"
        self.tx.send(
            f"""
            INSERT INTO trash (id, kind, item_id, conversation, parts, deleted_at, deleted_by, person, writer)
            SELECT
                (SELECT next_id('trash')) - 1 + row_number() OVER (ORDER BY i.place), %(kind)s, i.id,
                {"c.name, " if named else "NULL, "}
                jsonb_build_object({parts})::text,
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
                "at": deleted_at,
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

    def insert(self, table: str, rows: Sequence[Mapping[str, Any]]) -> int:
        names = ", ".join(name for name in BY_NAME[table].columns if name in rows[0])
        inserted = self.tx.execute(
            f"""
            INSERT INTO {table} ({names})
            SELECT {names}
            FROM jsonb_populate_recordset(NULL::{table}, %s::jsonb)
            {"WHERE are_memories(source_id, target_id)" if table == "edges" else ""}
            ON CONFLICT DO NOTHING
            """,
            (without_lone_surrogates(json.dumps(rows)),),
        )
        for row in rows:
            word_rows.write(self.tx, table, row.get("id", 0), row)
        return inserted

    def erase_edges(self, ids: Sequence[int]) -> None:
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
