"""Finds the texts nearest to a vector: compares all vectors if they are few, else those that their signs choose."""

import json
from dataclasses import dataclass

from memory_server.domain.embedding import Embedded, Vector
from memory_server.domain.memory import Filter
from memory_server.sqlite import filters, sign_bits
from memory_server.sqlite.embedded import as_blob
from memory_server.sqlite.signs import Signs
from memory_server.sqlite.tx import Tx, Value
from memory_server.storage.vectors import PARTS, TABLES, Effort, TextFilter, VectorSource, best_cosines

LISTED = "SELECT value FROM json_each(?)"

Cosines = list[tuple[int, float | None]]
"""Pairs of id and cosine, best first. Cosines are rounded, so that both vector engines put equal texts in equal order.
A damaged vector has None."""


def ranked(tx: Tx, space_id: int, query: Vector, chosen: str, values: list[Value], limit: int) -> Cosines:
    """Rank memories; `chosen` selects their ids by `values`."""
    return tx.rows(
        f"""
        SELECT e.memory_id, round(1 - vec_distance_cosine(e.vector, ?), 5)
        FROM embeddings AS e
        WHERE e.space_id = ? AND e.memory_id IN ({chosen})
        ORDER BY 2 DESC, 1 DESC
        LIMIT ?
        """,
        (as_blob(query), space_id, *values, limit),
    )


@dataclass(frozen=True, slots=True)
class NearestQuery:
    """A search for the texts of a kind that are nearest to a vector, in a space."""

    tx: Tx
    kind: Embedded
    space_id: int
    query: Vector
    filter: TextFilter
    limit: int
    effort: Effort

    def cosines(self) -> dict[int, float]:
        """Return the cosines by text, best first."""
        if isinstance(self.filter, Filter) and self.kind is Embedded.MEMORIES:
            cosines = [*self._memories(self.filter), *self._of(PARTS)]
        else:
            cosines = [pair for source in TABLES[self.kind].vectors for pair in self._of(source)]
        return best_cosines(cosines, self.limit)

    def _of(self, source: VectorSource) -> Cosines:
        """Rank the vectors of a table that their signs choose, the newest, or all.

        The signs choose among the texts of all projects: where the filter leaves too few of them, every vector that
        passes is compared.
        """
        clauses, values = filters.conditions(self.filter, self.tx.now)
        compared = f"""
            SELECT {source.id} AS id, e.vector FROM {source.joined} WHERE {" AND ".join(["e.space_id = ?", *clauses])}
        """
        values = [self.space_id, *values]
        if self.effort.newest is not None:
            return self._compared(f"{compared} ORDER BY {source.id} DESC LIMIT {self.effort.newest}", values)
        chosen_ids = self._chosen(source.table)
        if chosen_ids is not None:
            listed = f"{compared} AND {source.id} IN ({LISTED})"
            pairs = self._compared(listed, [*values, json.dumps(chosen_ids)])
            if len(pairs) == self.limit:
                return pairs
        return self._compared(compared, values)

    def _chosen(self, table: str) -> list[int] | None:
        """Return the ids that the signs of a table choose; None where there are few, or no copy of them yet."""
        copy = sign_bits.copy_of_table(self.tx, table)
        most = self.effort.by_signs(self.limit)
        signs = None if copy is None else copy.nearest(self.tx, self.space_id, self.query, Filter(), most)
        return None if signs is None else signs.nearest(self.query, self.effort.by_product(self.limit))

    def _compared(self, compared: str, values: list[Value]) -> Cosines:
        """Rank the ids and vectors that a statement selects."""
        return self.tx.rows(
            f"""
            SELECT id, round(1 - vec_distance_cosine(vector, ?), 5)
            FROM ({compared})
            ORDER BY 2 DESC, 1 DESC
            LIMIT ?
            """,
            (as_blob(self.query), *values, self.limit),
        )

    def _memories(self, filter: Filter) -> Cosines:
        """Let signs choose candidates where there are many; cosine ranks them."""
        clauses, values = filters.bit_rows(self.space_id, filter)
        where = " AND ".join(clauses)
        bounded = f"SELECT 1 FROM embedding_bits AS b WHERE {where} LIMIT ?"
        many = self.tx.value(f"SELECT count(*) FROM ({bounded})", (*values, self.effort.exact + 1))
        if many <= self.effort.exact:
            return self._ranked(f"SELECT b.memory_id FROM embedding_bits AS b WHERE {where}", values)
        most = self.effort.by_signs(self.limit)
        copy = sign_bits.copy_of(self.tx)
        signs = None if copy is None else copy.nearest(self.tx, self.space_id, self.query, filter, most)
        if signs is None:
            rows = self.tx.rows(
                f"""
                SELECT b.memory_id, b.bits
                FROM embedding_bits AS b
                WHERE {where}
                ORDER BY vec_distance_hamming(vec_bit(b.bits), vec_bit(vec_quantize_binary(?))), b.memory_id
                LIMIT ?
                """,
                (*values, as_blob(self.query), most),
            )
            signs = Signs.of_rows(rows, self.query)
        return self._ranked(
            LISTED, [json.dumps(signs.nearest(self.query, self.effort.by_product(self.limit)))]
        )

    def _ranked(self, chosen: str, values: list[Value]) -> Cosines:
        return ranked(self.tx, self.space_id, self.query, chosen, values, self.limit)
