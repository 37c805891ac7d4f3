"""The memories that may share most words with a text."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from math import ceil

from memory_server.domain import parts
from memory_server.domain.embedding import Embedded
from memory_server.domain.memory import Filter, MemoryId, MemoryType
from memory_server.language import background
from memory_server.postgres import filters, terms
from memory_server.postgres.nearest import NearestQuery
from memory_server.postgres.tx import Tx
from memory_server.storage.memories import Near

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
        space_id: int = 0,  # noqa: ARG002 - SQLite keeps sign bits of a space
        rare_only: bool = False,
    ) -> list[MemoryId]:
        number = len(terms) - ceil(least * len(terms)) + 1
        in_order = sorted(terms, key=lambda term: (background.share(term), term))
        looking = _Looking(self.tx, wanted)
        held = looking.held(in_order, number, rare_only)
        if held.keys() > set(in_order[:number]):
            in_order.sort(key=lambda term: len(held[term]))
        groups = list(_groups(in_order, number, held))
        common = [] if rare_only else [group for group in groups if len(held[group[0]]) == COUNTED]
        rows = chain(
            *(held[first] for first, *_ in groups if len(held[first]) < COUNTED), looking.holding_all(common)
        )
        counts = Counter(id for id in rows if not parts.number_of(id))
        best = sorted(counts, key=lambda id: (-counts[id], id))
        return [MemoryId(id) for id in best if id in looking.passing][:limit]

    def beside(
        self, terms: Sequence[str], least: float, wanted: Filter, type: MemoryType, limit: int, near: Near
    ) -> tuple[dict[MemoryId, float], list[MemoryId]]:
        nearest = NearestQuery(
            self.tx, Embedded.MEMORIES, near.space_id, near.vector, wanted, near.limit, near.effort
        ).nearest()
        of_type = replace(wanted, type=type)
        rare = self.find(terms, least, of_type, limit, rare_only=True)
        cosines = {MemoryId(id): cosine for id, cosine in nearest.found().items() if not parts.number_of(id)}
        return cosines, rare if cosines else self.find(terms, least, of_type, limit)


@dataclass(frozen=True, slots=True)
class _Looking:
    """What the word index holds, and which of it a filter lets pass."""

    tx: Tx
    wanted: Filter
    passing: set[int] = field(default_factory=set)

    def held(self, phrases: Sequence[str], number: int, rare_only: bool) -> dict[str, list[int]]:
        """The rows of the word index that hold each phrase, at most COUNTED.

        The phrases after the first `number` are looked up only if one of the first is common; with `rare_only`, only if
        all of the first are common.
        """
        different = list(dict.fromkeys(phrases))
        first = len(set(phrases[:number]))
        enough = first - 1 if rare_only else first - number
        common = f"(SELECT count(*) FROM first WHERE cardinality(ids) = {COUNTED})"
        found = self._rows(
            [[each] for each in different],
            COUNTED,
            f"t.place < {first}",
            f"t.place >= {first} AND {common} > {enough}",
        )
        if sum(len(each) == COUNTED for each in found[:first]) <= enough:
            different = different[:first]
        return dict(zip(different, found, strict=False))

    def holding_all(self, groups: Sequence[Sequence[str]]) -> list[int]:
        """The rows of the word index that hold all terms of a group, once for each group."""
        return [id for rows in self._rows(groups, None, "true", "false") for id in rows]

    def _rows(
        self,
        groups: Sequence[Sequence[str]],
        most: int | None,
        at_first: str,
        then: str,
    ) -> list[list[int]]:
        """The rows that hold all terms of each group, of those that the person sees.

        `at_first` is a clause for the groups that are looked up first, `then` one for those that are looked up after
        them. What passes the filter is added to `passing`. A group with `most` rows is not checked: it may have more.
        """
        asked = [(place, terms.lookup(self.tx.tenant, *group)) for place, group in enumerate(groups)]
        known = [(place, each) for place, each in asked if each is not None]
        found: list[list[int]] = [[] for _ in groups]
        if not known:
            return found
        clauses, wanted = filters.memories(self.wanted)
        seen = f"WHERE EXISTS (SELECT 1 FROM memories AS m WHERE m.id = f.id & {parts.WHOLE})"
        looked = f"""
            SELECT t.place, h.ids
            FROM asked AS t
            CROSS JOIN LATERAL (
                SELECT array_agg(seen.id) AS ids
                FROM (
                    SELECT f.id
                    FROM memory_words_some(t.query::tsquery, string_to_array(t.phrases, chr(10)), %s) AS f (id)
                    {"" if self.tx.person is None else seen}
                    LIMIT %s
                ) AS seen
            ) AS h
        """
        few = most if self.tx.person is None else None
        rows = self.tx.rows(
            f"""
            WITH asked (place, query, phrases) AS (SELECT * FROM unnest(%s::int[], %s::text[], %s::text[])),
            first AS MATERIALIZED ({looked} WHERE {at_first}),
            looked AS MATERIALIZED (SELECT * FROM first UNION ALL ({looked} WHERE {then}))
            SELECT place, ids FROM looked WHERE ids IS NOT NULL
            UNION ALL
            SELECT -1, ARRAY(
                SELECT m.id
                FROM memories AS m
                WHERE m.id = ANY (ARRAY(
                    SELECT unnest(ids) FROM looked WHERE cardinality(ids) IS DISTINCT FROM %s
                )) AND {" AND ".join(["true", *clauses])}
            )
            """,
            (
                [place for place, _ in known],
                [each.query for _, each in known],
                [each.phrases for _, each in known],
                *(few, most),
                *(few, most),
                most,
                *wanted,
            ),
        )
        for place, ids in rows:
            if place < 0:
                self.passing.update(ids)
            else:
                found[place] = ids
        return found
