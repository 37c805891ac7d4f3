"""What a search reads: which texts hold its words, what stands beside them, and their vectors.

All kinds are searched in the same way; an id is one of the word index, also of a part of a long memory.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memory_server.domain import parts, ranking
from memory_server.domain.embedding import Embedded
from memory_server.domain.memory import Filter
from memory_server.domain.ranking import K1, B
from memory_server.postgres import filters, surroundings, terms
from memory_server.postgres.embedded import TABLES, from_bytes
from memory_server.postgres.surroundings import Surroundings
from memory_server.postgres.tx import Tx, Value
from memory_server.storage.candidates import Held, Posting, Proposal, Said
from memory_server.storage.vectors import Wanted

MOST_ROWS = 20_000
"""Rows of one term that are read, the newest. A word that more texts hold decides little."""

SMALL = 20_000
"""Memories of the largest project whose words are looked for among them alone."""

LOOKED_AT = 4_000
"""Proposed texts, the best, that are sent to see which of them a filter lets pass. The rest is seldom looked at."""

_NOBODY = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Candidates:
    """What a search reads: which texts hold its words, what stands beside them, and their vectors."""

    tx: Tx

    def held(self, kind: Embedded, terms: Sequence[str], wanted: Wanted) -> Held:
        project = wanted.project if kind is Embedded.MEMORIES and isinstance(wanted, Filter) else None
        if project is None:
            return self._held(kind, terms, None, "true", [])()
        clauses, values = filters.memories(Filter(project=project))
        return self._held(kind, terms, project, " AND ".join(clauses), values)()

    def ask_others(
        self, terms: Sequence[str], held: Held, whole: str, values: Sequence[Value]
    ) -> Callable[[], Held]:
        """The postings of terms in a small project, joined with those of other projects' memories among the ones that
        an expression gives: asked for, not waited for."""
        if held.project is None or not held.postings:
            return lambda: held
        clauses, others = filters.memories(Filter(project=held.project))
        which = f"m.id = ANY ({whole}) AND ({' AND '.join(clauses)}) IS NOT TRUE"
        found = self._held(Embedded.MEMORIES, terms, held.project, which, [*values, *others], always=True)

        def joined() -> Held:
            postings = []
            for one, other in zip(held.postings, found().postings, strict=True):
                every = np.concatenate([one.ids, other.ids])
                scores, order = np.concatenate([one.scores, other.scores]), np.argsort(every)
                postings.append(Posting(every[order], scores[order], one.everywhere))
            return replace(held, postings=postings)

        return joined

    def _held(
        self,
        kind: Embedded,
        texts: Sequence[str],
        project: str | None,
        own: str,
        values: Sequence[Value],
        always: bool = False,
    ) -> Callable[[], Held]:
        """The newest texts that hold each term, of those that the person sees, asked for and not waited for.

        Of a small project, or `always`, all that are of memories which the clause `own` lets pass.
        """
        tables = TABLES[kind]
        asked = [(number, terms.lookup(self.tx.tenant, text)) for number, text in enumerate(texts)]
        known = [(number, each) for number, each in asked if each is not None]
        found = [Posting(_NOBODY, np.zeros(0), 0) for _ in texts]
        seen = "true"
        if self.tx.person is not None:
            seen = f"EXISTS (SELECT 1 FROM {tables.source} AS s WHERE s.id = h.id & {parts.WHOLE})"
        among, passing = "", seen
        if project is not None:
            among = f"""
                LEFT JOIN (SELECT m.id FROM memories AS m WHERE {own} AND (SELECT yes FROM small)) AS own
                    ON own.id = h.id & {parts.WHOLE}
            """
            passing = f"CASE WHEN (SELECT yes FROM small) THEN own.id IS NOT NULL ELSE {seen} END"
        answer = self.tx.ask(
            _holding(tables.words, among, passing),
            (
                always,
                project,
                [number for number, _ in known],
                [each.query for _, each in known],
                [each.term for _, each in known],
                [each.phrases for _, each in known],
                self.tx.person is None,
                *values,
                tables.words,
            ),
        )

        def read() -> Held:
            rows = answer.rows()
            all_texts, all_terms, is_small = rows[0][:3]
            for _, _, _, number, everywhere, *columns in rows:
                if number is not None:
                    ids, held, lengths = (np.array(column or (), np.int64) for column in columns)
                    newest = np.argsort(ids)
                    if not (is_small and project is not None):
                        newest = newest[-MOST_ROWS:]
                    scores = _bm25(held[newest], lengths[newest], everywhere, all_texts, all_terms)
                    found[number] = Posting(ids[newest], scores, everywhere)
            return Held(all_texts, found, project if is_small else None)

        return read

    def surroundings(self, proposal: Proposal, reach: int) -> Surroundings:
        rest = [each[LOOKED_AT:] for each in proposal.lists]
        looked = replace(proposal, lists=[each[:LOOKED_AT] for each in proposal.lists])
        found = _around(self, looked, reach)
        missing = [
            self._first_passing(proposal.kind, ids, proposal.wanted, proposal.most - number)
            for ids, number in zip(rest, found.numbers, strict=True)
            if len(ids) and number < proposal.most
        ]
        if not any(missing):
            return found
        also = [*found.proposed, *(id for ids in missing for id in ids)]
        return _around(self, replace(proposal, lists=(), also=also), reach)

    def ask_said(self, kind: Embedded, these: str, values: Sequence[Value]) -> Callable[[], Said]:
        """How the texts that an expression gives begin and end, and when they were said: asked for, not waited for."""
        tables = TABLES[kind]
        asked = self.tx.ask(
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
                WHERE m.id = ANY ({these}::bigint[])
            ) AS said
            ORDER BY id
            """,
            values,
        )

        def found() -> Said:
            rows = asked.rows()
            return Said(
                np.array([row[0] for row in rows], np.int64),
                np.array([row[3] for row in rows], np.float64),
                {row[0]: row[1] for row in rows if row[1]},
                {row[0]: row[2] for row in rows if row[2]},
            )

        return found

    def containing(self, kind: Embedded, text: str, limit: int) -> list[int]:
        tables = TABLES[kind]
        rows = self.tx.rows(
            f"SELECT m.id FROM {tables.source} AS m WHERE strpos({tables.text}, %s) > 0 ORDER BY m.id DESC LIMIT %s",
            (text, limit),
        )
        return [id for (id,) in rows]

    def _first_passing(self, kind: Embedded, ids: NDArray[np.int64], wanted: Wanted, limit: int) -> list[int]:
        """The first texts that a filter lets pass, at most `limit`. Few are asked for at first, then ever more."""
        found: list[int] = []
        start, size = 0, 4 * limit
        while start < len(ids) and len(found) < limit:
            some = ids[start : start + size].tolist()
            there = self.passing(kind, some, wanted)
            found += [id for id in some if parts.memory_of(id) in there]
            start, size = start + size, 4 * size
        return found[:limit]

    def passing(self, kind: Embedded, ids: Sequence[int], wanted: Wanted) -> set[int]:
        return set(self.ask_passing(kind, "%s", [[parts.memory_of(id) for id in ids]], wanted)())

    def ask_passing(
        self, kind: Embedded, these: str, values: Sequence[Value], wanted: Wanted
    ) -> Callable[[], list[int]]:
        """The ids that a filter lets pass, among those that an expression gives: asked for, not waited for."""
        clauses, more = filters.conditions(wanted, self.tx.now)
        asked = self.tx.ask(
            f"""
            SELECT m.id
            FROM {TABLES[kind].source} AS m
            WHERE {" AND ".join([f"m.id = ANY ({these}::bigint[])", *clauses])}
            """,
            (*values, *more),
        )
        return lambda: [id for (id,) in asked.rows()]

    def ask_vectors(
        self, kind: Embedded, space_id: int, dimensions: int, these: str, values: Sequence[Value]
    ) -> "Callable[[NDArray[np.int64]], list[NDArray[np.float32]]]":
        """The vectors of the texts that an expression gives: asked for, not waited for. The result takes ids and gives
        the vectors in their order: see `storage.candidates.Surroundings.vectors`."""
        tables = TABLES[kind]
        asked = []
        for table in tables.embedded.values():
            sources = [(table, tables.id)]
            if kind is Embedded.MEMORIES:
                sources.append(("part_embeddings", "part_id"))
            asked.append(
                [
                    self.tx.ask(
                        f"""
                        SELECT array_agg({id} ORDER BY {id}), string_agg(vector_send(vector), '' ORDER BY {id})
                        FROM {source}
                        WHERE space_id = %s AND {id} = ANY ({these}::bigint[]) AND vector_dims(vector) = %s
                        """,
                        (space_id, *values, dimensions),
                        binary=True,
                    )
                    for source, id in sources
                ]
            )
        return lambda ids: [
            _placed(ids, [each.rows()[0] for each in answers], dimensions) for answers in asked
        ]


