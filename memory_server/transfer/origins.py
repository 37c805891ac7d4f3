"""The table `origins`: from where an imported item comes, and by which ids it is known in other databases."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memory_server.domain.edge import line_of
from memory_server.domain.exchange.records import OWN, Origin, number_of, own_id, place
from memory_server.domain.memory import MemoryId
from memory_server.storage.tables.choosing import below_path
from memory_server.storage.tx import Tx, WriteTx
from memory_server.transfer.shapes import TABLES


@dataclass(frozen=True, slots=True)
class Sources:
    """The own ids of an item in other databases, the first one first, and its origins in other programs."""

    own_ids: tuple[str, ...] = ()
    origins: tuple[Origin, ...] = ()


def of_items(tx: Tx, kind: str, ids: Sequence[int]) -> Mapping[int, Sources]:
    """Return the sources of items; an item without any has empty ones."""
    rows = tx.statements.rows(
        """
        SELECT item_id, source, source_id, digest, imported_at, id
        FROM origins
        WHERE kind = :kind AND item_id IN (SELECT value FROM json_each(:ids))
        """,
        {"kind": kind, "ids": tx.statements.array(ids)},
    )
    own_ids_of: dict[int, list[str]] = {}
    origins_of: dict[int, list[Origin]] = {}
    for id, source, *values, _ in sorted(rows):
        if source == OWN:
            own_ids_of.setdefault(id, []).append(values[0])
        else:
            origins_of.setdefault(id, []).append(Origin(source, *values))
    sources = {
        id: Sources(tuple(sorted(own_ids_of.get(id, ()), key=place)), tuple(origins_of.get(id, ())))
        for id in own_ids_of.keys() | origins_of.keys()
    }
    return defaultdict(Sources, sources)


def find(tx: Tx, kind: str, source: str, id: str) -> tuple[int, str] | None:
    """Return the item that a source knows by an id, and the digest of its text; it may lie in the trash."""
    row = tx.statements.row(
        "SELECT item_id, digest, id FROM origins WHERE kind = :kind AND source = :source AND source_id = :id",
        {"kind": kind, "source": source, "id": id},
    )
    return None if row is None else (row[0], row[1])


def find_own(tx: Tx, kind: str, id: str) -> int | None:
    """Return the item with an own id, in its table or in the trash: one that was taken over, else one made here."""
    table = TABLES[kind]
    item_id = tx.statements.value(
        f"""
        SELECT item_id
        FROM (
            SELECT item_id, 0 AS place
            FROM origins
            WHERE kind = :kind AND source = :own AND source_id = :source_id
            UNION ALL
            SELECT item_id, 1
            FROM (
                SELECT id AS item_id FROM {table} WHERE id = :number AND created_at = :moment
                UNION ALL
                SELECT item_id
                FROM trash
                WHERE kind = :kind AND item_id = :number
                    AND json_extract(parts, '$.{table}[0].created_at') = :moment
            ) AS here
            WHERE NOT EXISTS (
                SELECT 1 FROM origins WHERE kind = :kind AND item_id = :number AND source = :own
            )
        ) AS found
        ORDER BY place
        LIMIT 1
        """,
        {
            "kind": kind,
            "own": OWN,
            "source_id": id,
            "number": number_of(id),
            "moment": id.partition("@")[2],
        },
    )
    return None if item_id is None else int(item_id)


def insert(tx: WriteTx, kind: str, id: int, origins: Iterable[Origin], place: str = "") -> None:
    """Remember from where an item comes. An id that is known already leads to this item from now on."""
    tx.statements.send_each(
        """
        INSERT INTO origins (kind, item_id, source, source_id, digest, imported_at, place)
        VALUES (:kind, :item, :source, :id, :digest, :at, :place)
        ON CONFLICT (kind, source, source_id) DO UPDATE
        SET item_id = excluded.item_id, digest = excluded.digest, imported_at = excluded.imported_at,
            place = CASE WHEN excluded.place = '' THEN origins.place ELSE excluded.place END
        """,
        (
            {
                "kind": kind,
                "item": id,
                "source": origin.source,
                "id": origin.id,
                "digest": origin.digest,
                "at": origin.imported_at or tx.now,
                "place": place,
            }
            for origin in origins
        ),
    )


@dataclass(frozen=True, slots=True)
class Placed:
    """A row of `origins`: the place at which an item stands in its source."""

    id: int
    kind: str
    item: int
    source: str
    source_id: str
    digest: str
    imported_at: str
    place: str


def below(tx: Tx, source: str, path: str) -> list[Placed]:
    """Return the origins in a file, or in the files of a folder, in the order in which they came."""
    rows = tx.statements.rows(
        f"""
        SELECT id, kind, item_id, source, source_id, digest, imported_at, place
        FROM origins
        WHERE source = :source AND place >= :path AND {below_path("place")}
        ORDER BY id
        """,
        {"source": source, "path": path},
    )
    return [Placed(*row) for row in rows]


def is_elsewhere(tx: Tx, origin: Placed) -> bool:
    """True if another place, or another source, has the same item."""
    other_id = tx.statements.value(
        """
        SELECT id
        FROM origins
        WHERE kind = :kind AND item_id = :item AND id <> :id AND (source <> :source OR place <> '')
        LIMIT 1
        """,
        {"kind": origin.kind, "item": origin.item, "id": origin.id, "source": origin.source},
    )
    return other_id is not None


def stand(tx: WriteTx, kind: str, source: str, id: str, place: str) -> None:
    """Remember at which place an item stands now."""
    tx.statements.send(
        """
        UPDATE origins
        SET place = :place
        WHERE kind = :kind AND source = :source AND source_id = :id AND place <> :place
        """,
        {"kind": kind, "source": source, "id": id, "place": place},
    )


def rename(tx: WriteTx, kind: str, source: str, old: str, new: str) -> None:
    """Let an item be known by another id in its source."""
    tx.statements.send(
        "UPDATE origins SET source_id = :new WHERE kind = :kind AND source = :source AND source_id = :old",
        {"kind": kind, "source": source, "old": old, "new": new},
    )


def rows(tx: Tx, kind: str, item: int) -> list[tuple[str, str, str, str, str]]:
    """Return the origins of an item with their places, as they are kept where it ends."""
    origin_rows = tx.statements.rows(
        """
        SELECT source, source_id, digest, imported_at, place, id
        FROM origins
        WHERE kind = :kind AND item_id = :item
        ORDER BY id
        """,
        {"kind": kind, "item": item},
    )
    return [(source, id, digest, at, place) for source, id, digest, at, place, _ in origin_rows]


def delete(tx: WriteTx, id: int) -> None:
    tx.statements.send("DELETE FROM origins WHERE id = :id", {"id": id})


def delete_of(tx: WriteTx, kind: str, item: int) -> None:
    """Forget all origins of an item."""
    tx.statements.send(
        "DELETE FROM origins WHERE kind = :kind AND item_id = :item", {"kind": kind, "item": item}
    )


def add(tx: WriteTx, kind: str, id: int, origin: Origin, place: str) -> int:
    """Remember a further origin of an item; return the id of its row."""
    insert(tx, kind, id, [origin], place)
    row_id = tx.statements.value(
        "SELECT id FROM origins WHERE kind = :kind AND source = :source AND source_id = :id",
        {"kind": kind, "source": origin.source, "id": origin.id},
    )
    return int(row_id)


def replace(
    tx: WriteTx, kind: str, id: int, origins: Sequence[Origin], places: Mapping[str, str] | None = None
) -> None:
    """Let an item come from these origins alone, each at the place that it has in this source, or else in `places`."""
    origin_rows = rows(tx, kind, id)
    places = {**(places or {}), **{source: place for source, _, _, _, place in origin_rows}}
    remaining_ids = {(origin.source, origin.id) for origin in origins}
    for source, source_id, *_ in origin_rows:
        if (source, source_id) not in remaining_ids:
            tx.statements.send(
                "DELETE FROM origins WHERE kind = :kind AND source = :source AND source_id = :id",
                {"kind": kind, "source": source, "id": source_id},
            )
    for origin in origins:
        insert(tx, kind, id, [origin], places.get(origin.source, ""))


def keep_own(tx: WriteTx, kind: str, id: int, created_at: str, ids: Sequence[str]) -> None:
    """Remember the own ids of an item, unless its row says the same."""
    if list(ids) != [own_id(id, created_at)]:
        insert(tx, kind, id, (Origin(OWN, source_id) for source_id in ids))


def own_ids(tx: Tx, kind: str, id: int) -> tuple[str, ...]:
    """Return the own ids of an item, the first one first: those of other databases, else what it is here."""
    known_ids = of_items(tx, kind, [id])[id].own_ids
    if known_ids:
        return known_ids
    created_at = tx.statements.value(f"SELECT created_at FROM {TABLES[kind]} WHERE id = :id", {"id": id})
    return (own_id(id, str(created_at)),)


def digest(*texts: str) -> str:
    """Return a digest of the text as it was imported."""
    return hashlib.sha256("\0".join(texts).encode(errors="surrogatepass")).hexdigest()[:32]


def says(tx: Tx, ids: Sequence[int]) -> dict[int, str]:
    """Return what is true now for each of these memories that is not deleted: the text of what supersedes it, or its
    own.
    """
    memory_ids = [MemoryId(id) for id in ids]
    successors = tx.edges.successors(memory_ids)
    newest = {id: (line_of(id, successors) or [id])[-1] for id in memory_ids}
    contents = {memory.id: memory.content for memory in tx.memories.select([*memory_ids, *newest.values()])}
    return {
        id: contents[newest_id]
        for id, newest_id in newest.items()
        if id in contents and newest_id in contents
    }


def is_written(tx: Tx, source: str, source_id: str, id: int) -> bool:
    """True if corrections are written back to the file of a memory, and it agrees with what is true now."""
    written = tx.statements.value(
        "SELECT written FROM origins WHERE kind = 'memory' AND source = :source AND source_id = :id",
        {"source": source, "id": source_id},
    )
    return written is not None and written == digest(says(tx, [id]).get(id, ""))


def agree(tx: WriteTx, source: str, source_id: str, id: int) -> None:
    """Remember that a file which has changed says what is true now."""
    tx.statements.send(
        """
        UPDATE origins
        SET written = :written
        WHERE kind = 'memory' AND source = :source AND source_id = :id AND written IS NOT NULL
        """,
        {"written": digest(says(tx, [id]).get(id, "")), "source": source, "id": source_id},
    )


def let_be(tx: WriteTx, ids: Sequence[int]) -> None:
    """Write nothing back any more to the files of these memories."""
    tx.statements.send(
        "UPDATE origins SET written = NULL WHERE kind = 'memory' AND item_id IN (SELECT value FROM json_each(:ids))",
        {"ids": tx.statements.array(ids)},
    )
