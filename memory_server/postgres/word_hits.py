"""Finds the texts that hold words, by the word indices."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory_server.domain import parts
from memory_server.domain.fact import Fact, Home
from memory_server.domain.ranking import K1, B
from memory_server.postgres.spelling import spelled
from memory_server.postgres.terms import lookup, lookups
from memory_server.postgres.tx import PendingRows, Tx
from memory_server.storage import fact_rows
from memory_server.storage.tables.facts import ALIVE, within
from memory_server.storage.words import MOST_ROWS, WRITTEN_AT, Index

_BM25 = f"""
    greatest(1e-6, ln((texts - everywhere + 0.5) / (everywhere + 0.5)))
        * (held * {K1 + 1}::float8 / (held + {K1}::float8 * ({1 - B}::float8 + {B}::float8 * length / average)))
"""
"""What FTS5's `bm25()` gives for one phrase: sqlite.org/fts5.html#the_bm25_function."""


@dataclass(frozen=True, slots=True)
class WordHits:
    """The table of `tx.word_hits`: see `storage.words.WordHits`."""

    tx: Tx

    def hits(self, terms: Sequence[str]) -> tuple[int, list[dict[Index, list[int]]]]:
        total = self.tx.ask(
            "SELECT coalesce(sum(texts), 0) FROM word_totals WHERE name = ANY (%s)",
            ([index.value for index in Index],),
        )
        answers = {index: self._holding(index, terms) for index in Index}
        hits: list[dict[Index, list[int]]] = [{index: [] for index in Index} for _ in terms]
        for index, answer in answers.items():
            for place, ids in answer.rows():
                hits[place][index] = ids
        ((number,),) = total.rows()
        return int(number), hits

    def _holding(self, index: Index, terms: Sequence[str]) -> PendingRows:
        """Send for the rows of an index that hold each term."""
        numbered_lookups = lookups(self.tx.tenant, [(term,) for term in terms])
        visible = f"JOIN {WRITTEN_AT[index][0]} AS seen ON seen.id = h.id & {parts.WHOLE}"
        return self.tx.ask(
            f"""
            SELECT t.place, ARRAY(
                SELECT h.id
                FROM {index.value}_some(t.query::tsquery, string_to_array(t.phrases, chr(10)), NULL) AS h (id)
                {"" if self.tx.person is None else visible}
                ORDER BY h.id DESC
                LIMIT {MOST_ROWS}
            )
            FROM unnest(%s::int[], %s::text[], %s::text[]) AS t (place, query, phrases)
            """,
            (
                [place for place, _ in numbered_lookups],
                [lookup.query for _, lookup in numbered_lookups],
                [lookup.phrases for _, lookup in numbered_lookups],
            ),
        )

    def mentioned_facts(self, homes: Sequence[Home], terms: Sequence[str], limit: int) -> list[Fact]:
        where, values = within(homes)
        term_lookups = [looked for term in terms if (looked := lookup(self.tx.tenant, term)) is not None]
        rows = self.tx.rows(
            f"""
            WITH total (texts, average) AS (
                SELECT texts::float8, terms / texts::float8 FROM word_totals WHERE name = 'fact_words' AND texts > 0
            ),
            ranked (id, score) AS (
                SELECT h.id, sum({_BM25} ORDER BY t.place)
                FROM total
                CROSS JOIN unnest(%(queries)s::text[], %(terms)s::text[], %(phrases)s::text[]) WITH ORDINALITY
                    AS t (query, term, phrases, place)
                CROSS JOIN LATERAL fact_words_holding(
                    t.query::tsquery, t.term, string_to_array(t.phrases, chr(10)), NULL
                ) AS h
                GROUP BY h.id
            )
            SELECT {fact_rows.FACT}
            FROM facts
            JOIN ranked USING (id)
            WHERE {spelled(where)} AND {spelled(ALIVE)}
            ORDER BY score DESC, id DESC
            LIMIT %(limit)s
            """,
            {
                **values,
                "now": self.tx.now,
                "queries": [term.query for term in term_lookups],
                "terms": [term.term for term in term_lookups],
                "phrases": [term.phrases for term in term_lookups],
                "limit": limit,
            },
        )
        return [fact_rows.fact(row) for row in rows]
