"""The spaces, their vectors, the bits that searches scan, and the queue of what is still to embed."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any

import numpy as np

from memory_server.domain.embedding import Space, Vector
from memory_server.domain.memory import Filter, MemoryId
from memory_server.sqlite import memories
from memory_server.sqlite.database import Tx, Value, WriteTx

EXACT_BELOW = 5_000
"""Up to so many candidates every vector is compared; beyond, the bits choose which."""

_SPACE_FIELDS = [field.name for field in fields(Space)]
_SPACE_COLUMNS = ", ".join(_SPACE_FIELDS)


@dataclass(frozen=True, slots=True)
class KnownSpace:
    """A space as the file knows it; `state` is building, active or retired."""

    id: int
    state: str
    space: Space


@dataclass(frozen=True, slots=True)
class Waiting:
    """A memory whose embedding is missing, with the text that it has now."""

    id: MemoryId
    content: str


@dataclass(frozen=True, slots=True)
class MeaningHit:
    """A memory near in meaning; `cosine` is from -1 to 1."""

    id: MemoryId
    cosine: float


def _known(row: tuple[Any, ...]) -> KnownSpace:
    named: dict[str, Any] = dict(zip(_SPACE_FIELDS, row[2:], strict=True))
    named |= {"chinese": bool(named["chinese"]), "lexical": bool(named["lexical"])}
    return KnownSpace(row[0], row[1], Space(**named))


def spaces(tx: Tx) -> list[KnownSpace]:
    """Every space that is in use, the active one first."""
    rows = tx.rows(
        f"""
        SELECT id, state, {_SPACE_COLUMNS}
        FROM spaces
        WHERE state <> 'retired'
        ORDER BY state = 'active' DESC, id
        """
    )
    return [_known(row) for row in rows]


def open_space(tx: WriteTx, space: Space) -> KnownSpace:
    """The space in use with this fingerprint, opened and all memories queued for it where it is not.

    The first space of a file is active at once; a later one is building until `activate`.
    """
    known = spaces(tx)
    for each in known:
        if each.space.fingerprint == space.fingerprint:
            return each
    state = "building" if known else "active"
    tx.execute(
        f"""
        INSERT INTO spaces (state, created_at, {_SPACE_COLUMNS})
        VALUES (?, ?, {", ".join("?" for _ in _SPACE_FIELDS)})
        ON CONFLICT (fingerprint) DO UPDATE SET state = excluded.state
        """,
        (state, tx.now, *astuple(space)),
    )
    id = int(tx.value("SELECT id FROM spaces WHERE fingerprint = ?", (space.fingerprint,)))
    tx.execute(
        """
        INSERT OR REPLACE INTO embedding_queue (space_id, memory_id, queued_at)
        SELECT ?, id, ? FROM memories
        """,
        (id, tx.now),
    )
    return KnownSpace(id, state, space)


def activate(tx: WriteTx, id: int) -> None:
    """Let searches use this space from now on; the vectors of the one before it go."""
    for (old,) in tx.rows("SELECT id FROM spaces WHERE state <> 'retired' AND id <> ?", (id,)):
        _retire(tx, old)
    tx.execute("UPDATE spaces SET state = 'active' WHERE id = ?", (id,))


def lease(tx: WriteTx, id: int, holder: str, until: str) -> bool:
    """Take or renew the right to fill a space; false while another process holds it.

    A lease that ends later than `until` was taken before the clock was set back, and counts as ended.
    """
    return bool(
        tx.execute(
            """
            UPDATE spaces
            SET lease_holder = ?, lease_until = ?
            WHERE id = ? AND (
                lease_holder IS NULL OR lease_holder = ? OR lease_until < ? OR lease_until > ?
            )
            """,
            (holder, until, id, holder, tx.now, until),
        )
    )


def release(tx: WriteTx, id: int, holder: str) -> None:
    """Another process may go on at once."""
    tx.execute(
        "UPDATE spaces SET lease_holder = NULL, lease_until = NULL WHERE id = ? AND lease_holder = ?",
        (id, holder),
    )


def abandon(tx: WriteTx) -> None:
    """Retire the spaces that are building while nobody fills them: what is left of a change that was broken off."""
    for (id,) in tx.rows(
        "SELECT id FROM spaces WHERE state = 'building' AND ifnull(lease_until, '') < ?", (tx.now,)
    ):
        _retire(tx, id)


def _retire(tx: WriteTx, id: int) -> None:
    tx.execute("DELETE FROM embeddings WHERE space_id = ?", (id,))
    tx.execute("DELETE FROM embedding_bits WHERE space_id = ?", (id,))
    tx.execute("DELETE FROM embedding_queue WHERE space_id = ?", (id,))
    tx.execute("UPDATE spaces SET state = 'retired' WHERE id = ?", (id,))


def waiting(tx: Tx, space_id: int, limit: int) -> list[Waiting]:
    """Memories that wait for their embedding, oldest first."""
    rows = tx.rows(
        """
        SELECT m.id, m.content
        FROM embedding_queue AS q
        JOIN memories AS m ON m.id = q.memory_id
        WHERE q.space_id = ?
        ORDER BY q.memory_id
        LIMIT ?
        """,
        (space_id, limit),
    )
    return [Waiting(MemoryId(id), content) for id, content in rows]


def count_waiting(tx: Tx, space_id: int) -> int:
    return int(tx.value("SELECT count(*) FROM embedding_queue WHERE space_id = ?", (space_id,)))


def count_embedded(tx: Tx, space_id: int, project: str | None = None) -> int:
    return int(
        tx.value(
            """
            SELECT count(*) FROM embedding_bits WHERE space_id = ? AND (? IS NULL OR project = ?)
            """,
            (space_id, project, project),
        )
    )


def insert(tx: WriteTx, space_id: int, embedded: Waiting, vector: Vector) -> None:
    """Keep the vector, unless the memory was deleted or says something else, or the space was retired by now."""
    blob = _blob(vector)
    wanted = tx.value(
        """
        SELECT 1
        FROM memories, spaces
        WHERE memories.id = ? AND content = ? AND spaces.id = ? AND state <> 'retired'
        """,
        (embedded.id, embedded.content, space_id),
    )
    if wanted is None:
        return
    tx.execute(
        """
        INSERT OR REPLACE INTO embeddings (space_id, memory_id, vector, created_at)
        VALUES (?, ?, ?, ?)
        """,
        (space_id, embedded.id, blob, tx.now),
    )
    tx.execute("DELETE FROM embedding_bits WHERE space_id = ? AND memory_id = ?", (space_id, embedded.id))
    tx.execute(
        """
        INSERT INTO embedding_bits (space_id, project, memory_id, type, importance, bits)
        SELECT ?, ifnull(project, ''), id, type, importance, vec_quantize_binary(?)
        FROM memories
        WHERE id = ?
        """,
        (space_id, blob, embedded.id),
    )
    tx.execute("DELETE FROM embedding_queue WHERE space_id = ? AND memory_id = ?", (space_id, embedded.id))


def nearest(tx: Tx, space_id: int, query: Vector, wanted: Filter, limit: int) -> list[MeaningHit]:
    """The memories nearest in meaning: sign bits choose candidates where there are many, cosine ranks them."""
    clauses, values = _conditions(space_id, wanted)
    where = " AND ".join(clauses)
    bounded = f"SELECT 1 FROM embedding_bits AS b WHERE {where} LIMIT ?"
    many = tx.value(f"SELECT count(*) FROM ({bounded})", (*values, EXACT_BELOW + 1))
    if many > EXACT_BELOW:
        chosen = f"""
            SELECT b.memory_id
            FROM embedding_bits AS b
            WHERE {where}
            ORDER BY vec_distance_hamming(vec_bit(b.bits), vec_bit(vec_quantize_binary(?))), b.memory_id
            LIMIT ?
        """
        values += [_blob(query), max(400, 8 * limit)]
    else:
        chosen = f"SELECT b.memory_id FROM embedding_bits AS b WHERE {where}"
    return _ranked(tx, space_id, query, chosen, values, limit)


def cosines(tx: Tx, space_id: int, query: Vector, ids: Sequence[MemoryId]) -> dict[MemoryId, float]:
    """The cosine of each of these memories that has an embedding."""
    chosen = "SELECT value FROM json_each(?)"
    hits = _ranked(tx, space_id, query, chosen, [memories.as_json(list(ids))], len(ids))
    return {hit.id: hit.cosine for hit in hits}


def _ranked(
    tx: Tx, space_id: int, query: Vector, chosen: str, values: list[Value], limit: int
) -> list[MeaningHit]:
    """Rounded, so that both vector engines put equal memories in equal order."""
    rows = tx.rows(
        f"""
        SELECT e.memory_id, round(1 - vec_distance_cosine(e.vector, ?), 5)
        FROM embeddings AS e
        WHERE e.space_id = ? AND e.memory_id IN ({chosen})
        ORDER BY 2 DESC, 1 DESC
        LIMIT ?
        """,
        (_blob(query), space_id, *values, limit),
    )
    return [MeaningHit(MemoryId(id), cosine) for id, cosine in rows]


def _conditions(space_id: int, wanted: Filter) -> tuple[list[str], list[Value]]:
    clauses = ["b.space_id = ?"]
    values: list[Value] = [space_id]
    if wanted.project is not None:
        clauses.append("b.project = ?")
        values.append(wanted.project)
    if wanted.type is not None:
        clauses.append("b.type = ?")
        values.append(wanted.type.value)
    if wanted.min_importance is not None:
        clauses.append("b.importance >= ?")
        values.append(wanted.min_importance)
    if wanted.tags:
        tagged, tag_values = memories.conditions(Filter(tags=wanted.tags))
        clauses.append(f"b.memory_id IN (SELECT m.id FROM memories AS m WHERE {tagged[0]})")
        values += tag_values
    return clauses, values


def _blob(vector: Vector) -> bytes:
    return np.ascontiguousarray(vector, dtype="<f4").tobytes()
