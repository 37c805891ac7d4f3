"""The vectors of texts, and the queue of texts that wait for an embedding."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory_server.domain import parts
from memory_server.domain.embedding import Embedded, Vector
from memory_server.domain.memory import Filter
from memory_server.postgres import filters
from memory_server.postgres.embedded import DAY, as_text, from_bytes
from memory_server.postgres.nearest import NearestQuery, cosine
from memory_server.postgres.tx import PendingRows, Tx, Value
from memory_server.storage.vectors import (
    BY_SPACE,
    MOST_OF_A_PERIOD,
    SEARCHING,
    TABLES,
    Effort,
    KnownSpace,
    TextFilter,
    Waiting,
    best_cosines,
    first_missing,
)

MOST_INDEXED_AT_ONCE = 100_000
"""Vectors of a table, up to which a server builds its index: that takes less than half a minute, in which nobody can
write to the table."""


@dataclass(frozen=True, slots=True)
class Embeddings:
    """The table of `tx.embeddings`: see `storage.vectors.WritableEmbeddings`."""

    tx: Tx

    def make_index(self, dimensions: int) -> None:
        self.tx.send("SELECT index_vectors(%s, %s)", (dimensions, MOST_INDEXED_AT_ONCE))

    def delete_all(self, space_id: int) -> None:
        for table in BY_SPACE:
            self.tx.send(f"DELETE FROM {table} WHERE space_id = %s", (space_id,))

    def prepare(self, space: KnownSpace) -> bool:  # noqa: ARG002
        """Read nothing: the index of the vectors is in the database."""
        return False

    def insert(self, space_id: int, embedded: Waiting, vectors: Sequence[Vector]) -> bool:
        return bool(self._insert(space_id, embedded, vectors).rows())

    def _insert(self, space_id: int, embedded: Waiting, vectors: Sequence[Vector]) -> PendingRows:
        """Send the vectors; the answer has a row where they were stored, none where `insert` returns false."""
        tables = TABLES[embedded.kind]
        same = " AND ".join(f"{text} = %(text{number})s" for number, text in enumerate(tables.embedded))
        values: dict[str, Value] = {"space": space_id, "id": embedded.id, "now": self.tx.now}
        values["start"], end = embedded.start, embedded.start + len(vectors)
        is_complete = end >= len(embedded.texts)
        if embedded.start == 0 and not is_complete:
            self._delete_parts(space_id, embedded.id)
        values |= {f"text{number}": text.decode() for number, text in enumerate(embedded.contents)}
        first, *other_tables = tables.embedded.values()
        inserted = []
        first_vectors = vectors if embedded.start == 0 else ()
        for number, (table, vector) in enumerate(zip((first, *other_tables), first_vectors, strict=False)):
            values[f"vector{number}"] = as_text(vector)
            moment, now = (", created_at", ", %(now)s") if table == first else ("", "")
            inserted.append(
                f"""
                kept{number} AS (
                    INSERT INTO {table} (space_id, {tables.id}, vector{moment})
                    SELECT %(space)s, id, %(vector{number})s::vector{now} FROM wanted
                    ON CONFLICT (tenant_id, space_id, {tables.id}) DO UPDATE
                    SET vector = excluded.vector{", created_at = excluded.created_at" if moment else ""}
                )
                """
            )
        if embedded.kind is Embedded.MEMORIES and end > 1:
            inserted.append(
                """
                parts AS (
                    INSERT INTO part_embeddings (space_id, part_id, vector)
                    SELECT %(space)s, p.id, v.vector::vector
                    FROM wanted
                    JOIN memory_parts AS p ON p.memory_id = wanted.id
                    JOIN unnest(%(parts)s::bigint[], %(vectors)s::text[]) AS v (id, vector) ON v.id = p.id
                    ON CONFLICT (tenant_id, space_id, part_id) DO UPDATE SET vector = excluded.vector
                )
                """
            )
            values["parts"] = [parts.id_of(embedded.id, number) for number in range(embedded.start, end)]
            values["vectors"] = [as_text(vector) for vector in vectors]
        complete = ""
        if not is_complete:
            # Somebody may have changed a text by hand: then it has more parts than the table.
            complete = (
                "AND NOT EXISTS (SELECT 1 FROM memory_parts WHERE memory_id = %(id)s AND id >= %(next)s)"
            )
            values["next"] = parts.id_of(embedded.id, end)
        return self.tx.ask(
            f"""
            WITH wanted AS (
                SELECT m.id
                FROM {tables.source} AS m, spaces
                WHERE m.id = %(id)s AND {same} AND spaces.id = %(space)s AND spaces.state <> 'retired'
                    AND %(start)s IN (0, {first_missing(embedded.kind, "spaces.id")})
            ),
            {", ".join(inserted)},
            done AS (
                DELETE FROM {tables.queue}
                WHERE space_id = %(space)s AND {tables.id} IN (SELECT id FROM wanted) {complete}
            )
            SELECT id FROM wanted
            """,
            values,
        )

    def _delete_parts(self, space_id: int, memory_id: int) -> None:
        """Delete the vectors of the parts of a memory: they are of an earlier embedding."""
        self.tx.send(
            """
            DELETE FROM part_embeddings
            WHERE space_id = %s AND part_id IN (SELECT id FROM memory_parts WHERE memory_id = %s)
            """,
            (space_id, memory_id),
        )

    def keep(
        self, space_id: int, kind: Embedded, id: int, texts: Sequence[str], vectors: Sequence[Vector]
    ) -> None:
        self._insert(space_id, Waiting(kind, id, tuple(text.encode() for text in texts)), vectors)

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

    def nearest_within(
        self, space_id: int, query: Vector, filter: Filter, since: str, until: str, limit: int
    ) -> dict[int, float]:
        clauses, values = filters.conditions(filter, self.tx.now)
        rows = self.tx.rows(
            f"""
            SELECT e.memory_id, {cosine("e.vector")}
            FROM embeddings AS e
            WHERE e.space_id = %s AND vector_dims(e.vector) = %s AND e.memory_id = ANY (ARRAY(
                SELECT m.id
                FROM memories AS m
                WHERE {" AND ".join([f"{DAY} >= %s AND {DAY} < %s", *clauses])}
                ORDER BY {DAY} DESC, m.id DESC
                LIMIT {MOST_OF_A_PERIOD}
            ))
            ORDER BY 2 DESC NULLS LAST, 1 DESC
            LIMIT %s
            """,
            (as_text(query), space_id, len(query), since, until, *values, limit),
        )
        return best_cosines(rows, limit)

    def cosines(self, space_id: int, query: Vector, ids: Sequence[int]) -> dict[int, float]:
        rows = self.tx.rows(
            f"""
            SELECT e.memory_id, {cosine("e.vector")}
            FROM embeddings AS e
            WHERE e.space_id = %s AND e.memory_id = ANY (%s::bigint[])
            """,
            (as_text(query), space_id, list(ids)),
        )
        return best_cosines(rows, len(ids))

    def vectors_of(
        self, space_id: int, ids: Sequence[int], kind: Embedded = Embedded.MEMORIES
    ) -> dict[int, Vector]:
        id, source = TABLES[kind].id, TABLES[kind].first
        rows = self.tx.rows(
            f"""
            SELECT {id}, vector_send(vector), vector_dims(vector)
            FROM {source}
            WHERE space_id = %s AND {id} = ANY (%s::bigint[])
            """,
            (space_id, list(ids)),
        )
        return {id: from_bytes(sent, dimensions)[0] for id, sent, dimensions in rows}
