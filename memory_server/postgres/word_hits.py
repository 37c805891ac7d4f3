"""Which texts hold the words of a prompt, read from the word indices alone and without numpy: a hook has no time."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory_server.domain import parts
from memory_server.domain.fact import FactFilter, Home
from memory_server.postgres import filters, terms
from memory_server.postgres.tx import Tx
from memory_server.storage.words import MOST_ROWS, Index

_WRITTEN = {
    Index.MEMORY: ("memories", "updated_at"),
    Index.FACT: ("facts", "updated_at"),
    Index.TURN: ("turns", "created_at"),
}
"""The table of each index, and the column that says when a row was written."""


@dataclass(frozen=True, slots=True)
class WordHits:
    """Which texts hold the words of a prompt, read from the word indices alone and without numpy: a hook has no
    time."""

    tx: Tx

    def count(self, index: Index) -> int:
        return int(
            self.tx.value("SELECT coalesce(sum(texts), 0) FROM word_totals WHERE name = %s", (index.value,))
        )

    def holding(self, index: Index, term: str) -> list[int]:
        asked = terms.lookup(self.tx.tenant, term)
        if asked is None:
            return []
        rows = self.tx.rows(
            f"""
            SELECT h.id
            FROM {index.value}_some(%s::tsquery, string_to_array(%s, chr(10)), NULL) AS h (id)
            JOIN {_WRITTEN[index][0]} AS seen ON seen.id = h.id & {parts.WHOLE}
            ORDER BY h.id DESC
            LIMIT %s
            """,
            (asked.query, asked.phrases, MOST_ROWS),
        )
        return [id for (id,) in rows]

    def newer(self, index: Index, ids: Sequence[int], moment: str) -> list[int]:
        table, column = _WRITTEN[index]
        rows = self.tx.rows(
            f"SELECT id FROM {table} WHERE id = ANY (%s::bigint[]) AND {column} > %s ORDER BY id",
            (list(ids), moment),
        )
        return [id for (id,) in rows]

    def own_memories(self, ids: Sequence[int], project: str) -> set[int]:
        rows = self.tx.rows(
            """
            SELECT id
            FROM memories
            WHERE id = ANY (%s::bigint[]) AND coalesce(project, '') IN ('', %s) AND lasts(metadata, %s)
            """,
            (list(ids), project, self.tx.now),
        )
        return {id for (id,) in rows}

    def own_turns(self, ids: Sequence[int], project: str) -> set[int]:
        rows = self.tx.rows(
            "SELECT id FROM turns WHERE id = ANY (%s::bigint[]) AND project IN ('', %s)", (list(ids), project)
        )
        return {id for (id,) in rows}

    def own_facts(self, ids: Sequence[int], homes: Sequence[Home]) -> set[int]:
        clauses, values = filters.conditions(FactFilter(tuple(homes), None, None), self.tx.now)
        rows = self.tx.rows(
            f"""
            SELECT m.id
            FROM facts AS m
            WHERE {" AND ".join(["m.id = ANY (%s::bigint[])", *clauses])}
            """,
            (list(ids), *values),
        )
        return {id for (id,) in rows}
