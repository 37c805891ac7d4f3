"""The spaces, their vectors, the sign bits that searches scan, and the queue of texts that wait for an embedding."""

import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass

import numpy as np

from memory_server.domain import parts
from memory_server.domain.embedding import Embedded, Space, Vector
from memory_server.domain.memory import Filter
from memory_server.sqlite import filters, sign_bits
from memory_server.sqlite.embedded import TABLES, as_blob
from memory_server.sqlite.signs import Signs
from memory_server.sqlite.tx import Tx, Value
from memory_server.storage.tables.memory_counts import MemoryCounts
from memory_server.storage.vectors import (
    MOST_OF_A_PERIOD,
    SEARCHING,
    SPACE_COLUMNS,
    SPACE_FIELDS,
    Effort,
    KnownSpace,
    TextFilter,
    TextTables,
    Waiting,
    best_cosines,
    first_missing,
    space_of_row,
)


def _contents(tables: TextTables) -> str:
    return ", ".join(f"CAST({text} AS BLOB)" for text in tables.embedded)


_PARTS = (
    "part_embeddings AS e JOIN memory_parts AS p ON p.id = e.part_id JOIN memories AS m ON m.id = p.memory_id"
)


_OCCURRED = "ifnull(m.occurred_at, m.created_at)"

_LISTED = "SELECT value FROM json_each(?)"


