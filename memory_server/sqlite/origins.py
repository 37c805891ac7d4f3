"""The table `origins`: from where an imported item comes, and by which ids it is known in other files."""

import json
from collections.abc import Iterable, Sequence

from memory_server.domain.exchange.records import OWN, Origin, number_of, own_id, place
from memory_server.sqlite.rows import Rows
from memory_server.sqlite.tx import Tx, WriteTx

ROWS = (Rows("origins", ("kind", "source", "source_id", "digest", "imported_at"), moments=("imported_at",)),)

TABLES = {"memory": "memories", "turn": "turns", "short_term": "short_term_memories"}
"""The tables of what is known by an own id."""


def find(tx: Tx, kind: str, source: str, id: str) -> tuple[int, str] | None:
    """The item that is known by an id of a source, and the digest that it had; it may lie in the trash."""
    row = tx.row(
        "SELECT item_id, digest FROM origins WHERE kind = ? AND source = ? AND source_id = ?",
        (kind, source, id),
    )
    return None if row is None else (row[0], row[1])


def find_own(tx: Tx, kind: str, id: str) -> int | None:
    """The item with an own id, in its table or in the trash: one that was taken over, or that was made here."""
    found = find(tx, kind, OWN, id)
    if found is not None:
        return found[0]
    number, _, moment = id.partition("@")
    row = number_of(id)
    if row is None or _has_own(tx, kind, row):
        return None
    table = TABLES[kind]
    there = tx.value(
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


def own_ids(tx: Tx, kind: str, id: int, created_at: str) -> list[str]:
    """The own ids of an item, the first one first: those of other files, else what it is here."""
    rows = tx.rows(
        "SELECT source_id, id FROM origins WHERE kind = ? AND item_id = ? AND source = ?", (kind, id, OWN)
    )
    return sorted((each for each, _ in rows), key=place) or [own_id(id, created_at)]


def select(tx: Tx, kind: str, id: int) -> tuple[Origin, ...]:
    """From where else an item comes."""
    rows = tx.rows(
        """
        SELECT source, source_id, digest, imported_at, id
        FROM origins
        WHERE kind = ? AND item_id = ? AND source <> ?
        """,
        (kind, id, OWN),
    )
    return tuple(Origin(*row[:4]) for row in sorted(rows))


def insert(tx: WriteTx, kind: str, id: int, origins: Iterable[Origin]) -> None:
    """Remember from where an item comes. An id that is known already leads to this item from now on."""
    for each in origins:
        tx.execute(
            """
            INSERT INTO origins (kind, item_id, source, source_id, digest, imported_at)
            VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (kind, source, source_id) DO UPDATE
            SET item_id = excluded.item_id, digest = excluded.digest, imported_at = excluded.imported_at
            """,
            (kind, id, each.source, each.id, each.digest, each.imported_at or tx.now),
        )


def keep_own(tx: WriteTx, kind: str, id: int, created_at: str, ids: Sequence[str]) -> None:
    """Remember the own ids of an item, unless its row says the same."""
    if list(ids) != [own_id(id, created_at)]:
        insert(tx, kind, id, (Origin(OWN, each) for each in ids))


def items(tx: Tx, kind: str) -> set[int]:
    """The items of a kind that have any origin."""
    return {id for (id,) in tx.rows("SELECT DISTINCT item_id FROM origins WHERE kind = ?", (kind,))}


def known_in(tx: Tx, kind: str, id: int, ids: Sequence[str]) -> bool:
    """Whether an item has any of these own ids."""
    return not set(own_ids_of(tx, kind, id)).isdisjoint(ids)


def own_ids_of(tx: Tx, kind: str, id: int) -> list[str]:
    created_at = tx.value(f"SELECT created_at FROM {TABLES[kind]} WHERE id = ?", (id,))
    return own_ids(tx, kind, id, str(created_at))


def _has_own(tx: Tx, kind: str, id: int) -> bool:
    found = tx.value("SELECT 1 FROM origins WHERE kind = ? AND item_id = ? AND source = ?", (kind, id, OWN))
    return found is not None


def as_json(ids: Sequence[int]) -> str:
    return json.dumps(list(ids))
