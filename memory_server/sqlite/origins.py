"""The table `origins`: from where an imported item comes, and by which ids it is known in other files."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memory_server.domain.exchange.records import OWN, Origin, number_of, own_id, place
from memory_server.sqlite.tx import Tx

TABLES = {"memory": "memories", "turn": "turns", "short_term": "short_term_memories"}
"""The tables of what is known by an own id."""


def as_json(ids: Sequence[int]) -> str:
    return json.dumps(list(ids))


@dataclass(frozen=True, slots=True)
class Origins:
    """The table `origins`: from where an imported item comes, and by which ids it is known in other files."""

    tx: Tx

    def find(self, kind: str, source: str, id: str) -> tuple[int, str] | None:
        row = self.tx.row(
            "SELECT item_id, digest FROM origins WHERE kind = ? AND source = ? AND source_id = ?",
            (kind, source, id),
        )
        return None if row is None else (row[0], row[1])

    def find_own(self, kind: str, id: str) -> int | None:
        found = self.find(kind, OWN, id)
        if found is not None:
            return found[0]
        number, _, moment = id.partition("@")
        row = number_of(id)
        if row is None or self._has_own(kind, row):
            return None
        table = TABLES[kind]
        there = self.tx.value(
            f"""
            SELECT id FROM {table} WHERE id = :id AND created_at = :moment
            UNION ALL
            SELECT item_id
            FROM trash
            WHERE kind = :kind AND item_id = :id AND json_extract(parts, '$.{table}[0].created_at') = :moment
            """,
            {"id": int(number), "moment": moment, "kind": kind},
        )
        return None if there is None else int(there)

    def own_ids(self, kind: str, id: int, created_at: str) -> list[str]:
        """The own ids of an item, the first one first: those of other files, else what it is here."""
        rows = self.tx.rows(
            "SELECT source_id, id FROM origins WHERE kind = ? AND item_id = ? AND source = ?", (kind, id, OWN)
        )
        return sorted((each for each, _ in rows), key=place) or [own_id(id, created_at)]

    def select(self, kind: str, id: int) -> tuple[Origin, ...]:
        """From where else an item comes."""
        rows = self.tx.rows(
            """
            SELECT source, source_id, digest, imported_at, id
            FROM origins
            WHERE kind = ? AND item_id = ? AND source <> ?
            """,
            (kind, id, OWN),
        )
        return tuple(Origin(*row[:4]) for row in sorted(rows))

    def insert(self, kind: str, id: int, origins: Iterable[Origin]) -> None:
        for each in origins:
            self.tx.execute(
                """
                INSERT INTO origins (kind, item_id, source, source_id, digest, imported_at)
                VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (kind, source, source_id) DO UPDATE
                SET item_id = excluded.item_id, digest = excluded.digest, imported_at = excluded.imported_at
                """,
                (kind, id, each.source, each.id, each.digest, each.imported_at or self.tx.now),
            )

    def keep_own(self, kind: str, id: int, created_at: str, ids: Sequence[str]) -> None:
        if list(ids) != [own_id(id, created_at)]:
            self.insert(kind, id, (Origin(OWN, each) for each in ids))

    def items(self, kind: str) -> set[int]:
        """The items of a kind that have any origin."""
        return {id for (id,) in self.tx.rows("SELECT DISTINCT item_id FROM origins WHERE kind = ?", (kind,))}

    def known_in(self, kind: str, id: int, ids: Sequence[str]) -> bool:
        """Whether an item has any of these own ids."""
        return not set(self.own_ids_of(kind, id)).isdisjoint(ids)

    def own_ids_of(self, kind: str, id: int) -> list[str]:
        created_at = self.tx.value(f"SELECT created_at FROM {TABLES[kind]} WHERE id = ?", (id,))
        return self.own_ids(kind, id, str(created_at))

    def _has_own(self, kind: str, id: int) -> bool:
        found = self.tx.value(
            "SELECT 1 FROM origins WHERE kind = ? AND item_id = ? AND source = ?", (kind, id, OWN)
        )
        return found is not None
