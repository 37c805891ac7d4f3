"""Finds the texts nearest to a vector: compares all vectors if they are few, else those that an index chooses."""

from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from memory_server.domain.embedding import Embedded, Vector
from memory_server.domain.fact import FactFilter
from memory_server.domain.memory import Filter
from memory_server.postgres import filters
from memory_server.postgres.embedded import as_text
from memory_server.postgres.tx import PendingRows, Tx
from memory_server.storage.vectors import (
    PARTS,
    TABLES,
    Effort,
    TextFilter,
    VectorSource,
    best_cosines,
)

EXACT: Final = 5_000
"""Up to so many texts every vector is compared: some 20 ms."""

DEARER: Final = 4_000
"""A search of the index costs as much as comparing √(DEARER x all) vectors, where `all` counts those of all tenants.
To find 400 of the `rows` vectors that a filter lets pass, it looks at 400 x all / rows, and each costs ten times as
much as a comparison. So both cost the same where rows² = 4,000 x all."""

MANY: Final = 50_000
"""The texts that a filter lets pass are counted up to this number; where there are as many, the index is used."""

INDEXED: Final = ("embeddings", PARTS.table, "fact_embeddings", "turn_embeddings", "turn_message_embeddings")
"""The tables that have an index, as the function `index_vectors` makes them. Short-term memories come and go, and each
conversation has few."""


def cosine(vector: str) -> str:
    """Return the SQL for the cosine of a column and a vector: rounded, as in SQLite; NULL where one has no length."""
    return f"round(nullif(1 - ({vector} <=> %s::vector), 'NaN')::numeric, 5)::float8"


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
        """Return the cosines by text, best first. All statements, one for each table of vectors, are sent at once."""
        sources = [*TABLES[self.kind].vectors, *([PARTS] if self.kind is Embedded.MEMORIES else [])]
        self.tx.send(
            """
            SELECT
                set_config('hnsw.iterative_scan', 'relaxed_order', true),
                set_config('hnsw.ef_search', %s, true)
            """,
            (str(min(1_000, self._chosen)),),
        )
        answers = [
            self._chosen_by_index(source) if source.table in INDEXED else self._all(source)
            for source in sources
        ]
        return best_cosines(chain.from_iterable(answer.rows() for answer in answers), self.limit)

    @property
    def _chosen(self) -> int:
        """Number of vectors that the index chooses."""
        return max(self.effort.chosen, 2 * self.limit)

    def _all(self, source: VectorSource) -> PendingRows:
        """Compare every vector of a table."""
        clauses, values = filters.conditions(self.filter, self.tx.now)
        return self.tx.ask(
            f"""
            SELECT {source.id}, {cosine("e.vector")}
            FROM {source.joined}
            WHERE {" AND ".join(["e.space_id = %s", *clauses])}
            ORDER BY 2 DESC NULLS LAST, 1 DESC
            LIMIT %s
            """,
            (as_text(self.query), self.space_id, *values, self.limit),
        )

    def _chosen_by_index(self, source: VectorSource) -> PendingRows:
        """Let the index choose candidates where there are many; cosine ranks them."""
        table, id, joined = source.table, source.id, source.joined
        text, dimensions = as_text(self.query), len(self.query)
        clauses, values = filters.conditions(self.filter, self.tx.now)
        where = " AND ".join(["e.space_id = %s", *clauses])
        small_source, small_where = joined, where
        if source is not PARTS:  # to look for an array of ids takes half the time of a join
            small_source, small_where = f"{table} AS e", "e.space_id = %s"
            if clauses:
                texts = f"SELECT m.id FROM {TABLES[self.kind].source} AS m WHERE {' AND '.join(clauses)}"
                small_where += f" AND {id} = ANY (ARRAY({texts}))"
            else:
                joined = small_source
        count, count_values = self._number()
        rows = "least(rows, nullif(c.reltuples, -1))" if source is PARTS else "rows"
        return self.tx.ask(
            f"""
            WITH size AS MATERIALIZED (
                SELECT {rows} <= {EXACT} OR {rows}::float8 * {rows} < {DEARER} * greatest(c.reltuples, rows) AS is_small
                FROM ({count}) AS wanted (rows), pg_class AS c
                WHERE c.oid = '{table}'::regclass
            ),
            chosen (id, vector) AS (
                SELECT {id}, e.vector
                FROM {small_source}
                WHERE {small_where} AND (SELECT is_small FROM size)
                UNION ALL
                SELECT id, vector
                FROM (
                    SELECT {id} AS id, e.vector
                    FROM {joined}
                    WHERE {where} AND vector_dims(e.vector) = {dimensions}
                        AND (SELECT is_small FROM size) IS NOT TRUE
                    ORDER BY e.vector::halfvec({dimensions}) <=> %s::halfvec({dimensions})
                    LIMIT %s
                ) AS nearest
            )
            SELECT id, {cosine("vector")}
            FROM chosen
            ORDER BY 2 DESC NULLS LAST, 1 DESC
            LIMIT %s
            """,
            (
                *count_values,
                self.space_id,
                *values,
                self.space_id,
                *values,
                text,
                self._chosen,
                text,
                self.limit,
            ),
        )

    def _number(self) -> tuple[str, list[Any]]:
        """Return a statement that counts the texts that the filter lets pass, and its values; NULL for MANY or more."""
        match self.filter:
            case Filter(tags=(), since=None, until=None) if self.kind is Embedded.MEMORIES:
                return _by_counts(self.filter)
            case FactFilter(homes=[*homes]):
                return (
                    _counted(
                        "unnest(%s::text[], %s::text[]) AS h (scope, owner)"
                        " JOIN facts AS f ON f.scope = h.scope AND f.owner = h.owner"
                    ),
                    [[home.scope.value for home in homes], [home.owner for home in homes]],
                )
        clauses, values = filters.conditions(self.filter, self.tx.now)
        if not clauses and self.tx.person is None:
            return "SELECT texts FROM word_totals WHERE name = %s", [TABLES[self.kind].words]
        where = " AND ".join(["true", *clauses])
        return _counted(f"{TABLES[self.kind].source} AS m WHERE {where}"), values


def _counted(source: str) -> str:
    return f"SELECT nullif(count(*), {MANY}) FROM (SELECT 1 FROM {source} LIMIT {MANY}) AS bounded"


def _by_counts(filter: Filter) -> tuple[str, list[Any]]:
    """Return that statement for a filter by project, type and importance only: `memory_counts` has the numbers."""
    values_by_clause = {
        "project = %s": filter.project,
        "type = %s": filter.type and filter.type.value,
        "importance >= %s": filter.min_importance,
    }
    clauses = " AND ".join(
        ["true", *(clause for clause, value in values_by_clause.items() if value is not None)]
    )
    values = [value for value in values_by_clause.values() if value is not None]
    return f"SELECT coalesce(sum(number), 0) FROM memory_counts WHERE {clauses}", values
