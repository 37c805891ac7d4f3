"""The memories that may share most words with a text."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import ceil

import numpy as np
from numpy.typing import NDArray

from memory_server.domain import parts
from memory_server.domain.embedding import Embedded
from memory_server.domain.memory import Filter, MemoryId, MemoryType
from memory_server.language import background
from memory_server.sqlite.candidates import Candidates
from memory_server.sqlite.embeddings import Embeddings
from memory_server.sqlite.tx import Tx
from memory_server.sqlite.words import quoted
from memory_server.storage.memories import Near

COUNTED = 200
"""Rows of a term that are read: a rare one has fewer. To read all of 17 terms takes 30 ms in a million memories."""


def _groups(in_order: Sequence[str], number: int, held: Mapping[str, Sequence[int]]) -> Iterator[list[str]]:
    """So many groups; those of two terms have the rarest of the others."""
    others = iter(in_order[number:])
    for term in reversed(in_order[:number]):
        yield [term, *islice(others, len(held[term]) == COUNTED)]


def _most_frequent(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The ids in `rows`, the most frequent first, then the smaller first; without those of parts of long memories."""
    ids, counts = np.unique(rows[rows <= parts.WHOLE], return_counts=True)
    best: NDArray[np.int64] = ids[np.argsort(-counts, kind="stable")]
    return best


@dataclass(frozen=True, slots=True)
class Peers:
    """The memories that may share most words with a text."""

    tx: Tx

    def find(
        self,
        terms: Sequence[str],
        least: float,
        wanted: Filter,
        limit: int,
        space_id: int = 0,
        rare_only: bool = False,
    ) -> list[MemoryId]:
        held, groups = self._grouped(terms, least, rare_only)
        common = [] if rare_only else [group for group in groups if len(held[group[0]]) == COUNTED]
        rows = [id for first, *_ in groups if len(held[first]) < COUNTED for id in held[first]]
        rows += self._holding_all(common)
        best = _most_frequent(np.array(rows, np.int64))
        found = Candidates(self.tx).first_passing(Embedded.MEMORIES, best, wanted, limit, space_id)
        return list(map(MemoryId, found))

    def beside(
        self, terms: Sequence[str], least: float, wanted: Filter, type: MemoryType, limit: int, near: Near
    ) -> tuple[dict[MemoryId, float], list[MemoryId]]:
        nearest = Embeddings(self.tx).nearest(
            Embedded.MEMORIES, near.space_id, near.vector, wanted, near.limit, near.effort
        )
        cosines = {MemoryId(id): cosine for id, cosine in nearest.items() if not parts.number_of(id)}
        of_type = replace(wanted, type=type)
        return cosines, self.find(terms, least, of_type, limit, near.space_id, rare_only=bool(cosines))

    def _grouped(
        self, terms: Sequence[str], least: float, rare_only: bool
    ) -> tuple[Mapping[str, Sequence[int]], list[list[str]]]:
        """As many groups as exactness needs, and the rows of their first terms.

        The terms that are rare in ordinary language are looked at first: mostly they are rare here too.
        """
        number = len(terms) - ceil(least * len(terms)) + 1
        in_order = sorted(terms, key=lambda term: (background.share(term), term))
        held = self._held(in_order[:number])
        rare = [term for term in held if len(held[term]) < COUNTED]
        if len(rare) < number and not (rare and rare_only):
            held |= self._held(in_order[number:])
            in_order.sort(key=lambda term: len(held[term]))
        return held, list(_groups(in_order, number, held))

    def _held(self, terms: Sequence[str]) -> dict[str, list[int]]:
        """The rows of the word index that hold each term, at most COUNTED, in one statement."""
        seen = self.tx.seen("memories", f"memory_words.rowid & {parts.WHOLE}")
        rows = self.tx.rows(
            f"""
            SELECT
                key,
                (
                    SELECT json_group_array(rowid)
                    FROM (SELECT rowid FROM memory_words WHERE memory_words MATCH value {seen} LIMIT ?)
                )
            FROM json_each(?)
            """,
            (COUNTED, json.dumps([quoted(term) for term in terms])),
        )
        return {terms[place]: json.loads(ids) for place, ids in rows}

    def _holding_all(self, groups: Sequence[Sequence[str]]) -> list[int]:
        """The rows of the word index that hold all terms of a group, once for each group."""
        if not groups:
            return []
        asked = json.dumps([" AND ".join(map(quoted, group)) for group in groups])
        rows = self.tx.value(
            f"""
            SELECT json_group_array(w.rowid)
            FROM json_each(?) AS groups
            CROSS JOIN memory_words AS w
            WHERE memory_words MATCH groups.value {self.tx.seen("memories", f"w.rowid & {parts.WHOLE}")}
            """,
            (asked,),
        )
        found: list[int] = json.loads(rows)
        return found
