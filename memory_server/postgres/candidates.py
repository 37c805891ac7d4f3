"""What a search reads: which texts hold its words, what stands beside them, and their vectors.

All kinds are searched in the same way; an id is one of the word index, also of a part of a long memory.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memory_server.domain import parts, ranking
from memory_server.domain.embedding import Embedded
from memory_server.domain.memory import Filter
from memory_server.domain.ranking import K1, B
from memory_server.postgres import filters, terms
from memory_server.postgres.embedded import TABLES, from_bytes
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

    def count(self, kind: Embedded) -> int:
        return int(
            self.tx.value(
                "SELECT coalesce(sum(texts), 0) FROM word_totals WHERE name = %s", (TABLES[kind].words,)
            )
        )

    def held(self, kind: Embedded, terms: Sequence[str], wanted: Wanted) -> Held:
        project = wanted.project if kind is Embedded.MEMORIES and isinstance(wanted, Filter) else None
        if project is None:
            return self._held(kind, terms, None, "true", [])()
        clauses, values = filters.memories(Filter(project=project))
        return self._held(kind, terms, project, " AND ".join(clauses), values)()

    def posting(self, kind: Embedded, term: str) -> Posting:
        return self._held(kind, [term], None, "true", [])().postings[0]

    def with_others(self, terms: Sequence[str], held: Held, ids: NDArray[np.int64]) -> Held:
        return self.ask_others(terms, held, "%s::bigint[]", [np.unique(ids & parts.WHOLE).tolist()])()

    def ask_others(
        self, terms: Sequence[str], held: Held, whole: str, values: Sequence[Value]
    ) -> Callable[[], Held]:
        """The same of the memories that an expression gives, asked for and not waited for."""
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
            f"""
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
                CROSS JOIN LATERAL {tables.words}_holding(
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
            """,
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

    def surroundings(self, proposal: Proposal, reach: int) -> "Surroundings":
        rest = [each[LOOKED_AT:] for each in proposal.lists]
        looked = replace(proposal, lists=[each[:LOOKED_AT] for each in proposal.lists])
        found = _around(self, looked, reach)
        missing = [
            self.first_passing(proposal.kind, ids, proposal.wanted, proposal.most - number)
            for ids, number in zip(rest, found.numbers, strict=True)
            if len(ids) and number < proposal.most
        ]
        if not any(missing):
            return found
        also = [*found.proposed, *(id for ids in missing for id in ids)]
        return _around(self, replace(proposal, lists=(), also=also), reach)

    def around(self, kind: Embedded, ids: Iterable[int], reach: int) -> NDArray[np.int64]:
        source = TABLES[kind].source
        rows = self.tx.rows(
            f"""
            SELECT
                here.id,
                ARRAY(
                    SELECT id FROM {source}
                    WHERE session = here.session AND id < here.id
                    ORDER BY id DESC LIMIT %s
                ),
                ARRAY(
                    SELECT id FROM {source}
                    WHERE session = here.session AND id > here.id
                    ORDER BY id LIMIT %s
                )
            FROM {source} AS here
            WHERE here.id = ANY (%s::bigint[]) AND here.session IS NOT NULL
            ORDER BY here.id
            """,
            (reach, reach, [id for id in ids if not parts.number_of(id)]),
        )
        return _lines(rows, reach)

    def said(self, kind: Embedded, ids: Sequence[int]) -> Said:
        return self.ask_said(kind, "%s", [list(ids)])()

    def ask_said(self, kind: Embedded, these: str, values: Sequence[Value]) -> Callable[[], Said]:
        """The same of the ids that an expression gives, asked for and not waited for."""
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

    def lets_pass(
        self,
        kind: Embedded,
        ids: NDArray[np.int64],
        wanted: Wanted,
        space_id: int = 0,  # noqa: ARG002 - SQLite keeps more beside its vectors
    ) -> NDArray[np.bool_]:
        if wanted == Filter() or not len(ids):
            return np.ones(len(ids), bool)
        whole = (ids & parts.WHOLE).tolist()
        there = self.passing(kind, whole, wanted)
        return np.array([id in there for id in whole])

    def first_passing(
        self,
        kind: Embedded,
        ids: NDArray[np.int64],
        wanted: Wanted,
        limit: int,
        space_id: int = 0,
    ) -> list[int]:
        found: list[int] = []
        start, size = 0, 4 * limit
        while start < len(ids) and len(found) < limit:
            some = ids[start : start + size]
            found += some[self.lets_pass(kind, some, wanted, space_id)].tolist()
            start, size = start + size, 4 * size
        return found[:limit]

    def passing(self, kind: Embedded, ids: Sequence[int], wanted: Wanted) -> set[int]:
        clauses, values = filters.conditions(wanted, self.tx.now)
        rows = self.tx.rows(
            f"""
            SELECT m.id
            FROM {TABLES[kind].source} AS m
            WHERE {" AND ".join(["m.id = ANY (%s::bigint[])", *clauses])}
            """,
            ([parts.memory_of(id) for id in ids], *values),
        )
        return {id for (id,) in rows}

    def vectors(
        self,
        kind: Embedded,
        space_id: int,
        ids: NDArray[np.int64],
        dimensions: int,
        wanted: NDArray[np.bool_] | None = None,
    ) -> list[NDArray[np.float32]]:
        read = (ids if wanted is None else ids[wanted]).tolist()
        return self.ask_vectors(kind, space_id, dimensions, "%s", [read])(ids)

    def ask_vectors(
        self, kind: Embedded, space_id: int, dimensions: int, these: str, values: Sequence[Value]
    ) -> "Callable[[NDArray[np.int64]], list[NDArray[np.float32]]]":
        """The same of the ids that an expression gives, asked for and not waited for; then placed beside ids."""
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


def _around(candidates: Candidates, proposal: Proposal, reach: int) -> "Surroundings":
    """Each statement finds the ids of the one before it in a setting of the transaction: so none waits."""
    tx, tables = candidates.tx, TABLES[proposal.kind]
    clauses, values = filters.conditions(proposal.wanted, tx.now)
    asks_all = proposal.wanted == Filter()
    passes = (
        f"EXISTS (SELECT 1 FROM {tables.source} AS m WHERE {' AND '.join([f'm.id = o.id & {parts.WHOLE}', *clauses])})"
        if not asks_all
        else "true"
    )
    chosen = [
        f"""
        ARRAY(
            SELECT o.id
            FROM unnest(%s::bigint[]) WITH ORDINALITY AS o (id, place)
            WHERE {passes}
            ORDER BY o.place
            LIMIT %s
        ) AS list{number}
        """
        for number in range(len(proposal.lists))
    ]
    names = [f"list{number}" for number in range(len(proposal.lists))]
    asked = tx.ask(
        f"""
        SELECT {", ".join([*names, f"set_config('memory.proposed', ({' || '.join([*names, 'also'])})::text, true)"])}
        FROM (SELECT {", ".join([*chosen, "%s::bigint[] AS also"])} OFFSET 0) AS chosen
        """,
        (
            *(
                value
                for ids in proposal.lists
                for value in (ids.tolist(), *(() if asks_all else values), proposal.most)
            ),
            list(proposal.also),
        ),
    )
    lines = tx.ask(
        f"""
        WITH lines AS MATERIALIZED (
            SELECT
                here.id,
                ARRAY(
                    SELECT id FROM {tables.source}
                    WHERE session = here.session AND id < here.id
                    ORDER BY id DESC LIMIT %(reach)s
                ) AS before,
                ARRAY(
                    SELECT id FROM {tables.source}
                    WHERE session = here.session AND id > here.id
                    ORDER BY id LIMIT %(reach)s
                ) AS after
            FROM {tables.source} AS here
            WHERE here.id = ANY (current_setting('memory.proposed')::bigint[]) AND here.session IS NOT NULL
        )
        SELECT id, before, after, NULL FROM lines
        UNION ALL
        SELECT 0, '{{}}', '{{}}', set_config('memory.around', ARRAY(
            SELECT unnest(current_setting('memory.proposed')::bigint[])
            UNION
            SELECT unnest(before || after) FROM lines
        )::text, true)
        """,
        {"reach": reach},
    )
    these = "current_setting('memory.around')"
    whole = f"ARRAY(SELECT DISTINCT each & {parts.WHOLE} FROM unnest({these}::bigint[]) AS each)"
    passing = None
    if not asks_all:
        passing = tx.ask(
            f"SELECT m.id FROM {tables.source} AS m WHERE {' AND '.join([f'm.id = ANY ({whole})', *clauses])}",
            values,
        )
    said = candidates.ask_said(proposal.kind, these, ())
    vectors = None
    if proposal.dimensions:
        vectors = candidates.ask_vectors(proposal.kind, proposal.space_id, proposal.dimensions, these, ())
    held = candidates.ask_others(proposal.terms, proposal.held, whole, [])
    *of_lists, _ = asked.rows()[0]
    proposed = dict.fromkeys([id for each in of_lists for id in each])
    proposed |= dict.fromkeys(proposal.also)
    rows = sorted(row[:3] for row in lines.rows() if row[0])
    return Surroundings(
        list(proposed),
        _lines(rows, reach),
        list(map(len, of_lists)),
        None if passing is None else np.array([id for (id,) in passing.rows()], np.int64),
        said(),
        vectors,
        held(),
    )


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is proposed, and what was said before and after it, with all that is told of it. `numbers` are those that
    each list proposes."""

    proposed: Sequence[int]
    lines: NDArray[np.int64]
    numbers: Sequence[int]
    _passing: NDArray[np.int64] | None
    _said: Said
    _vectors: "Callable[[NDArray[np.int64]], list[NDArray[np.float32]]] | None"
    _held: Held

    def lets_pass(self, ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.ones(len(ids), bool) if self._passing is None else np.isin(ids & parts.WHOLE, self._passing)

    def said(self, ids: NDArray[np.int64]) -> Said:
        these = np.isin(self._said.ids, ids)
        asked = set(ids.tolist())
        return Said(
            self._said.ids[these],
            self._said.seconds[these],
            {id: start for id, start in self._said.starts.items() if id in asked},
            {id: end for id, end in self._said.ends.items() if id in asked},
        )

    def vectors(
        self, ids: NDArray[np.int64], wanted: NDArray[np.bool_] | None = None
    ) -> list[NDArray[np.float32]]:
        found = [] if self._vectors is None else self._vectors(ids)
        if wanted is not None:
            for each in found:
                each[:-1][~wanted] = 0.0
        return found

    def reached(self, ids: NDArray[np.int64]) -> Held:  # noqa: ARG002 - all of them are there
        return self._held


def _lines(rows: Sequence[tuple[int, list[int], list[int]]], reach: int) -> NDArray[np.int64]:
    """A text each, with those before and after it, and 0 where there is none."""
    found = np.zeros((len(rows), 2 * reach + 1), np.int64)
    for line, (id, before, after) in zip(found, rows, strict=True):
        line[reach] = id
        line[reach - len(before) : reach] = before[::-1]
        line[reach + 1 : reach + 1 + len(after)] = after
    return found


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
