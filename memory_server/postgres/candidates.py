"""The reads of a search: the texts that hold its words, their neighbours in a session, and their vectors.

All kinds are searched in the same way; an id is one of the word index, which parts of long memories have too. A method
`ask_…` sends its statement and does not wait: the function that it returns waits for the answer and reads it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memory_server.domain import parts
from memory_server.domain.embedding import Embedded
from memory_server.domain.memory import Filter, Memory
from memory_server.postgres import filters, surroundings
from memory_server.postgres.embedded import DAY, from_bytes
from memory_server.postgres.postings import ask_extended, ask_postings
from memory_server.postgres.surroundings import ProposedTexts
from memory_server.postgres.tx import Tx, Value
from memory_server.storage import memory_rows
from memory_server.storage.candidates import Postings, Proposal, Utterances, first_passing
from memory_server.storage.vectors import TABLES, TextFilter

LOOKED_AT = 4_000
"""Best texts of each proposed list that are sent at first to be filtered; the others are seldom needed."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """The table of `tx.candidates`: see `storage.candidates.Candidates`."""

    tx: Tx

    def postings(self, kind: Embedded, terms: Sequence[str], filter: TextFilter) -> Postings:
        project = filter.project if kind is Embedded.MEMORIES and isinstance(filter, Filter) else None
        if project is None:
            return ask_postings(self.tx, kind, terms, None, "true", [], has_kind=_has_kind(filter))()
        clauses, values = filters.memories(Filter(project=project))
        return ask_postings(self.tx, kind, terms, project, " AND ".join(clauses), values)()

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
    postings = ask_extended(tx, proposal.terms, proposal.postings, memory_ids)
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
