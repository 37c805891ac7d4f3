"""The vectors of texts, the sign bits that searches scan, and the queue of texts that wait for an embedding."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memory_server.domain import parts
from memory_server.domain.embedding import Embedded, Vector
from memory_server.domain.memory import Filter
from memory_server.sqlite import filters, sign_bits
from memory_server.sqlite.embedded import as_blob
from memory_server.sqlite.nearest import LISTED, NearestQuery, ranked
from memory_server.sqlite.tx import Tx
from memory_server.storage.vectors import (
    BY_SPACE,
    MOST_OF_A_PERIOD,
    SEARCHING,
    TABLES,
    Effort,
    KnownSpace,
    TextFilter,
    TextTables,
    Waiting,
    best_cosines,
    first_missing,
)

_OCCURRED = "ifnull(m.occurred_at, m.created_at)"


def _contents(tables: TextTables) -> str:
    return ", ".join(f"CAST({text} AS BLOB)" for text in tables.embedded)


@dataclass(frozen=True, slots=True)
class Embeddings:
    """The table of `tx.embeddings`: see `storage.vectors.WritableEmbeddings`."""

    tx: Tx

    def make_index(self, dimensions: int) -> None:
        """Do nothing: a file has no index of vectors."""

    def delete_all(self, space_id: int) -> None:
        for table in (*BY_SPACE, "embedding_bits"):
            self.tx.execute(f"DELETE FROM main.{table} WHERE space_id = ?", (space_id,))

    def insert(self, space_id: int, embedded: Waiting, vectors: Sequence[Vector]) -> bool:
        tables = TABLES[embedded.kind]
        is_current = self.tx.value(
            f"""
            SELECT 1
            FROM {tables.source} AS m, spaces
            WHERE m.id = ? AND ({_contents(tables)}) = ({", ".join("?" for _ in tables.embedded)})
                AND spaces.id = ? AND state <> 'retired'
                AND ? IN (0, {first_missing(embedded.kind, "spaces.id")})
            """,
            (embedded.id, *embedded.contents, space_id, embedded.start),
        )
        if is_current is None:
            return False
        if embedded.start == 0:
            self._insert_first(space_id, embedded, vectors)
        is_complete = embedded.start + len(vectors) >= len(embedded.texts)
        if embedded.kind is Embedded.MEMORIES:
            self._insert_parts(space_id, embedded, vectors, is_complete)
        if is_complete:
            self.tx.execute(
                f"DELETE FROM main.{tables.queue} WHERE space_id = ? AND {tables.id} = ?",
                (space_id, embedded.id),
            )
        return True

    def _insert_first(self, space_id: int, embedded: Waiting, vectors: Sequence[Vector]) -> None:
        """Store the vector of a memory's first part, or those of all texts of another row."""
        tables, blob = TABLES[embedded.kind], as_blob(vectors[0])
        first, *other_tables = tables.embedded.values()
        self.tx.execute(
            f"""
            INSERT OR REPLACE INTO main.{first} (space_id, {tables.id}, vector, created_at)
            VALUES (?, ?, ?, ?)
            """,
            (space_id, embedded.id, blob, self.tx.now),
        )
        for table, vector in zip(other_tables, vectors[1:], strict=False):
            self.tx.execute(
                f"INSERT OR REPLACE INTO main.{table} (space_id, {tables.id}, vector) VALUES (?, ?, ?)",
                (space_id, embedded.id, as_blob(vector)),
            )
        if embedded.kind is Embedded.MEMORIES:
            self._insert_bits(space_id, embedded.id, blob)

    def _insert_bits(self, space_id: int, memory_id: int, blob: bytes) -> None:
        self.tx.execute(
            "DELETE FROM main.embedding_bits WHERE space_id = ? AND memory_id = ?", (space_id, memory_id)
        )
        self.tx.execute(
            """
            INSERT INTO main.embedding_bits (space_id, project, memory_id, type, importance, bits)
            SELECT ?, ifnull(project, ''), id, type, importance, vec_quantize_binary(?)
            FROM memories
            WHERE id = ?
            """,
            (space_id, blob, memory_id),
        )

    def _insert_parts(
        self, space_id: int, embedded: Waiting, vectors: Sequence[Vector], is_complete: bool
    ) -> None:
        """Store the vectors of the parts of a long memory after the first; those of an earlier embedding go."""
        if embedded.start == 0 and not is_complete:
            self.tx.execute(
                """
                DELETE FROM main.part_embeddings
                WHERE space_id = ? AND part_id IN (SELECT id FROM memory_parts WHERE memory_id = ?)
                """,
                (space_id, embedded.id),
            )
        for number, vector in enumerate(vectors, embedded.start):
            if number == 0:
                continue
            self.tx.execute(
                """
                INSERT OR REPLACE INTO main.part_embeddings (space_id, part_id, vector)
                SELECT ?, id, ? FROM memory_parts WHERE id = ?
                """,
                (space_id, as_blob(vector), parts.id_of(embedded.id, number)),
            )

    def keep(
        self, space_id: int, kind: Embedded, id: int, texts: Sequence[str], vectors: Sequence[Vector]
    ) -> None:
        self.insert(space_id, Waiting(kind, id, tuple(text.encode() for text in texts)), vectors)

    def nearest(
        self,
        kind: Embedded,
        space_id: int,
        query: Vector,
        filter: TextFilter,
        limit: int,
        effort: Effort = SEARCHING,
    ) -> dict[int, float]:
        return NearestQuery(self.tx, kind, space_id, query, filter, limit, effort).cosines()

    def prepare(self, space: KnownSpace) -> bool:
        copy = sign_bits.copy_of(self.tx)
        return copy is not None and copy.fill(self.tx, space.id, space.space.dimensions)

    def nearest_within(
        self, space_id: int, query: Vector, filter: Filter, since: str, until: str, limit: int
    ) -> dict[int, float]:
        clauses, values = filters.conditions(filter, self.tx.now)
        # For each project and type the index `memories_by_moment` is read between two moments.
        chosen = f"""
            SELECT m.id
            FROM (SELECT DISTINCT project, type FROM memory_counts WHERE number > 0) AS counts
            CROSS JOIN memories AS m ON m.project IS nullif(counts.project, '') AND m.type = counts.type
            WHERE {" AND ".join([f"{_OCCURRED} >= ? AND {_OCCURRED} < ?", *clauses])}
            ORDER BY {_OCCURRED} DESC, m.id DESC
            LIMIT {MOST_OF_A_PERIOD}
        """
        rows = ranked(self.tx, space_id, query, chosen, [since, until, *values], limit)
        return best_cosines(rows, limit)

    def cosines(self, space_id: int, query: Vector, ids: Sequence[int]) -> dict[int, float]:
        rows = ranked(self.tx, space_id, query, LISTED, [json.dumps(list(ids))], len(ids))
        return best_cosines(rows, len(ids))

    def vectors_of(
        self, space_id: int, ids: Sequence[int], kind: Embedded = Embedded.MEMORIES
    ) -> dict[int, Vector]:
        id, source = TABLES[kind].id, TABLES[kind].first
        rows = self.tx.rows(
            f"SELECT {id}, vector FROM {source} WHERE space_id = ? AND {id} IN ({LISTED})",
            (space_id, json.dumps(list(ids))),
        )
        return {id: np.frombuffer(blob, dtype="<f4") for id, blob in rows}
