"""The memories that may share most words with a text."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from memory_server.domain import parts
from memory_server.domain.memory import Filter, MemoryId
from memory_server.postgres import filters, terms
from memory_server.postgres.tx import Tx
from memory_server.storage import peers


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
        space_id: int = 0,  # noqa: ARG002 - SQLite keeps sign bits of a space
        rare_only: bool = False,
    ) -> list[MemoryId]:
        number, ordered = peers.number_of_groups(terms, least), peers.in_order(terms)
        index = _WordIndex(self.tx, filter)
        ids_by_term = index.holding(ordered, number, rare_only)
        if ids_by_term.keys() > set(ordered[:number]):
            ordered.sort(key=lambda term: len(ids_by_term[term]))
        groups = peers.grouped(ordered, number, ids_by_term, rare_only)
        rows = groups.rare_ids + index.holding_all(groups.common)
        counts = Counter(id for id in rows if not parts.number_of(id))
        best = sorted(counts, key=lambda id: (-counts[id], id))
        return [MemoryId(id) for id in best if id in index.passing][:limit]


@dataclass(frozen=True, slots=True)
class _WordIndex:
    """The word index of memories for one search. `passing`: the memories read so far that the filter lets pass."""

    tx: Tx
    filter: Filter
    passing: set[int] = field(default_factory=set)

    def holding(self, phrases: Sequence[str], number: int, rare_only: bool) -> dict[str, list[int]]:
        """Return for each phrase the texts that hold it, at most COUNTED.

        The phrases after the first `number` are looked up only if one of the first is common; with `rare_only`, only if
        all of the first are common.
        """
        phrases_once = list(dict.fromkeys(phrases))
        first = len(set(phrases[:number]))
        enough = first - 1 if rare_only else first - number
        common = f"(SELECT count(*) FROM first WHERE cardinality(ids) = {peers.COUNTED})"
        id_lists = self._rows(
            [[phrase] for phrase in phrases_once],
            peers.COUNTED,
            f"t.place < {first}",
            f"t.place >= {first} AND {common} > {enough}",
        )
        if sum(len(ids) == peers.COUNTED for ids in id_lists[:first]) <= enough:
            phrases_once = phrases_once[:first]
        return dict(zip(phrases_once, id_lists, strict=False))

    def holding_all(self, groups: Sequence[Sequence[str]]) -> list[int]:
        """Return the texts that hold all terms of a group, once for each group."""
        return [id for rows in self._rows(groups, None, "true", "false") for id in rows]

    def _rows(
        self,
        groups: Sequence[Sequence[str]],
        most: int | None,
        at_first: str,
        then: str,
    ) -> list[list[int]]:
        """Return for each group the texts that hold all its terms, of those that the person sees.

        `at_first` is a clause for the groups that are looked up first, `then` one for those that are looked up after
        them. The memories that pass the filter are added to `passing`, those of a group of `most` texts aside: it may
        have more texts.
        """
        numbered_lookups = terms.lookups(self.tx.tenant, groups)
        id_lists: list[list[int]] = [[] for _ in groups]
        if not numbered_lookups:
            return id_lists
        clauses, values = filters.memories(self.filter)
        visible = f"WHERE EXISTS (SELECT 1 FROM memories AS m WHERE m.id = f.id & {parts.WHOLE})"
        looked = f"""
            SELECT t.place, h.ids
            FROM asked AS t
            CROSS JOIN LATERAL (
                SELECT array_agg(seen.id) AS ids
                FROM (
                    SELECT f.id
                    FROM memory_words_some(t.query::tsquery, string_to_array(t.phrases, chr(10)), %s) AS f (id)
                    {"" if self.tx.person is None else visible}
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
                [place for place, _ in numbered_lookups],
                [lookup.query for _, lookup in numbered_lookups],
                [lookup.phrases for _, lookup in numbered_lookups],
                *(few, most),
                *(few, most),
                most,
                *values,
            ),
        )
        for place, ids in rows:
            if place < 0:
                self.passing.update(ids)
            else:
                id_lists[place] = ids
        return id_lists
