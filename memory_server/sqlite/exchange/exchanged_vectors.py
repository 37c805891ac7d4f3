"""The vectors of items as text: for exports that bring their embeddings along."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields

from memory_server.domain.embedding import Embedded, Space
from memory_server.domain.exchange.records import SpaceRecord
from memory_server.sqlite.embeddings import Embeddings
from memory_server.sqlite.tx import Tx
from memory_server.storage.record_rows import Vectors, vectors_of
from memory_server.storage.vectors import Waiting


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

    def of_turns(self, ids: Sequence[int]) -> Vectors:
        return self._select(
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

    def of_facts(self, ids: Sequence[int]) -> Vectors:
        return self._select(
            ids,
            """
            SELECT fact_id, space_id, vector, 0 AS number
            FROM fact_embeddings
            WHERE fact_id IN (SELECT value FROM json_each(:ids))
            """,
        )

    def of_short_term(self, ids: Sequence[int]) -> Vectors:
        return self._select(
            ids,
            """
            SELECT memory_id, space_id, vector, 0 AS number
            FROM short_term_embeddings
            WHERE memory_id IN (SELECT value FROM json_each(:ids))
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
        """Keep what fits the models that this file uses. What does not stays in the queue."""
        if not vectors:
            return
        waiting = Waiting(kind, id, tuple(text.encode() for text in texts))
        number = len(waiting.texts)
        for space in Embeddings(self.tx).spaces():
            found = vectors_of(vectors.get(space.space.fingerprint, ()), number, space.space.dimensions)
            if found is not None:
                Embeddings(self.tx).insert(space.id, waiting, found)

    def _select(self, ids: Sequence[int], sql: str) -> Vectors:
        prints = {each.id: each.space.fingerprint for each in Embeddings(self.tx).spaces()}
        found: Vectors = {}
        for id, space, blob, _ in self.tx.rows(f"{sql} ORDER BY 1, 2, 4", {"ids": self.tx.array(ids)}):
            if space in prints:
                mine = found.setdefault(id, {})
                mine[prints[space]] = (*mine.get(prints[space], ()), base64.b64encode(blob).decode())
        return found
