"""The reads of a search: the texts that hold its words, their neighbours in a session, and their vectors.

All kinds are searched in the same way; an id is one of the word index, which parts of long memories have too. A method
`ask_…` sends its statement and does not wait: the function that it returns waits for the answer and reads it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memory_server.domain import parts, ranking
from memory_server.domain.embedding import Embedded
from memory_server.domain.memory import Filter, Memory
from memory_server.domain.ranking import K1, B
from memory_server.postgres import filters, surroundings, terms
from memory_server.postgres.embedded import DAY, from_bytes
from memory_server.postgres.surroundings import ProposedTexts
from memory_server.postgres.tx import Tx, Value
from memory_server.storage import memory_rows
from memory_server.storage.candidates import Posting, Postings, Proposal, Utterances, first_passing
from memory_server.storage.vectors import TABLES, TextFilter

MOST_ROWS = 20_000
"""Newest texts of one term that are read. A word that more texts hold decides little."""

SMALL = 20_000
"""Memories of the largest project whose words are looked for among them alone."""

LOOKED_AT = 4_000
"""Best texts of each proposed list that are sent at first to be filtered; the others are seldom needed."""

_NOBODY = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Candidates:
    """The table of `tx.candidates`: see `storage.candidates.Candidates`."""

    tx: Tx

    def postings(self, kind: Embedded, terms: Sequence[str], filter: TextFilter) -> Postings:
        project = filter.project if kind is Embedded.MEMORIES and isinstance(filter, Filter) else None
        if project is None:
            return self._ask_postings(kind, terms, None, "true", [], has_kind=_has_kind(filter))()
        clauses, values = filters.memories(Filter(project=project))
        return self._ask_postings(kind, terms, project, " AND ".join(clauses), values)()

    def ask_extended(
        self, terms: Sequence[str], postings: Postings, memory_ids: str
    ) -> Callable[[], Postings]:
        """Add to the postings of a small project the texts of other projects' memories that hold a term.

        `memory_ids` is the SQL expression of the ids of these memories, an array.
        """
        if postings.project is None or not postings.postings:
            return lambda: postings
        clauses, values = filters.memories(Filter(project=postings.project))
        foreign = f"m.id = ANY ({memory_ids}) AND ({' AND '.join(clauses)}) IS NOT TRUE"
        extra = self._ask_postings(Embedded.MEMORIES, terms, postings.project, foreign, values, always=True)
        return lambda: postings.joined(extra().postings)

    def _ask_postings(
        self,
        kind: Embedded,
        term_texts: Sequence[str],
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
        numbered_lookups = terms.lookups(self.tx.tenant, [(text,) for text in term_texts])
        postings = [Posting(_NOBODY, np.zeros(0), 0) for _ in term_texts]
        visible = "true"
        if self.tx.person is not None:
            visible = f"EXISTS (SELECT 1 FROM {tables.source} AS s WHERE s.id = h.id & {parts.WHOLE})"
        join, passing = "", visible
        if project is not None:
            join = f"""
                LEFT JOIN (SELECT m.id FROM memories AS m WHERE {clause} AND (SELECT yes FROM small)) AS own
                    ON own.id = h.id & {parts.WHOLE}
            """
            passing = f"CASE WHEN (SELECT yes FROM small) THEN own.id IS NOT NULL ELSE {visible} END"
        answer = self.tx.ask(
            _holding(tables.words, join, passing, has_kind),
            (
                always,
                project,
                [number for number, _ in numbered_lookups],
                [lookup.query for _, lookup in numbered_lookups],
                [lookup.term for _, lookup in numbered_lookups],
                [lookup.phrases for _, lookup in numbered_lookups],
                self.tx.person is None,
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

    def surroundings(self, proposal: Proposal, reach: int) -> ProposedTexts:
        heads = replace(proposal, lists=[ids[:LOOKED_AT] for ids in proposal.lists])
        surroundings = _around(self, heads, reach)
        missing = [
            self._first_passing(proposal.kind, ids[LOOKED_AT:], proposal.filter, proposal.most - number)
            for ids, number in zip(proposal.lists, surroundings.numbers, strict=True)
            if len(ids) > LOOKED_AT and number < proposal.most
        ]
        if not any(missing):
            return surroundings
        also = [*surroundings.proposed, *(id for ids in missing for id in ids)]
        return _around(self, replace(proposal, lists=(), also=also), reach)

    def ask_utterances(self, kind: Embedded, ids_expression: str) -> Callable[[], Utterances]:
        """Return the beginnings, ends and times of the texts whose ids an SQL expression gives."""
        tables = TABLES[kind]
        answer = self.tx.ask(
            f"""
            SELECT
                id,
                CASE WHEN start ~ '[:：]' THEN lower(start) ELSE '' END,
                CASE WHEN "end" ~ '[?？]' THEN "end" ELSE '' END,
                seconds
            FROM (
                SELECT m.id, left({tables.text}, 40) AS start, right({tables.text}, 3) AS "end",
                    86400 * coalesce(days_of(as_moment({tables.moment})) + 2460000.5, 0) AS seconds
                FROM {tables.source} AS m
                WHERE m.id = ANY ({ids_expression}::bigint[])
            ) AS said
            ORDER BY id
            """,
        )
        return lambda: Utterances.of_rows(answer.rows())

    def containing(self, kind: Embedded, text: str, limit: int) -> list[int]:
        tables = TABLES[kind]
        rows = self.tx.rows(
            f"SELECT m.id FROM {tables.source} AS m WHERE strpos({tables.text}, %s) > 0 ORDER BY m.id DESC LIMIT %s",
            (text, limit),
        )
        return [id for (id,) in rows]

    def _first_passing(
        self, kind: Embedded, ids: NDArray[np.int64], filter: TextFilter, limit: int
    ) -> list[int]:
        """Return the first `limit` texts that a filter lets pass."""

        def lets_pass(batch: NDArray[np.int64]) -> NDArray[np.bool_]:
            return np.isin(batch & parts.WHOLE, list(self.passing(kind, batch.tolist(), filter)))

        return first_passing(ids, limit, lets_pass)

    def newest(self, filter: Filter, limit: int, offset: int) -> list[Memory]:
        clauses, values = filters.conditions(filter, self.tx.now)
        rows = self.tx.rows(
            f"""
            SELECT {memory_rows.columns("as_moment")}
            FROM (
                SELECT m.id, {DAY} AS at
                FROM memories AS m
                WHERE {" AND ".join(["true", *clauses])}
                ORDER BY {DAY} DESC, m.id DESC
                LIMIT %s OFFSET %s
            ) AS newest
            JOIN memories ON memories.id = newest.id
            ORDER BY newest.at DESC, newest.id DESC
            """,
            (*values, limit, offset),
        )
        return list(map(memory_rows.memory, rows))

    def passing(self, kind: Embedded, ids: Sequence[int], filter: TextFilter) -> set[int]:
        return set(self.ask_passing(kind, "%s", [[parts.memory_of(id) for id in ids]], filter)())

    def ask_passing(
        self, kind: Embedded, ids_expression: str, values: Sequence[Value], filter: TextFilter
    ) -> Callable[[], list[int]]:
        """Return the ids that a filter lets pass, of those that an SQL expression with these `values` gives."""
        clauses, filter_values = filters.conditions(filter, self.tx.now)
        answer = self.tx.ask(
            f"""
            SELECT m.id
            FROM {TABLES[kind].source} AS m
            WHERE {" AND ".join([f"m.id = ANY ({ids_expression}::bigint[])", *clauses])}
            """,
            (*values, *filter_values),
        )
        return lambda: [id for (id,) in answer.rows()]

    def ask_vectors(
        self, kind: Embedded, space_id: int, dimensions: int, ids_expression: str
    ) -> "Callable[[NDArray[np.int64]], list[NDArray[np.float32]]]":
        """Return the vectors of the texts whose ids an SQL expression gives.

        The returned function takes ids and gives the vectors in their order, as
        `storage.candidates.ProposedTexts.vectors`.
        """
        tables = TABLES[kind]
        answers_by_table = []
        for table in tables.embedded.values():
            sources = [(table, tables.id)]
            if kind is Embedded.MEMORIES:
                sources.append(("part_embeddings", "part_id"))
            answers_by_table.append(
                [
                    self.tx.ask(
                        f"""
                        SELECT array_agg({id} ORDER BY {id}), string_agg(vector_send(vector), '' ORDER BY {id})
                        FROM {source}
                        WHERE space_id = %s AND {id} = ANY ({ids_expression}::bigint[]) AND vector_dims(vector) = %s
                        """,
                        (space_id, dimensions),
                        binary=True,
                    )
                    for source, id in sources
                ]
            )
        return lambda ids: [
            _placed(ids, [answer.rows()[0] for answer in answers], dimensions) for answers in answers_by_table
        ]


def _around(candidates: Candidates, proposal: Proposal, reach: int) -> ProposedTexts:
    """Read all of the surroundings in one round trip.

    Each statement finds the ids of the one before it in a setting of the transaction, so none waits for another.
    """
    tx, filter, around_ids = candidates.tx, proposal.filter, surroundings.AROUND
    chosen = surroundings.ask_chosen(tx, proposal)
    lines = surroundings.ask_lines(tx, TABLES[proposal.kind].source, reach)
    memory_ids = f"ARRAY(SELECT DISTINCT id & {parts.WHOLE} FROM unnest({around_ids}::bigint[]) AS id)"
    passing = None if filter == Filter() else candidates.ask_passing(proposal.kind, memory_ids, [], filter)
    utterances = candidates.ask_utterances(proposal.kind, around_ids)
    vectors = None
    if proposal.dimensions:
        vectors = candidates.ask_vectors(proposal.kind, proposal.space_id, proposal.dimensions, around_ids)
    postings = candidates.ask_extended(proposal.terms, proposal.postings, memory_ids)
    chosen_lists = chosen()
    proposed = dict.fromkeys([id for ids in [*chosen_lists, proposal.also] for id in ids])
    return ProposedTexts(
        list(proposed),
        lines(),
        list(map(len, chosen_lists)),
        None if passing is None else np.array(passing(), np.int64),
        utterances(),
        vectors,
        postings(),
    )


def _has_kind(filter: TextFilter) -> str:
    """Return the condition that there are turns of the kind that a filter wants; others are not looked through."""
    if not isinstance(filter, Filter) or filter.transcripts is None:
        return "true"
    return f"(SELECT EXISTS (SELECT 1 FROM turns WHERE transcript = {int(filter.transcripts)}))"


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


def _placed(
    ids: NDArray[np.int64], batches: Sequence[tuple[list[int] | None, bytes | None]], dimensions: int
) -> NDArray[np.float32]:
    """Return the vectors of `batches` in the order of `ids`, which ascend; shape (ids + 1, dimensions).

    A batch is ids and the bytes of their vectors. A row is zeros where an id has no vector, and so is the last one.
    """
    placed = np.zeros((len(ids) + 1, dimensions), np.float32)
    for batch_ids, blob in batches:
        if batch_ids and blob and len(ids):
            places = np.minimum(np.searchsorted(ids, batch_ids), len(ids) - 1)
            is_placed = ids[places] == batch_ids
            placed[places[is_placed]] = from_bytes(blob, dimensions)[is_placed]
    return placed
