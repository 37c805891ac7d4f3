"""Reads the proposed texts with their neighbours in one round trip: each statement leaves its ids to the next one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_server.domain import parts
from memory_server.domain.memory import Filter
from memory_server.postgres import filters
from memory_server.postgres.tx import Tx
from memory_server.storage.candidates import Postings, Proposal, Utterances
from memory_server.storage.candidates import lines as lines_of
from memory_server.storage.vectors import TABLES

_PROPOSED = "current_setting('memory.proposed')"
"""Setting of the transaction in which `ask_chosen` leaves the proposed ids."""

AROUND = "current_setting('memory.around')"
"""Setting in which `ask_lines` leaves these ids and those of the texts before and after them."""


@dataclass(frozen=True, slots=True)
class ProposedTexts:
    """The proposed texts with their neighbours, and all that was read of them. `numbers`: texts of each
    proposed list.
    """

    proposed: Sequence[int]
    lines: NDArray[np.int64]
    numbers: Sequence[int]
    _passing: NDArray[np.int64] | None
    _utterances: Utterances
    _vectors: "Callable[[NDArray[np.int64]], list[NDArray[np.float32]]] | None"
    _postings: Postings

    def lets_pass(self, ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.ones(len(ids), bool) if self._passing is None else np.isin(ids & parts.WHOLE, self._passing)

    def utterances(self, ids: NDArray[np.int64]) -> Utterances:
        every = self._utterances
        chosen, chosen_ids = np.isin(every.ids, ids), set(ids.tolist())
        return Utterances(
            every.ids[chosen],
            every.seconds[chosen],
            {id: start for id, start in every.starts.items() if id in chosen_ids},
            {id: end for id, end in every.ends.items() if id in chosen_ids},
        )

    def vectors(
        self, ids: NDArray[np.int64], readable: NDArray[np.bool_] | None = None
    ) -> list[NDArray[np.float32]]:
        arrays = [] if self._vectors is None else self._vectors(ids)
        if readable is not None:
            for array in arrays:
                array[:-1][~readable] = 0.0
        return arrays

    def postings_with(self, ids: NDArray[np.int64]) -> Postings:  # noqa: ARG002 - all texts around were read
        return self._postings


def ask_chosen(tx: Tx, proposal: Proposal) -> Callable[[], list[list[int]]]:
    """Send for the first ids of each list of a proposal that pass; they stay in a setting of the transaction."""
    clauses, values = filters.conditions(proposal.filter, tx.now)
    passes = "true"
    if proposal.filter == Filter():
        values = []
    else:
        of_row = " AND ".join([f"m.id = o.id & {parts.WHOLE}", *clauses])
        passes = f"EXISTS (SELECT 1 FROM {TABLES[proposal.kind].source} AS m WHERE {of_row})"
    names = [f"list{number}" for number in range(len(proposal.lists))]
    chosen = [
        f"""
        ARRAY(
            SELECT o.id
            FROM unnest(%s::bigint[]) WITH ORDINALITY AS o (id, place)
            WHERE {passes}
            ORDER BY o.place
            LIMIT %s
        ) AS {name}
        """
        for name in names
    ]
    answer = tx.ask(
        f"""
        SELECT {", ".join([*names, f"set_config('memory.proposed', ({' || '.join([*names, 'also'])})::text, true)"])}
        FROM (SELECT {", ".join([*chosen, "%s::bigint[] AS also"])} OFFSET 0) AS chosen
        """,
        (
            *(value for ids in proposal.lists for value in (ids.tolist(), *values, proposal.most)),
            list(proposal.also),
        ),
    )
    return lambda: list(answer.rows()[0][:-1])


def ask_lines(tx: Tx, source: str, reach: int) -> Callable[[], NDArray[np.int64]]:
    """Send for the lines of the chosen ids: see `storage.candidates.ProposedTexts.lines`."""
    answer = tx.ask(
        f"""
        WITH lines AS MATERIALIZED (
            SELECT
                here.id,
                ARRAY(
                    SELECT id FROM {source}
                    WHERE session = here.session AND id < here.id
                    ORDER BY id DESC LIMIT %(reach)s
                ) AS before,
                ARRAY(
                    SELECT id FROM {source}
                    WHERE session = here.session AND id > here.id
                    ORDER BY id LIMIT %(reach)s
                ) AS after
            FROM {source} AS here
            WHERE here.id = ANY ({_PROPOSED}::bigint[]) AND here.session IS NOT NULL
        )
        SELECT id, before, after, NULL FROM lines
        UNION ALL
        SELECT 0, '{{}}', '{{}}', set_config('memory.around', ARRAY(
            SELECT unnest({_PROPOSED}::bigint[])
            UNION
            SELECT unnest(before || after) FROM lines
        )::text, true)
        """,
        {"reach": reach},
    )
    return lambda: lines_of(sorted(row[:3] for row in answer.rows() if row[0]), reach)
