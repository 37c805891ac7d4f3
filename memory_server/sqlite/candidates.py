"""The reads of a search in the file: the texts that hold its words, their neighbours in a session, and their vectors.

All kinds are searched in the same way; an id is a rowid of the word index, which parts of long memories have too.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from memory_server.domain import parts
from memory_server.domain.embedding import Embedded
from memory_server.domain.memory import Filter, Memory, MemoryId
from memory_server.sqlite import filters, sign_bits
from memory_server.sqlite.tx import Tx, Value
from memory_server.sqlite.words import quoted
from memory_server.storage.candidates import Posting, Postings, Proposal, Utterances, first_passing, lines
from memory_server.storage.tables.memories import Memories
from memory_server.storage.tables.memory_counts import MemoryCounts
from memory_server.storage.vectors import TABLES, TextFilter

MOST_ROWS = 20_000
"""Rows of one term that are read, the newest: 20 ms. A word that more texts hold decides little."""

SMALL = 20_000
"""Memories of the largest project whose words are looked for among them alone: to look through the index for them takes
0.1 µs for each row that holds a term, to score one of theirs 3 µs."""


def _placed(ids: NDArray[np.int64], rows: list[tuple[int, bytes]], dimensions: int) -> NDArray[np.float32]:
    """Return the vectors of rows (id, bytes) in the order of `ids`, which ascend; shape (ids + 1, dimensions).

    A row is zeros where the id has no vector or a damaged one, and so is the last row.
    """
    rows = [row for row in rows if len(row[1]) == 4 * dimensions]
    placed = np.zeros((len(ids) + 1, dimensions), np.float32)
    if rows:
        places = np.searchsorted(ids, [id for id, _ in rows])
        placed[places] = np.frombuffer(b"".join([blob for _, blob in rows]), "<f4").reshape(-1, dimensions)
        placed[~np.isfinite(placed.sum(axis=1))] = 0.0
    return placed


@dataclass(frozen=True, slots=True)
class Candidates:
    """The table of `tx.candidates`: see `storage.candidates.Candidates`."""

    tx: Tx

    def count(self, kind: Embedded) -> int:
        """Count the texts in the word index of a kind, whoever searches: the index weighs its words by that."""
        if kind is Embedded.MEMORIES and self.tx.person is None:  # to count the rows of a million takes 4 ms
            return MemoryCounts(self.tx).total() + int(self.tx.value("SELECT count(*) FROM memory_parts"))
        return int(self.tx.value(f"SELECT count(*) FROM {TABLES[kind].words}_docsize"))

    def postings(self, kind: Embedded, terms: Sequence[str], filter: TextFilter) -> Postings:
        texts = self.count(kind)
        if not texts:
            return Postings(0, [Posting(np.zeros(0, np.int64), np.zeros(0), 0) for _ in terms], None)
        project = self._small_project(kind, filter)
        if project is not None:
            return Postings(texts, self.of_project(terms, project), project)
        return Postings(texts, [self.posting(kind, term) for term in terms], None)

    def _small_project(self, kind: Embedded, filter: TextFilter) -> str | None:
        if kind is not Embedded.MEMORIES or not isinstance(filter, Filter) or filter.project is None:
            return None
        return filter.project if MemoryCounts(self.tx).total(filter.project) <= SMALL else None

    def of_project(self, terms: Sequence[str], project: str) -> list[Posting]:
        """Return for each term the texts of a project's memories that hold it."""
        counts = self.tx.rows(
            """
            SELECT (SELECT count(*) FROM memory_words WHERE memory_words MATCH terms.value)
            FROM json_each(?) AS terms
            """,
            (json.dumps(list(map(quoted, terms))),),
        )
        everywhere = [int(number) for (number,) in counts]
        return self._within(terms, everywhere, "SELECT id FROM memories WHERE project IS ?", project or None)

    def extended(self, terms: Sequence[str], postings: Postings, ids: NDArray[np.int64]) -> Postings:
        """Add to the postings of a small project the texts `ids` of other projects' memories that hold a term."""
        if postings.project is None or not postings.postings:
            return postings
        memory_ids = np.unique(ids & parts.WHOLE)
        of_project = self.lets_pass(Embedded.MEMORIES, memory_ids, Filter(project=postings.project))
        foreign_ids = memory_ids[~of_project].tolist()
        if not foreign_ids:
            return postings
        everywhere = [posting.everywhere for posting in postings.postings]
        foreign = self._within(terms, everywhere, "SELECT value FROM json_each(?)", json.dumps(foreign_ids))
        return postings.joined(foreign)

    def _within(
        self, terms: Sequence[str], everywhere: Sequence[int], memories: str, value: Value
    ) -> list[Posting]:
        """Return for each term the texts of some memories that hold it, parts of long memories too.

        `everywhere` counts the texts of the index that hold each term; `memories` selects ids of memories by `value`.
        """
        counted_terms = json.dumps(
            [(quoted(term), count) for term, count in zip(terms, everywhere, strict=True)]
        )
        rows = self.tx.rows(
            f"""
            SELECT terms.key, w.rowid, bm25_of(memory_words, terms.value ->> 1)
            FROM json_each(?) AS terms
            CROSS JOIN memory_words AS w
            WHERE memory_words MATCH terms.value ->> 0 AND (w.rowid & ?) IN ({memories})
            """,
            (counted_terms, parts.WHOLE, value),
        )
        places_and_ids = np.array([(row[0], row[1]) for row in rows], np.int64).reshape(len(rows), 2)
        scores = np.array([row[2] for row in rows], np.float64)
        of_terms = [places_and_ids[:, 0] == place for place in range(len(terms))]
        return [
            Posting(places_and_ids[of_term, 1], scores[of_term], count)
            for of_term, count in zip(of_terms, everywhere, strict=True)
        ]

    def posting(self, kind: Embedded, term: str) -> Posting:
        """Return the newest texts that hold a term, of those that the person sees."""
        index = TABLES[kind].words
        visible = self.tx.seen(TABLES[kind].source, f"{index}.rowid & {parts.WHOLE}")
        rows = self.tx.connection.execute(
            f"""
            SELECT rowid, -bm25({index})
            FROM {index}
            WHERE {index} MATCH ? {visible}
            ORDER BY rowid DESC
            LIMIT ?
            """,
            (quoted(term), MOST_ROWS),
        )
        # Number by number: a list of so many rows takes as long again, and 3 MB. Shape (texts, 2): id and score.
        pairs = np.fromiter(chain.from_iterable(rows), np.float64).reshape(-1, 2)[::-1]
        everywhere = len(pairs)
        if everywhere == MOST_ROWS or visible:
            everywhere = int(
                self.tx.value(f"SELECT count(*) FROM {index} WHERE {index} MATCH ?", (quoted(term),))
            )
        return Posting(pairs[:, 0].astype(np.int64), pairs[:, 1], everywhere)

    def surroundings(self, proposal: Proposal, reach: int) -> "ProposedTexts":
        kind, filter, space_id = proposal.kind, proposal.filter, proposal.space_id
        proposed: dict[int, object] = {}
        for ids in proposal.lists:
            proposed |= dict.fromkeys(self.first_passing(kind, ids, filter, proposal.most, space_id))
        proposed |= dict.fromkeys(proposal.also)
        return ProposedTexts(self, proposal, list(proposed), self.around(kind, proposed, reach))

    def around(self, kind: Embedded, ids: Iterable[int], reach: int) -> NDArray[np.int64]:
        """Return the lines of these texts: see `storage.candidates.ProposedTexts.lines`."""
        source = TABLES[kind].source

        def side(sign: str, direction: str) -> str:
            return f"""(
                SELECT group_concat(id) FROM (
                    SELECT id FROM {source}
                    WHERE session = here.session AND id {sign} here.id
                    ORDER BY id {direction} LIMIT ?
                )
            )"""

        rows = self.tx.rows(
            f"""
            SELECT here.id, {side("<", "DESC")}, {side(">", "ASC")}
            FROM {source} AS here
            WHERE here.id IN (SELECT value FROM json_each(?)) AND here.session IS NOT NULL
            """,
            (reach, reach, json.dumps([id for id in ids if not parts.number_of(id)])),
        )
        return lines([(id, _numbers(before), _numbers(after)) for id, before, after in rows], reach)

    def utterances(self, kind: Embedded, ids: Sequence[int]) -> Utterances:
        tables = TABLES[kind]
        rows = self.tx.rows(
            f"""
            SELECT id,
                iif(instr(start, ':') OR instr(start, '：'), lower(start), ''),
                iif(instr("end", '?') OR instr("end", '？'), "end", ''),
                seconds
            FROM (
                SELECT m.id, substr({tables.text}, 1, 40) AS start, substr({tables.text}, -3) AS "end",
                    86400 * ifnull(julianday({tables.moment}), 0) AS seconds
                FROM {tables.source} AS m
                WHERE m.id IN (SELECT value FROM json_each(?))
            )
            ORDER BY id
            """,
            (json.dumps(ids),),
        )
        return Utterances.of_rows(rows)

    def containing(self, kind: Embedded, text: str, limit: int) -> list[int]:
        tables = TABLES[kind]
        rows = self.tx.rows(
            f"SELECT m.id FROM {tables.source} AS m WHERE instr({tables.text}, ?) > 0 ORDER BY m.id DESC LIMIT ?",
            (text, limit),
        )
        return [id for (id,) in rows]

    def lets_pass(
        self,
        kind: Embedded,
        ids: NDArray[np.int64],
        filter: TextFilter,
        space_id: int = 0,
    ) -> NDArray[np.bool_]:
        """Return true for each text whose memory (or turn, or fact) a filter lets pass; shape and order of `ids`.

        `space_id` is the space of the question, 0 without meaning: the copy of its sign bits may decide without a read.
        """
        if filter == Filter():
            return np.ones(len(ids), bool)
        memory_ids = ids & parts.WHOLE
        decided = None
        copies = sign_bits.copy_of(self.tx) if space_id else None
        if copies is not None and isinstance(filter, Filter) and kind is Embedded.MEMORIES:
            decided = copies.passing(self.tx, space_id, memory_ids, filter)
        passes, undecided = decided or (np.zeros(len(ids), bool), np.ones(len(ids), bool))
        if undecided.any():
            undecided_ids = memory_ids[undecided].tolist()
            passing_ids = self.passing(kind, undecided_ids, filter)
            passes[undecided] = [id in passing_ids for id in undecided_ids]
        return passes

    def first_passing(
        self,
        kind: Embedded,
        ids: NDArray[np.int64],
        filter: TextFilter,
        limit: int,
        space_id: int = 0,
    ) -> list[int]:
        """Return the first `limit` texts that a filter lets pass."""
        return first_passing(ids, limit, lambda batch: self.lets_pass(kind, batch, filter, space_id))

    def newest(self, filter: Filter, limit: int, offset: int) -> list[Memory]:
        clauses, values = filters.conditions(filter, self.tx.now)
        rows = self.tx.rows(
            f"""
            SELECT m.id
            FROM memories AS m
            WHERE {" AND ".join(["1", *clauses])}
            ORDER BY julianday(ifnull(m.occurred_at, m.created_at)) DESC, m.id DESC
            LIMIT ? OFFSET ?
            """,
            (*values, limit, offset),
        )
        return Memories(self.tx).select([MemoryId(id) for (id,) in rows])

    def passing(self, kind: Embedded, ids: Sequence[int], filter: TextFilter) -> set[int]:
        clauses, values = filters.conditions(filter, self.tx.now)
        rows = self.tx.rows(
            f"""
            SELECT m.id
            FROM {TABLES[kind].source} AS m
            WHERE {" AND ".join(["m.id IN (SELECT value FROM json_each(?))", *clauses])}
            """,
            (json.dumps([parts.memory_of(id) for id in ids]), *values),
        )
        return {id for (id,) in rows}

    def vectors(
        self,
        kind: Embedded,
        space_id: int,
        ids: NDArray[np.int64],
        dimensions: int,
        readable: NDArray[np.bool_] | None = None,
    ) -> list[NDArray[np.float32]]:
        """Return the vectors of these texts: see `storage.candidates.ProposedTexts.vectors`."""
        read = ids if readable is None else ids[readable]
        return [
            _placed(ids, self._vectors(kind, table, space_id, read), dimensions)
            for table in TABLES[kind].embedded.values()
        ]

    def _vectors(
        self, kind: Embedded, table: str, space_id: int, ids: NDArray[np.int64]
    ) -> list[tuple[int, bytes]]:
        """Return ids and bytes of vectors. Those of parts of long memories stand in a table of their own."""
        are_parts = ids >= 1 << parts.NUMBERED
        vectors: list[tuple[int, bytes]] = []
        for source, id, read in (
            (table, TABLES[kind].id, ids[~are_parts]),
            ("part_embeddings", "part_id", ids[are_parts]),
        ):
            if len(read):
                vectors += self.tx.rows(
                    f"""
                    SELECT {id}, vector FROM {source}
                    WHERE space_id = ? AND {id} IN (SELECT value FROM json_each(?))
                    """,
                    (space_id, json.dumps(read.tolist())),
                )
        return vectors


@dataclass(frozen=True, slots=True)
class ProposedTexts:
    """The proposed texts with their neighbours; filter, utterances and vectors are read when a method is called."""

    candidates: Candidates
    proposal: Proposal
    proposed: Sequence[int]
    lines: NDArray[np.int64]

    def lets_pass(self, ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        proposal = self.proposal
        return self.candidates.lets_pass(proposal.kind, ids, proposal.filter, proposal.space_id)

    def utterances(self, ids: NDArray[np.int64]) -> Utterances:
        return self.candidates.utterances(self.proposal.kind, ids[ids < 1 << parts.NUMBERED].tolist())

    def vectors(
        self, ids: NDArray[np.int64], readable: NDArray[np.bool_] | None = None
    ) -> list[NDArray[np.float32]]:
        proposal = self.proposal
        return self.candidates.vectors(proposal.kind, proposal.space_id, ids, proposal.dimensions, readable)

    def postings_with(self, ids: NDArray[np.int64]) -> Postings:
        return self.candidates.extended(self.proposal.terms, self.proposal.postings, ids)


def _numbers(listed: str | None) -> list[int]:
    return list(map(int, listed.split(","))) if listed else []