def _around(candidates: Candidates, proposal: Proposal, reach: int) -> Surroundings:
    """Each statement finds the ids of the one before it in a setting of the transaction: so none waits."""
    tx, wanted = candidates.tx, proposal.wanted
    chosen = surroundings.ask_chosen(tx, proposal)
    lines = surroundings.ask_lines(tx, TABLES[proposal.kind].source, reach)
    these = surroundings.AROUND
    whole = f"ARRAY(SELECT DISTINCT each & {parts.WHOLE} FROM unnest({these}::bigint[]) AS each)"
    passing = None if wanted == Filter() else candidates.ask_passing(proposal.kind, whole, [], wanted)
    said = candidates.ask_said(proposal.kind, these, ())
    vectors = None
    if proposal.dimensions:
        vectors = candidates.ask_vectors(proposal.kind, proposal.space_id, proposal.dimensions, these, ())
    held = candidates.ask_others(proposal.terms, proposal.held, whole, [])
    of_lists = chosen()
    proposed = dict.fromkeys([id for each in [*of_lists, proposal.also] for id in each])
    return Surroundings(
        list(proposed),
        lines(),
        list(map(len, of_lists)),
        None if passing is None else np.array(passing(), np.int64),
        said(),
        vectors,
        held(),
    )


def _holding(index: str, among: str, passing: str) -> str:
    """A statement for the rows of a word index that hold each term and pass, whether the project is small, and the
    totals of the index. `among` joins what the clause `passing` reads."""
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
            {among}
            GROUP BY t.number
        )
        SELECT
            coalesce(total.texts, 0), coalesce(total.terms, 0), (SELECT yes FROM small),
            held.number, held.everywhere, held.ids, held.times, held.lengths
        FROM (SELECT) AS one
        LEFT JOIN word_totals AS total ON total.name = %s
        LEFT JOIN held ON true
    """


def _bm25(
    held: NDArray[np.int64], lengths: NDArray[np.int64], holding: int, texts: int, all_terms: int
) -> NDArray[np.float64]:
    """What FTS5's `bm25()` gives for one phrase, to the last digit: sqlite.org/fts5.html#the_bm25_function."""
    rarity, average = ranking.fts5_idf(holding, texts), all_terms / texts
    times = held.astype(np.float64)
    scores: NDArray[np.float64] = rarity * (
        times * (K1 + 1.0) / (times + K1 * (1 - B + B * lengths / average))
    )
    return scores


def _placed(
    ids: NDArray[np.int64], found: Sequence[tuple[list[int] | None, bytes | None]], dimensions: int
) -> NDArray[np.float32]:
    """The vectors that were found, in the order of the ids; zeros where there is none, and one row of zeros more."""
    placed = np.zeros((len(ids) + 1, dimensions), np.float32)
    for there, sent in found:
        if there and sent and len(ids):
            places = np.minimum(np.searchsorted(ids, there), len(ids) - 1)
            asked = ids[places] == there
            placed[places[asked]] = from_bytes(sent, dimensions)[asked]
    return placed
