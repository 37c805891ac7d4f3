"""The memories that may share most words with a text."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_server.domain import parts
from memory_server.domain.embedding import Embedded
from memory_server.domain.memory import Filter, MemoryId
from memory_server.sqlite.candidates import Candidates
from memory_server.sqlite.tx import Tx
from memory_server.sqlite.words import quoted
from memory_server.storage import peers


def _most_frequent(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the ids in `rows` once, the most frequent first, then the smaller first; without parts of long memories.

    `rows` has the shape (texts of all groups,), the result (memories,).
    """
    ids, counts = np.unique(rows[rows <= parts.WHOLE], return_counts=True)
    best: NDArray[np.int64] = ids[np.argsort(-counts, kind="stable")]
    return best


@dataclass(frozen=True, slots=True)
class Peers:
    """The table of `tx.peers`: see `storage.memories.Peers`."""

    tx: Tx

    def find(
        self,
        terms: Sequence[str],
        least: float,
        filter: Filter,
        limit: int,
        space_id: int = 0,
        rare_only: bool = False,
    ) -> list[MemoryId]:
        groups = self._groups(terms, least, rare_only)
        rows = groups.rare_ids + self._holding_all(groups.common)
        best = _most_frequent(np.array(rows, np.int64))
        passing_ids = Candidates(self.tx).first_passing(Embedded.MEMORIES, best, filter, limit, space_id)
        return list(map(MemoryId, passing_ids))

    def _groups(self, terms: Sequence[str], least: float, rare_only: bool) -> peers.Groups:
        """Group the terms; the later ones are looked up only where the first ones are not rare enough."""
        number, ordered = peers.number_of_groups(terms, least), peers.in_order(terms)
        ids_by_term = self._holding(ordered[:number])
        rare = [term for term in ids_by_term if len(ids_by_term[term]) < peers.COUNTED]
        if len(rare) < number and not (rare and rare_only):
            ids_by_term |= self._holding(ordered[number:])
            ordered.sort(key=lambda term: len(ids_by_term[term]))
        return peers.grouped(ordered, number, ids_by_term, rare_only)

    def _holding(self, terms: Sequence[str]) -> dict[str, list[int]]:
        """Return for each term the texts that hold it, at most COUNTED, in one statement."""
        visible = self.tx.seen("memories", f"memory_words.rowid & {parts.WHOLE}")
        rows = self.tx.rows(
            f"""
            SELECT
                key,
                (
                    SELECT json_group_array(rowid)
                    FROM (SELECT rowid FROM memory_words WHERE memory_words MATCH value {visible} LIMIT ?)
                )
            FROM json_each(?)
            """,
            (peers.COUNTED, json.dumps([quoted(term) for term in terms])),
        )
        return {terms[place]: json.loads(ids) for place, ids in rows}

    def _holding_all(self, groups: Sequence[Sequence[str]]) -> list[int]:
        """Return the texts that hold all terms of a group, once for each group."""
        if not groups:
            return []
        queries = json.dumps([" AND ".join(map(quoted, group)) for group in groups])
        listed = self.tx.value(
            f"""
            SELECT json_group_array(w.rowid)
            FROM json_each(?) AS groups
            CROSS JOIN memory_words AS w
            WHERE memory_words MATCH groups.value {self.tx.seen("memories", f"w.rowid & {parts.WHOLE}")}
            """,
            (queries,),
        )
        ids: list[int] = json.loads(listed)
        return ids
