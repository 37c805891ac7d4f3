"""The vectors of items as text: for exports that bring their embeddings along."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields

import numpy as np

from memory_server.domain.embedding import Embedded, Space
from memory_server.domain.exchange.records import SpaceRecord
from memory_server.postgres.embeddings import Embeddings
from memory_server.postgres.tx import Tx
from memory_server.storage.record_rows import Vectors, vectors_of
from memory_server.storage.vectors import Waiting


def little_endian(sent: bytes) -> bytes:
    """The numbers of a vector as every store keeps them in exports, from what `vector_send` gives of it: 4 bytes
    before the numbers, these with their first byte first."""
    return np.frombuffer(sent, dtype=">f4", offset=4).astype("<f4").tobytes()


@dataclass(frozen=True, slots=True)
class ExchangedVectors:
    """The vectors of items as text: for exports that bring their embeddings along."""

    tx: Tx

    def spaces(self) -> Iterator[SpaceRecord]:
        for each in sorted(Embeddings(self.tx).spaces(), key=lambda known: known.space.fingerprint):
            yield SpaceRecord(**asdict(each.space))

    def of_memories(self, ids: Sequence[int]) -> Vectors:
        return self._select(
            ids,
            """
            SELECT memory_id AS item, space_id, vector, 0 AS number
            FROM embeddings
            WHERE memory_id = ANY (%(ids)s)
            UNION ALL
            SELECT memory_id, space_id, vector, part_id
            FROM part_embeddings AS e
            JOIN memory_parts AS p ON p.tenant_id = e.tenant_id AND p.id = part_id
            WHERE memory_id = ANY (%(ids)s)
            """,
        )

    def of_turns(self, ids: Sequence[int]) -> Vectors:
        return self._select(
            ids,
            """
            SELECT turn_id AS item, space_id, vector, 0 AS number
            FROM turn_embeddings
            WHERE turn_id = ANY (%(ids)s)
            UNION ALL
            SELECT turn_id, space_id, vector, 1
            FROM turn_message_embeddings
            WHERE turn_id = ANY (%(ids)s)
            """,
        )

    def of_facts(self, ids: Sequence[int]) -> Vectors:
        return self._select(
            ids,
            """
            SELECT fact_id AS item, space_id, vector, 0 AS number
            FROM fact_embeddings
            WHERE fact_id = ANY (%(ids)s)
            """,
        )

    def of_short_term(self, ids: Sequence[int]) -> Vectors:
        return self._select(
            ids,
            """
            SELECT memory_id AS item, space_id, vector, 0 AS number
            FROM short_term_embeddings
            WHERE memory_id = ANY (%(ids)s)
            """,
        )

    def open_space(self, record: SpaceRecord) -> None:
        if not Embeddings(self.tx).spaces():
            Embeddings(self.tx).open_space(
                Space(**{each.name: getattr(record, each.name) for each in fields(Space)})
            )

    def keep(
        self, kind: Embedded, id: int, texts: Sequence[str], vectors: Mapping[str, Sequence[str]]
    ) -> None:
        """Keep what fits the models that this tenant uses. What does not stays in the queue."""
        if not vectors:
            return
        waiting = Waiting(kind, id, tuple(text.encode() for text in texts))
        number = len(waiting.texts)
        for space in Embeddings(self.tx).spaces():
            found = vectors_of(vectors.get(space.space.fingerprint, ()), number, space.space.dimensions)
            if found is not None:
                Embeddings(self.tx).insert(space.id, waiting, found)

    def _select(self, ids: Sequence[int], sql: str) -> Vectors:
        found: Vectors = {}
        for id, print, sent in self.tx.rows(
            f"""
            SELECT item, fingerprint, vector_send(vector)
            FROM ({sql}) AS v
            JOIN spaces AS s ON s.id = v.space_id AND s.state <> 'retired'
            ORDER BY item, space_id, number
            """,
            {"ids": list(ids)},
        ):
            mine = found.setdefault(id, {})
            mine[print] = (*mine.get(print, ()), base64.b64encode(little_endian(sent)).decode())
        return found
