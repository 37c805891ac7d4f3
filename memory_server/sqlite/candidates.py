"""What a search reads of the file: which texts hold its words, what stands beside them, and their vectors.

All kinds are searched in the same way; an id is a rowid of the word index, also of a part of a long memory.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from memory_server.domain import parts
from memory_server.domain.embedding import Embedded
from memory_server.domain.memory import Filter
from memory_server.sqlite import sign_bits
from memory_server.sqlite.embeddings import TABLES, conditions
from memory_server.sqlite.memory_counts import MemoryCounts
from memory_server.sqlite.tx import Tx, Value
from memory_server.sqlite.words import quoted
from memory_server.storage.candidates import Held, Posting, Proposal, Said
from memory_server.storage.vectors import Wanted

MOST_ROWS = 20_000
"""Rows of one term that are read, the newest: 20 ms. A word that more texts hold decides little."""

SMALL = 20_000
"""Memories of the largest project whose words are looked for among them alone: to look through the index for them takes
0.1 µs for each row that holds a term, to score one of theirs 3 µs."""


def _placed(ids: NDArray[np.int64], rows: list[tuple[int, bytes]], dimensions: int) -> NDArray[np.float32]:
    rows = [row for row in rows if len(row[1]) == 4 * dimensions]
    found = np.zeros((len(ids) + 1, dimensions), np.float32)
    if rows:
        places = np.searchsorted(ids, [id for id, _ in rows])
        found[places] = np.frombuffer(b"".join([blob for _, blob in rows]), "<f4").reshape(-1, dimensions)
        found[~np.isfinite(found.sum(axis=1))] = 0.0
    return found


@dataclass(frozen=True, slots=True)
class Candidates:
    """What a search reads of the file: which texts hold its words, what stands beside them, and their vectors."""

    tx: Tx

    def count(self, kind: Embedded) -> int:
        """How many texts the word index of a kind has, whoever asks: the index weighs its words by that."""
        if kind is Embedded.MEMORIES and self.tx.person is None:  # to count the rows of a million takes 4 ms
            return MemoryCounts(self.tx).total() + int(self.tx.value("SELECT count(*) FROM memory_parts"))
        return int(self.tx.value(f"SELECT count(*) FROM {TABLES[kind].words}_docsize"))

    def held(self, kind: Embedded, terms: Sequence[str], wanted: Wanted) -> Held:
        texts, project = self.count(kind), self._small_project(kind, wanted)
        if project is not None:
            return Held(texts, self.of_project(terms, project), project)
        return Held(texts, [self.posting(kind, term) for term in terms], None)

    def _small_project(self, kind: Embedded, wanted: Wanted) -> str | None:
        if kind is not Embedded.MEMORIES or not isinstance(wanted, Filter) or wanted.project is None:
            return None
        return wanted.project if MemoryCounts(self.tx).total(wanted.project) <= SMALL else None

    def of_project(self, terms: Sequence[str], project: str) -> list[Posting]:
        """For each term the rows of the memories of a project that hold it."""
        counts = self.tx.rows(
            """
            SELECT (SELECT count(*) FROM memory_words WHERE memory_words MATCH terms.value)
            FROM json_each(?) AS terms
            """,
            (json.dumps(list(map(quoted, terms))),),
        )
        holding = [int(number) for (number,) in counts]
        return self._within(terms, holding, "SELECT id FROM memories WHERE project IS ?", project or None)

    def with_others(self, terms: Sequence[str], held: Held, ids: NDArray[np.int64]) -> Held:
        """The postings of terms in a small project, and what those of these memories have that are not of it."""
        if held.project is None or not held.postings:
            return held
        whole = np.unique(ids & parts.WHOLE)
        own = Filter(project=held.project)
        others = whole[~self.lets_pass(Embedded.MEMORIES, whole, own)].tolist()
        if not others:
            return held
        holding = [each.everywhere for each in held.postings]
        found = self._within(terms, holding, "SELECT value FROM json_each(?)", json.dumps(others))
        joined = []
        for one, other in zip(held.postings, found, strict=True):
            every, scores = np.concatenate([one.ids, other.ids]), np.concatenate([one.scores, other.scores])
            order = np.argsort(every)
            joined.append(Posting(every[order], scores[order], one.everywhere))
        return replace(held, postings=joined)

    def _within(
        self, terms: Sequence[str], holding: Sequence[int], memories: str, value: Value
    ) -> list[Posting]:
        """For each term the rows of some memories that hold it, also parts of long memories, with their scores.

        `holding` says how many texts hold each term.
        """
        asked = json.dumps([(quoted(term), number) for term, number in zip(terms, holding, strict=True)])
        rows = self.tx.rows(
            f"""
            SELECT terms.key, w.rowid, bm25_of(memory_words, terms.value ->> 1)
            FROM json_each(?) AS terms
            CROSS JOIN memory_words AS w
            WHERE memory_words MATCH terms.value ->> 0 AND (w.rowid & ?) IN ({memories})
            """,
            (asked, parts.WHOLE, value),
        )
        ids = np.array([(row[0], row[1]) for row in rows], np.int64).reshape(len(rows), 2)
        scores = np.array([row[2] for row in rows], np.float64)
        of_term = [ids[:, 0] == number for number in range(len(terms))]
        return [
            Posting(ids[these, 1], scores[these], number)
            for these, number in zip(of_term, holding, strict=True)
        ]

    def posting(self, kind: Embedded, term: str) -> Posting:
        """The newest texts that hold a term, of those that the person sees."""
        index = TABLES[kind].words
        seen = self.tx.seen(TABLES[kind].source, f"{index}.rowid & {parts.WHOLE}")
        rows = self.tx.connection.execute(
            f"""
            SELECT rowid, -bm25({index})
            FROM {index}
            WHERE {index} MATCH ? {seen}
            ORDER BY rowid DESC
            LIMIT ?
            """,
            (quoted(term), MOST_ROWS),
        )
        # Number by number: a list of so many rows takes as long again, and 3 MB.
        found = np.fromiter(chain.from_iterable(rows), np.float64).reshape(-1, 2)[::-1]
        everywhere = len(found)
        if everywhere == MOST_ROWS or seen:
            everywhere = int(
                self.tx.value(f"SELECT count(*) FROM {index} WHERE {index} MATCH ?", (quoted(term),))
            )
        return Posting(found[:, 0].astype(np.int64), found[:, 1], everywhere)

    def surroundings(self, proposal: Proposal, reach: int) -> "Surroundings":
        kind, wanted, space_id = proposal.kind, proposal.wanted, proposal.space_id
        found: dict[int, object] = {}
        for ids in proposal.lists:
            found |= dict.fromkeys(self.first_passing(kind, ids, wanted, proposal.most, space_id))
        found |= dict.fromkeys(proposal.also)
        return Surroundings(self, proposal, list(found), self.around(kind, found, reach))

    def around(self, kind: Embedded, ids: Iterable[int], reach: int) -> NDArray[np.int64]:
        """The lines of these texts: see `storage.candidates.Surroundings.lines`."""
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
        found = np.zeros((len(rows), 2 * reach + 1), np.int64)
        for line, (id, before, after) in zip(found, rows, strict=True):
            line[reach] = id
            if before:
                earlier = before.split(",")[::-1]
                line[reach - len(earlier) : reach] = earlier
            if after:
                later = after.split(",")
                line[reach + 1 : reach + 1 + len(later)] = later
        return found

    def said(self, kind: Embedded, ids: Sequence[int]) -> Said:
        """How these texts begin and end, and when they were said."""
        tables = TABLES[kind]
        rows = self.tx.rows(
            f"""
            SELECT id,
                iif(instr(start, ':') OR instr(start, '：'), lower(start), ''),
                iif(instr("end", '?') OR instr("end", '？'), "end", ''),
                seconds
            FROM (
                SELECT id, substr({tables.text}, 1, 40) AS start, substr({tables.text}, -3) AS "end",
                    86400 * ifnull(julianday({tables.moment}), 0) AS seconds
                FROM {tables.source}
                WHERE id IN (SELECT value FROM json_each(?))
            )
            ORDER BY id
            """,
            (json.dumps(ids),),
        )
        return Said(
            np.array([row[0] for row in rows], np.int64),
            np.array([row[3] for row in rows], np.float64),
            {row[0]: row[1] for row in rows if row[1]},
            {row[0]: row[2] for row in rows if row[2]},
        )

    def containing(self, kind: Embedded, text: str, limit: int) -> list[int]:
        tables = TABLES[kind]
        rows = self.tx.rows(
            f"SELECT id FROM {tables.source} WHERE instr({tables.text}, ?) > 0 ORDER BY id DESC LIMIT ?",
            (text, limit),
        )
        return [id for (id,) in rows]

    def lets_pass(
        self,
        kind: Embedded,
        ids: NDArray[np.int64],
        wanted: Wanted,
        space_id: int = 0,
    ) -> NDArray[np.bool_]:
        """Of which texts a filter lets the memory (or turn, or fact) pass, in the order given.

        `space_id` is the space of the question, 0 where none answers: the sign bits of that space may tell at once.
        """
        if wanted == Filter():
            return np.ones(len(ids), bool)
        whole = ids & parts.WHOLE
        known = None
        held = sign_bits.held_by(self.tx) if space_id else None
        if held is not None and isinstance(wanted, Filter) and kind is Embedded.MEMORIES:
            known = held.passing(self.tx, space_id, whole, wanted)
        found, unknown = (np.zeros(len(ids), bool), np.ones(len(ids), bool)) if known is None else known
        if unknown.any():
            rest = whole[unknown].tolist()
            there = self.passing(kind, rest, wanted)
            found[unknown] = [id in there for id in rest]
        return found

    def first_passing(
        self,
        kind: Embedded,
        ids: NDArray[np.int64],
        wanted: Wanted,
        limit: int,
        space_id: int = 0,
    ) -> list[int]:
        """The first texts that a filter lets pass, at most `limit`. Few are asked for at first, then ever more."""
        found: list[int] = []
        start, size = 0, 4 * limit
        while start < len(ids) and len(found) < limit:
            some = ids[start : start + size]
            found += some[self.lets_pass(kind, some, wanted, space_id)].tolist()
            start, size = start + size, 4 * size
        return found[:limit]

    def passing(self, kind: Embedded, ids: Sequence[int], wanted: Wanted) -> set[int]:
        clauses, values = conditions(wanted, self.tx.now)
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
        wanted: NDArray[np.bool_] | None = None,
    ) -> list[NDArray[np.float32]]:
        """The vectors of these texts: see `storage.candidates.Surroundings.vectors`."""
        read = ids if wanted is None else ids[wanted]
        return [
            _placed(ids, self._vectors(kind, table, space_id, read), dimensions)
            for table in TABLES[kind].embedded.values()
        ]

    def _vectors(
        self, kind: Embedded, table: str, space_id: int, ids: NDArray[np.int64]
    ) -> list[tuple[int, bytes]]:
        """The ids and the bytes. Vectors of parts of long memories stand in a table of their own."""
        are_parts = ids >= 1 << parts.NUMBERED
        found: list[tuple[int, bytes]] = []
        for source, id, read in (
            (table, TABLES[kind].id, ids[~are_parts]),
            ("part_embeddings", "part_id", ids[are_parts]),
        ):
            if len(read):
                found += self.tx.rows(
                    f"""
                    SELECT {id}, vector FROM {source}
                    WHERE space_id = ? AND {id} IN (SELECT value FROM json_each(?))
                    """,
                    (space_id, json.dumps(read.tolist())),
                )
        return found


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is proposed, and what was said before and after it: the rest is read when it is asked for."""

    candidates: Candidates
    proposal: Proposal
    proposed: Sequence[int]
    lines: NDArray[np.int64]

    def lets_pass(self, ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        proposal = self.proposal
        return self.candidates.lets_pass(proposal.kind, ids, proposal.wanted, proposal.space_id)

    def said(self, ids: NDArray[np.int64]) -> Said:
        return self.candidates.said(self.proposal.kind, ids[ids < 1 << parts.NUMBERED].tolist())

    def vectors(
        self, ids: NDArray[np.int64], wanted: NDArray[np.bool_] | None = None
    ) -> list[NDArray[np.float32]]:
        proposal = self.proposal
        return self.candidates.vectors(proposal.kind, proposal.space_id, ids, proposal.dimensions, wanted)

    def reached(self, ids: NDArray[np.int64]) -> Held:
        return self.candidates.with_others(self.proposal.terms, self.proposal.held, ids)