@dataclass(frozen=True, slots=True)
class Embeddings:
    """The table of `tx.embeddings`: see `storage.vectors.WritableEmbeddings`."""

    tx: Tx

    def spaces(self) -> list[KnownSpace]:
        rows = self.tx.rows(
            f"""
            SELECT id, state, {SPACE_COLUMNS}
            FROM spaces
            WHERE state <> 'retired'
            ORDER BY state = 'active' DESC, id
            """
        )
        return [space_of_row(row) for row in rows]

    def open_space(self, space: Space) -> KnownSpace:
        known_spaces = self.spaces()
        for known_space in known_spaces:
            if known_space.space.fingerprint == space.fingerprint:
                return known_space
        state = "building" if known_spaces else "active"
        self.tx.execute(
            f"""
            INSERT INTO spaces (state, created_at, {SPACE_COLUMNS})
            VALUES (?, ?, {", ".join("?" for _ in SPACE_FIELDS)})
            ON CONFLICT (fingerprint) DO UPDATE SET state = excluded.state
            """,
            (state, self.tx.now, *astuple(space)),
        )
        id = int(self.tx.value("SELECT id FROM spaces WHERE fingerprint = ?", (space.fingerprint,)))
        for tables in TABLES.values():
            self.tx.execute(
                f"""
                INSERT OR REPLACE INTO main.{tables.queue} (space_id, {tables.id}, queued_at)
                SELECT ?, id, ? FROM {tables.source}
                """,
                (id, self.tx.now),
            )
        return KnownSpace(id, state, space)

    def activate(self, id: int) -> None:
        for (old,) in self.tx.rows("SELECT id FROM spaces WHERE state <> 'retired' AND id <> ?", (id,)):
            self._retire(old)
        self.tx.execute("UPDATE spaces SET state = 'active' WHERE id = ?", (id,))

    def lease(self, id: int, holder: str, until: str) -> bool:
        return bool(
            self.tx.execute(
                """
                UPDATE spaces
                SET lease_holder = ?, lease_until = ?
                WHERE id = ? AND (
                    lease_holder IS NULL OR lease_holder = ? OR lease_until < ? OR lease_until > ?
                )
                """,
                (holder, until, id, holder, self.tx.now, until),
            )
        )

    def release(self, id: int, holder: str) -> None:
        self.tx.execute(
            "UPDATE spaces SET lease_holder = NULL, lease_until = NULL WHERE id = ? AND lease_holder = ?",
            (id, holder),
        )

    def abandon(self) -> None:
        for (id,) in self.tx.rows(
            "SELECT id FROM spaces WHERE state = 'building' AND ifnull(lease_until, '') < ?", (self.tx.now,)
        ):
            self._retire(id)

    def _retire(self, id: int) -> None:
        for tables in TABLES.values():
            for table in (*tables.embedded.values(), tables.queue):
                self.tx.execute(f"DELETE FROM main.{table} WHERE space_id = ?", (id,))
        for table in ("embedding_bits", "part_embeddings"):
            self.tx.execute(f"DELETE FROM main.{table} WHERE space_id = ?", (id,))
        self.tx.execute("UPDATE spaces SET state = 'retired' WHERE id = ?", (id,))

    def in_use(self, space_id: int) -> bool:
        return (
            self.tx.value("SELECT 1 FROM spaces WHERE id = ? AND state <> 'retired'", (space_id,)) is not None
        )

    def waiting(self, space_id: int, kind: Embedded, limit: int) -> list[Waiting]:
        tables = TABLES[kind]
        rows = self.tx.rows(
            f"""
            SELECT source.id, {first_missing(kind, "q.space_id", "source.id")}, {_contents(tables)}
            FROM {tables.queue} AS q
            JOIN {tables.source} AS source ON source.id = q.{tables.id}
            WHERE q.space_id = ?
            ORDER BY source.id
            LIMIT ?
            """,
            (space_id, limit),
        )
        return [Waiting(kind, id, tuple(contents), start) for id, start, *contents in rows]

    def count_waiting(self, space_id: int, *kinds: Embedded) -> int:
        counts = (
            self.tx.value(f"SELECT count(*) FROM {TABLES[kind].queue} WHERE space_id = ?", (space_id,))
            for kind in kinds or Embedded
        )
        return sum(map(int, counts))

    def count_embedded(self, space_id: int, project: str | None = None) -> int:
        waiting = self.tx.value(
            """
            SELECT count(*)
            FROM embedding_queue AS q
            WHERE space_id = :space AND (
                :project IS NULL
                OR EXISTS (SELECT 1 FROM memories AS m WHERE m.id = q.memory_id AND ifnull(m.project, '') = :project)
            )
            """,
            {"space": space_id, "project": project},
        )
        return MemoryCounts(self.tx).total(project) - int(waiting)

    def insert(self, space_id: int, embedded: Waiting, vectors: Sequence[Vector]) -> bool:
        tables = TABLES[embedded.kind]
        is_current = self.tx.value(
            f"""
            SELECT 1
            FROM {tables.source} AS source, spaces
            WHERE source.id = ? AND ({_contents(tables)}) = ({", ".join("?" for _ in tables.embedded)})
                AND spaces.id = ? AND state <> 'retired'
                AND ? IN (0, {first_missing(embedded.kind, "spaces.id", "source.id")})
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
        if isinstance(filter, Filter) and kind is Embedded.MEMORIES:
            cosines = [
                *self._nearest_memories(space_id, query, filter, limit, effort),
                *self._nearest(sign_bits.PARTS, _PARTS, "e.part_id", space_id, query, filter, limit, effort),
            ]
        else:
            tables = TABLES[kind]
            id = f"e.{tables.id}"
            cosines = []
            for table in tables.embedded.values():
                source = f"{table} AS e JOIN {tables.source} AS m ON m.id = {id}"
                cosines += self._nearest(table, source, id, space_id, query, filter, limit, effort)
        return best_cosines(cosines, limit)

    def _nearest(
        self,
        table: str,
        source: str,
        id: str,
        space_id: int,
        query: Vector,
        filter: TextFilter,
        limit: int,
        effort: Effort,
    ) -> list[tuple[int, float | None]]:
        """Return pairs of id and cosine, best first: of the vectors that their signs choose, of the newest, or of all.

        `source` joins the table of vectors AS e to that of their texts AS m. The signs choose among the texts of all
        projects: where the filter leaves too few of them, every vector that passes is compared.
        """
        clauses, values = filters.conditions(filter, self.tx.now)
        compared = (
            f"SELECT {id} AS id, e.vector FROM {source} WHERE {' AND '.join(['e.space_id = ?', *clauses])}"
        )
        values = [space_id, *values]
        if effort.newest is not None:
            return self._compared(
                f"{compared} ORDER BY {id} DESC LIMIT {effort.newest}", values, query, limit
            )
        chosen_ids = self._chosen(table, space_id, query, limit, effort)
        if chosen_ids is not None:
            listed = f"{compared} AND {id} IN ({_LISTED})"
            pairs = self._compared(listed, [*values, json.dumps(chosen_ids)], query, limit)
            if len(pairs) == limit:
                return pairs
        return self._compared(compared, values, query, limit)

    def _chosen(
        self, table: str, space_id: int, query: Vector, limit: int, effort: Effort
    ) -> list[int] | None:
        """Return the ids that the signs of a table choose; None where there are few, or no copy of them yet."""
        copy = sign_bits.copy_of_table(self.tx, table)
        signs = (
            None if copy is None else copy.nearest(self.tx, space_id, query, Filter(), effort.by_signs(limit))
        )
        return None if signs is None else signs.nearest(query, effort.by_product(limit))

    def _compared(
        self, compared: str, values: list[Value], query: Vector, limit: int
    ) -> list[tuple[int, float | None]]:
        """Return pairs of id and cosine, best first, of the ids and vectors that a statement selects."""
        return self.tx.rows(
            f"""
            SELECT id, round(1 - vec_distance_cosine(vector, ?), 5)
            FROM ({compared})
            ORDER BY 2 DESC, 1 DESC
            LIMIT ?
            """,
            (as_blob(query), *values, limit),
        )

    def _nearest_memories(
        self,
        space_id: int,
        query: Vector,
        filter: Filter,
        limit: int,
        effort: Effort,
    ) -> list[tuple[int, float | None]]:
        """Let signs choose candidates where there are many; cosine ranks them."""
        clauses, values = filters.bit_rows(space_id, filter)
        where = " AND ".join(clauses)
        bounded = f"SELECT 1 FROM embedding_bits AS b WHERE {where} LIMIT ?"
        many = self.tx.value(f"SELECT count(*) FROM ({bounded})", (*values, effort.exact + 1))
        if many <= effort.exact:
            chosen = f"SELECT b.memory_id FROM embedding_bits AS b WHERE {where}"
            return self._ranked(space_id, query, chosen, values, limit)
        most = effort.by_signs(limit)
        copy = sign_bits.copy_of(self.tx)
        signs = None if copy is None else copy.nearest(self.tx, space_id, query, filter, most)
        if signs is None:
            rows = self.tx.rows(
                f"""
                SELECT b.memory_id, b.bits
                FROM embedding_bits AS b
                WHERE {where}
                ORDER BY vec_distance_hamming(vec_bit(b.bits), vec_bit(vec_quantize_binary(?))), b.memory_id
                LIMIT ?
                """,
                (*values, as_blob(query), most),
            )
            signs = Signs.of_rows(rows, query)
        chosen_ids = signs.nearest(query, effort.by_product(limit))
        return self._ranked(space_id, query, _LISTED, [json.dumps(chosen_ids)], limit)

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
        rows = self._ranked(space_id, query, chosen, [since, until, *values], limit)
        return best_cosines(rows, limit)

    def cosines(self, space_id: int, query: Vector, ids: Sequence[int]) -> dict[int, float]:
        return best_cosines(
            self._ranked(space_id, query, _LISTED, [json.dumps(list(ids))], len(ids)), len(ids)
        )

    def _ranked(
        self, space_id: int, query: Vector, chosen: str, values: list[Value], limit: int
    ) -> list[tuple[int, float | None]]:
        """Return pairs of id and cosine, best first; `chosen` selects the ids of the memories by `values`.

        Cosines are rounded, so that both vector engines put equal memories in equal order. A damaged vector has None.
        """
        return self.tx.rows(
            f"""
            SELECT e.memory_id, round(1 - vec_distance_cosine(e.vector, ?), 5)
            FROM embeddings AS e
            WHERE e.space_id = ? AND e.memory_id IN ({chosen})
            ORDER BY 2 DESC, 1 DESC
            LIMIT ?
            """,
            (as_blob(query), space_id, *values, limit),
        )

    def vector_of(self, space_id: int, id: int) -> Vector | None:
        blob = self.tx.value(
            "SELECT vector FROM embeddings WHERE space_id = ? AND memory_id = ?", (space_id, id)
        )
        return None if blob is None else np.frombuffer(blob, dtype="<f4")

    def vectors_of(
        self, space_id: int, ids: Sequence[int], kind: Embedded = Embedded.MEMORIES
    ) -> dict[int, Vector]:
        id, source = TABLES[kind].id, next(iter(TABLES[kind].embedded.values()))
        rows = self.tx.rows(
            f"SELECT {id}, vector FROM {source} WHERE space_id = ? AND {id} IN ({_LISTED})",
            (space_id, json.dumps(list(ids))),
        )
        return {id: np.frombuffer(blob, dtype="<f4") for id, blob in rows}
