"""The vectors of items as text: for exports that bring their embeddings along."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields

import numpy as np

from memory_server.domain.embedding import Embedded, Space
from memory_server.domain.exchange.records import SpaceRecord
from memory_server.sqlite import embeddings, origins
from memory_server.sqlite.embeddings import Waiting
from memory_server.sqlite.tx import Tx, WriteTx

Vectors = dict[int, dict[str, tuple[str, ...]]]
"""Of each item, by the fingerprint of the model: the vectors of its parts in base64."""


def spaces(tx: Tx) -> Iterator[SpaceRecord]:
    """The models in use, by their fingerprint."""
    for each in sorted(embeddings.spaces(tx), key=lambda known: known.space.fingerprint):
        yield SpaceRecord(**asdict(each.space))


def of_memories(tx: Tx, ids: Sequence[int]) -> Vectors:
    return _select(
        tx,
        ids,
        """
        SELECT memory_id, space_id, vector, 0 AS number
        FROM embeddings
        WHERE memory_id IN (SELECT value FROM json_each(:ids))
        UNION ALL
        SELECT memory_id, space_id, vector, part_id
        FROM part_embeddings
        JOIN memory_parts ON id = part_id
        WHERE memory_id IN (SELECT value FROM json_each(:ids))
        """,
    )


def of_turns(tx: Tx, ids: Sequence[int]) -> Vectors:
    return _select(
        tx,
        ids,
        """
        SELECT turn_id, space_id, vector, 0 AS number
        FROM turn_embeddings
        WHERE turn_id IN (SELECT value FROM json_each(:ids))
        UNION ALL
        SELECT turn_id, space_id, vector, 1
        FROM turn_message_embeddings
        WHERE turn_id IN (SELECT value FROM json_each(:ids))
        """,
    )


def of_facts(tx: Tx, ids: Sequence[int]) -> Vectors:
    return _select(
        tx,
        ids,
        """
        SELECT fact_id, space_id, vector, 0 AS number
        FROM fact_embeddings
        WHERE fact_id IN (SELECT value FROM json_each(:ids))
        """,
    )


def of_short_term(tx: Tx, ids: Sequence[int]) -> Vectors:
    return _select(
        tx,
        ids,
        """
        SELECT memory_id, space_id, vector, 0 AS number
        FROM short_term_embeddings
        WHERE memory_id IN (SELECT value FROM json_each(:ids))
        """,
    )


def open_space(tx: WriteTx, record: SpaceRecord) -> None:
    """Take a model over where the file uses none yet: the server goes on with it, or changes to its own."""
    if not embeddings.spaces(tx):
        embeddings.open_space(tx, Space(**{each.name: getattr(record, each.name) for each in fields(Space)}))


def keep(
    tx: WriteTx, kind: Embedded, id: int, texts: Sequence[str], vectors: Mapping[str, Sequence[str]]
) -> None:
    """Keep what fits the models that this file uses. What does not stays in the queue."""
    if not vectors:
        return
    for space in embeddings.spaces(tx):
        blobs = [base64.b64decode(text) for text in vectors.get(space.space.fingerprint, ())]
        waiting = Waiting(kind, id, tuple(text.encode() for text in texts))
        whole = len(blobs) == len(waiting.texts)
        if whole and all(len(blob) == 4 * space.space.dimensions for blob in blobs):
            embeddings.insert(tx, space.id, waiting, [np.frombuffer(blob, dtype="<f4") for blob in blobs])


def _select(tx: Tx, ids: Sequence[int], sql: str) -> Vectors:
    prints = {each.id: each.space.fingerprint for each in embeddings.spaces(tx)}
    found: Vectors = {}
    for id, space, blob, _ in tx.rows(f"{sql} ORDER BY 1, 2, 4", {"ids": origins.as_json(ids)}):
        if space in prints:
            mine = found.setdefault(id, {})
            mine[prints[space]] = (*mine.get(prints[space], ()), base64.b64encode(blob).decode())
    return found
