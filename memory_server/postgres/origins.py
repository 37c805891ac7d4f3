"""The table `origins`: from where an imported item comes, and by which ids it is known in other databases."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memory_server.domain.exchange.records import OWN, Origin, number_of, own_id, place
from memory_server.postgres.tx import Tx

TABLES = {"memory": "memories", "turn": "turns", "short_term": "short_term_memories"}
"""The tables of what is known by an own id."""


@dataclass(frozen=True, slots=True)
class Origins:
    """The table `origins`: from where an imported item comes, and by which ids it is known in other databases."""

    tx: Tx

    def find(self, kind: str, source: str, id: str) -> tuple[int, str] | None:
        row = self.tx.row(
            "SELECT item_id, digest FROM origins WHERE kind = %s AND source = %s AND source_id = %s",
            (kind, source, id),
        )
        return None if row is None else (row[0], row[1])

    def find_own(self, kind: str, id: str) -> int | None:
        """The item that is known by an own id of another database; else that which has this number and moment here."""
        _, _, moment = id.partition("@")
        table = TABLES[kind]
        found = self.tx.value(
            f"""
            SELECT item_id
            FROM (
                SELECT item_id, 0 AS place
                FROM origins
                WHERE kind = %(kind)s AND source = %(own)s AND source_id = %(source_id)s
                UNION ALL
                SELECT item_id, 1
                FROM (
                    SELECT id AS item_id FROM {table} WHERE id = %(number)s AND created_at = %(moment)s
                    UNION ALL
                    SELECT item_id
                    FROM trash
                    WHERE kind = %(kind)s AND item_id = %(number)s
                        AND readable_json(parts) #>> '{{{table},0,created_at}}' = %(moment)s
                ) AS here
                WHERE NOT EXISTS (
                    SELECT 1 FROM origins WHERE kind = %(kind)s AND item_id = %(number)s AND source = %(own)s
                )
            ) AS found
            ORDER BY place
            LIMIT 1
            """,
            {"kind": kind, "own": OWN, "source_id": id, "number": number_of(id), "moment": moment},
        )
        return None if found is None else int(found)

    def select(self, kind: str, id: int) -> tuple[Origin, ...]:
        """From where else an item comes."""
        rows = self.tx.rows(
            """
            SELECT source, source_id, digest, imported_at
            FROM origins
            WHERE kind = %s AND item_id = %s AND source <> %s
            ORDER BY source, source_id
            """,
            (kind, id, OWN),
        )
        return tuple(Origin(*row) for row in rows)

    def insert(self, kind: str, id: int, origins: Iterable[Origin]) -> None:
        given = {(each.source, each.id): each for each in origins}.values()
        if not given:
            return
        self.tx.send(
            """
            INSERT INTO origins (id, kind, item_id, source, source_id, digest, imported_at)
            SELECT (SELECT next_id('origins')) - 1 + place, %s, %s, source, source_id, digest, imported_at
            FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[]) WITH ORDINALITY
                AS given (source, source_id, digest, imported_at, place)
            ON CONFLICT (tenant_id, kind, source, source_id) DO UPDATE
            SET item_id = excluded.item_id, digest = excluded.digest, imported_at = excluded.imported_at
            """,
            (
                kind,
                id,
                [each.source for each in given],
                [each.id for each in given],
                [each.digest for each in given],
                [each.imported_at or self.tx.now for each in given],
            ),
        )

    def keep_own(self, kind: str, id: int, created_at: str, ids: Sequence[str]) -> None:
        if list(ids) != [own_id(id, created_at)]:
            self.insert(kind, id, (Origin(OWN, each) for each in ids))

    def own_ids_of(self, kind: str, id: int) -> list[str]:
        created_at, ids = self.tx.one(
            f"""
            SELECT
                (SELECT created_at FROM {TABLES[kind]} WHERE id = %(id)s),
                ARRAY(SELECT source_id FROM origins WHERE kind = %(kind)s AND item_id = %(id)s AND source = %(own)s)
            """,
            {"kind": kind, "id": id, "own": OWN},
        )
        return sorted(ids, key=place) or [own_id(id, str(created_at))]
