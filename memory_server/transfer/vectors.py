"""The vectors of items as text: for exports that bring their embeddings along."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields

import numpy as np

from memory_server.domain.embedding import Embedded, Space, Vector
from memory_server.domain.exchange.records import SpaceRecord
from memory_server.storage.tx import Tx, WriteTx
from memory_server.storage.vectors import TABLES, Waiting

Vectors = dict[int, dict[str, tuple[str, ...]]]
"""By item, and by the fingerprint of the model: the vectors of the item's parts in base64."""


def spaces(tx: Tx) -> Iterator[SpaceRecord]:
    """Yield the models in use, by their fingerprint."""
    for known_space in sorted(tx.spaces.select(), key=lambda known_space: known_space.space.fingerprint):
        yield SpaceRecord(**asdict(known_space.space))


def of_items(tx: Tx, kind: Embedded, ids: Sequence[int]) -> Vectors:
    """Return the vectors of items, those of a long memory's parts and of a turn's message too."""
    tables = TABLES[kind]
    rows = [row for table in tables.embedded.values() for row in tx.whole_rows.vectors(table, tables.id, ids)]
    if kind is Embedded.MEMORIES:
        memories_by_part: dict[int, int] = dict(
            tx.statements.rows(
                "SELECT id, memory_id FROM memory_parts WHERE memory_id IN (SELECT value FROM json_each(:ids))",
                {"ids": tx.statements.array(ids)},
            )
        )
        parts = tx.whole_rows.vectors("part_embeddings", "part_id", list(memories_by_part))
        rows += [(memories_by_part[part], space_id, vector) for part, space_id, vector in parts]
    fingerprints = {known_space.id: known_space.space.fingerprint for known_space in tx.spaces.select()}
    vectors: Vectors = {}
    for item, space_id, vector in rows:
        if space_id in fingerprints:
            texts = vectors.setdefault(item, {})
            fingerprint = fingerprints[space_id]
            texts[fingerprint] = (*texts.get(fingerprint, ()), base64.b64encode(vector).decode())
    return vectors


def open_space(tx: WriteTx, record: SpaceRecord) -> None:
    """Take a model over where none is in use yet: the server goes on with it, or changes to its own."""
    if not tx.spaces.select():
        tx.spaces.open(Space(**{field.name: getattr(record, field.name) for field in fields(Space)}))


def keep(
    tx: WriteTx, kind: Embedded, id: int, texts: Sequence[str], vectors: Mapping[str, Sequence[str]]
) -> None:
    """Keep what fits the models that this database uses. What does not stays in the queue."""
    if not vectors:
        return
    waiting = Waiting(kind, id, tuple(text.encode() for text in texts))
    for known_space in tx.spaces.select():
        space = known_space.space
        decoded = _decoded(vectors.get(space.fingerprint, ()), len(waiting.texts), space.dimensions)
        if decoded is not None:
            tx.embeddings.insert(known_space.id, waiting, decoded)


def _decoded(texts: Sequence[str], number: int, dimensions: int) -> list[Vector] | None:
    """Return so many vectors from base64; None if these are others."""
    blobs = [base64.b64decode(text) for text in texts]
    if len(blobs) != number or any(len(blob) != 4 * dimensions for blob in blobs):
        return None
    return [np.frombuffer(blob, dtype="<f4") for blob in blobs]
