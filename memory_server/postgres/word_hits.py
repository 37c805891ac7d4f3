"""Which texts hold the words of a prompt, read from the word indices alone and without numpy: a hook has no time."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory_server.domain import parts
from memory_server.domain.fact import FactFilter, Home
from memory_server.postgres import filters
from memory_server.postgres.terms import lookup
from memory_server.postgres.tx import Answer, Tx
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

    def held(self, terms: Sequence[str]) -> tuple[int, list[dict[Index, list[int]]]]:
        total = self.tx.ask(
            "SELECT coalesce(sum(texts), 0) FROM word_totals WHERE name = ANY (%s)",
            ([index.value for index in Index],),
        )
        asked = {index: self._holding(index, terms) for index in Index}
        found: list[dict[Index, list[int]]] = [{index: [] for index in Index} for _ in terms]
        for index, answer in asked.items():
            for place, ids in answer.rows():
                found[place][index] = ids
        ((number,),) = total.rows()
        return int(number), found

    def _holding(self, index: Index, terms: Sequence[str]) -> Answer:
        """The rows of an index that hold each term: the statement is sent, and nothing is waited for."""
        known = [(place, lookup(self.tx.tenant, term)) for place, term in enumerate(terms)]
        there = [(place, each) for place, each in known if each is not None]
        seen = f"JOIN {_WRITTEN[index][0]} AS seen ON seen.id = h.id & {parts.WHOLE}"
        return self.tx.ask(
            f"""
            SELECT t.place, ARRAY(
                SELECT h.id
                FROM {index.value}_some(t.query::tsquery, string_to_array(t.phrases, chr(10)), NULL) AS h (id)
                {"" if self.tx.person is None else seen}
                ORDER BY h.id DESC
                LIMIT {MOST_ROWS}
            )
            FROM unnest(%s::int[], %s::text[], %s::text[]) AS t (place, query, phrases)
            """,
            (
                [place for place, _ in there],
                [each.query for _, each in there],
                [each.phrases for _, each in there],
            ),
        )

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
