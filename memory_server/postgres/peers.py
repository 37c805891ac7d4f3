"""The memories that may share most words with a text."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from math import ceil

from memory_server.domain import parts
from memory_server.domain.memory import Filter, MemoryId
from memory_server.language import background
from memory_server.postgres import filters, terms
from memory_server.postgres.tx import Tx

COUNTED = 200
"""Rows of a term that are read: a rare one has fewer."""


def _groups(in_order: Sequence[str], number: int, held: Mapping[str, Sequence[int]]) -> Iterator[list[str]]:
    """So many groups; those of two terms have the rarest of the others."""
    others = iter(in_order[number:])
    for term in reversed(in_order[:number]):
        yield [term, *islice(others, len(held[term]) == COUNTED)]


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
        space_id: int = 0,  # noqa: ARG002 - as in `candidates`
        rare_only: bool = False,
    ) -> list[MemoryId]:
        number = len(terms) - ceil(least * len(terms)) + 1
        in_order = sorted(terms, key=lambda term: (background.share(term), term))
        looking = _Looking(self.tx, wanted)
        held = looking.held(in_order)
        rare = {term for term in in_order[:number] if len(held[term]) < COUNTED}
        if len(rare) < number and not (rare and rare_only):
            in_order.sort(key=lambda term: len(held[term]))
        groups = list(_groups(in_order, number, held))
        common = [] if rare_only else [group for group in groups if len(held[group[0]]) == COUNTED]
        rows = chain(
            *(held[first] for first, *_ in groups if len(held[first]) < COUNTED), looking.holding_all(common)
        )
        counts = Counter(id for id in rows if not parts.number_of(id))
        best = sorted(counts, key=lambda id: (-counts[id], id))
        return [MemoryId(id) for id in best if id in looking.passing][:limit]


@dataclass(frozen=True, slots=True)
class _Looking:
    """What the word index holds, and which of it a filter lets pass."""

    tx: Tx
    wanted: Filter
    passing: set[int] = field(default_factory=set)

    def held(self, phrases: Sequence[str]) -> dict[str, list[int]]:
        """The rows of the word index that hold each phrase, at most COUNTED."""
        return dict(zip(phrases, self._rows([[each] for each in phrases], COUNTED), strict=True))

    def holding_all(self, groups: Sequence[Sequence[str]]) -> list[int]:
        """The rows of the word index that hold all terms of a group, once for each group."""
        return [id for rows in self._rows(groups, None) for id in rows]

    def _rows(self, groups: Sequence[Sequence[str]], most: int | None) -> list[list[int]]:
        """The rows that hold all terms of each group, of those that the person sees."""
        asked = [(place, terms.lookup(self.tx.tenant, *group)) for place, group in enumerate(groups)]
        known = [(place, each) for place, each in asked if each is not None]
        found: list[list[int]] = [[] for _ in groups]
        if not known:
            return found
        clauses, values = filters.memories(self.wanted)
        rows = self.tx.rows(
            f"""
            SELECT t.place, array_agg(h.id), array_agg(h.id) FILTER (WHERE h.passes)
            FROM unnest(%s::int[], %s::text[], %s::text[]) AS t (place, query, phrases)
            CROSS JOIN LATERAL (
                SELECT h.id, h.passes
                FROM (
                    SELECT f.id, (
                        SELECT coalesce({" AND ".join(["true", *clauses])}, false)
                        FROM memories AS m
                        WHERE m.id = f.id & {parts.WHOLE}
                    ) AS passes
                    FROM memory_words_some(t.query::tsquery, string_to_array(t.phrases, chr(10)), %s) AS f (id)
                ) AS h
                WHERE h.passes IS NOT NULL
                LIMIT %s
            ) AS h
            GROUP BY t.place
            """,
            (
                [place for place, _ in known],
                [each.query for _, each in known],
                [each.phrases for _, each in known],
                *values,
                most if self.tx.person is None else None,
                most,
            ),
        )
        for place, ids, passing in rows:
            found[place] = ids
            self.passing.update(passing or ())
        return found
