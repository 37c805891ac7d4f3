"""Sends for the texts that hold each term of a search; the function that it returns reads the answer."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from memory_server.domain import parts, ranking
from memory_server.domain.embedding import Embedded
from memory_server.domain.memory import Filter
from memory_server.domain.ranking import K1, B
from memory_server.postgres import filters
from memory_server.postgres.terms import lookups
from memory_server.postgres.tx import Tx, Value
from memory_server.storage.candidates import Posting, Postings
from memory_server.storage.vectors import TABLES

MOST_ROWS = 20_000
"""Newest texts of one term that are read. A word that more texts hold decides little."""

SMALL = 20_000
"""Memories of the largest project whose words are looked for among them alone."""


def ask_postings(
    tx: Tx,
    kind: Embedded,
    terms: Sequence[str],
    project: str | None,
    clause: str,
    values: Sequence[Value],
    always: bool = False,
    has_kind: str = "true",
) -> Callable[[], Postings]:
    """Return the newest texts that hold each term, of those that the person sees; none unless `has_kind` is true.

    Where the project is small, or `always`: all texts whose memories fulfil `clause`, which has these `values`.
    """
    tables = TABLES[kind]
    numbered_lookups = lookups(tx.tenant, [(text,) for text in terms])
    postings = [Posting(np.zeros(0, np.int64), np.zeros(0), 0) for _ in terms]
    visible = "true"
    if tx.person is not None:
        visible = f"EXISTS (SELECT 1 FROM {tables.source} AS s WHERE s.id = h.id & {parts.WHOLE})"
    join, passing = "", visible
    if project is not None:
        join = f"""
            LEFT JOIN (SELECT m.id FROM memories AS m WHERE {clause} AND (SELECT yes FROM small)) AS own
                ON own.id = h.id & {parts.WHOLE}
        """
        passing = f"CASE WHEN (SELECT yes FROM small) THEN own.id IS NOT NULL ELSE {visible} END"
    answer = tx.ask(
        _holding(tables.words, join, passing, has_kind),
        (
            always,
            project,
            [number for number, _ in numbered_lookups],
            [lookup.query for _, lookup in numbered_lookups],
            [lookup.term for _, lookup in numbered_lookups],
            [lookup.phrases for _, lookup in numbered_lookups],
            tx.person is None,
            *values,
            tables.words,
        ),
    )

    def read() -> Postings:
        rows = answer.rows()
        all_texts, all_terms, is_small = rows[0][:3]
        for _, _, _, number, everywhere, *columns in rows:
            if number is not None:
                ids, times, lengths = (np.array(column or (), np.int64) for column in columns)
                newest = np.argsort(ids)
                if not (is_small and project is not None):
                    newest = newest[-MOST_ROWS:]
                scores = _bm25(times[newest], lengths[newest], everywhere, all_texts, all_terms)
                postings[number] = Posting(ids[newest], scores, everywhere)
        return Postings(all_texts, postings, project if is_small else None)

    return read


def ask_extended(tx: Tx, terms: Sequence[str], postings: Postings, memory_ids: str) -> Callable[[], Postings]:
    """Add to the postings of a small project the texts of other projects' memories that hold a term.

    `memory_ids` is the SQL expression of the ids of these memories, an array.
    """
    if postings.project is None or not postings.postings:
        return lambda: postings
    clauses, values = filters.memories(Filter(project=postings.project))
    foreign = f"m.id = ANY ({memory_ids}) AND ({' AND '.join(clauses)}) IS NOT TRUE"
    extra = ask_postings(tx, Embedded.MEMORIES, terms, postings.project, foreign, values, always=True)
    return lambda: postings.joined(extra().postings)


def _holding(index: str, join: str, passing: str, has_kind: str) -> str:
    """Return the statement that reads the texts of a word index that hold each term, and the totals of the index.

    It also tells if the project is small. `passing` is the clause that a text must fulfil, `join` what it needs.
    Where `has_kind` is false the index counts as empty.
    """
    return f"""
        WITH small AS MATERIALIZED (
            SELECT coalesce(sum(number), 0) <= {SMALL} OR %s AS yes FROM memory_counts WHERE project = %s
        ),
        held AS (
            SELECT
                t.number,
                max(h.everywhere) AS everywhere,
                array_agg(h.id) FILTER (WHERE {passing}) AS ids,
                array_agg(h.held) FILTER (WHERE {passing}) AS times,
                array_agg(h.length) FILTER (WHERE {passing}) AS lengths
            FROM unnest(%s::int[], %s::text[], %s::text[], %s::text[]) AS t (number, query, term, phrases)
            CROSS JOIN LATERAL {index}_holding(
                t.query::tsquery,
                t.term,
                string_to_array(t.phrases, chr(10)),
                CASE WHEN %s AND NOT (SELECT yes FROM small) THEN {MOST_ROWS} END
            ) AS h
            {join}
            WHERE {has_kind}
            GROUP BY t.number
        )
        SELECT
            CASE WHEN {has_kind} THEN coalesce(total.texts, 0) ELSE 0 END,
            coalesce(total.terms, 0), (SELECT yes FROM small),
            held.number, held.everywhere, held.ids, held.times, held.lengths
        FROM (SELECT) AS one
        LEFT JOIN word_totals AS total ON total.name = %s
        LEFT JOIN held ON true
    """


def _bm25(
    counts: NDArray[np.int64], lengths: NDArray[np.int64], holding: int, texts: int, all_terms: int
) -> NDArray[np.float64]:
    """Compute `bm25()` of FTS5 for one phrase, to the last digit: sqlite.org/fts5.html#the_bm25_function.

    `counts` is how often each text holds the phrase, `lengths` its number of terms; all arrays have the shape (texts,).
    """
    rarity, average = ranking.fts5_idf(holding, texts), all_terms / texts
    times = counts.astype(np.float64)
    scores: NDArray[np.float64] = rarity * (
        times * (K1 + 1.0) / (times + K1 * (1 - B + B * lengths / average))
    )
    return scores
