"""Finds the texts that hold words, by the word indices."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory_server.domain import parts
from memory_server.domain.fact import Fact, Home
from memory_server.sqlite.tx import Tx
from memory_server.sqlite.words import any_of, quoted
from memory_server.storage import fact_rows
from memory_server.storage.tables.facts import ALIVE, within
from memory_server.storage.words import MOST_ROWS, WRITTEN_AT, Index


@dataclass(frozen=True, slots=True)
class WordHits:
    """The table of `tx.word_hits`: see `storage.words.WordHits`."""

    tx: Tx

    def count(self, index: Index) -> int:
        return int(self.tx.value(f"SELECT count(*) FROM {index.value}_docsize"))

    def holding(self, index: Index, term: str) -> list[int]:
        rows = self.tx.rows(
            f"""
            SELECT rowid
            FROM {index.value}
            WHERE {index.value} MATCH ? {self.tx.seen(WRITTEN_AT[index][0], f"{index.value}.rowid & {parts.WHOLE}")}
            ORDER BY rowid DESC
            LIMIT ?
            """,
            (quoted(term), MOST_ROWS),
        )
        return [id for (id,) in rows]

    def hits(self, terms: Sequence[str]) -> tuple[int, list[dict[Index, list[int]]]]:
        total = sum(self.count(index) for index in Index)
        return total, [{index: self.holding(index, term) for index in Index} for term in terms]

    def mentioned_facts(self, homes: Sequence[Home], terms: Sequence[str], limit: int) -> list[Fact]:
        where, values = within(homes)
        rows = self.tx.rows(
            f"""
            SELECT {fact_rows.FACT}
            FROM facts
            JOIN (
                SELECT rowid AS fact_id, bm25(fact_words) AS rank FROM fact_words WHERE fact_words MATCH :terms
            ) ON fact_id = id
            WHERE {where} AND {ALIVE}
            ORDER BY rank, id DESC
            LIMIT :limit
            """,
            {**values, "terms": any_of(terms), "now": self.tx.now, "limit": limit},
        )
        return [fact_rows.fact(row) for row in rows]
