"""What a question proposes, and what was said before and after it: asked for in one go, and read when all is there."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_server.domain import parts
from memory_server.domain.memory import Filter
from memory_server.postgres import filters
from memory_server.postgres.embedded import TABLES
from memory_server.postgres.tx import Tx
from memory_server.storage.candidates import Held, Proposal, Said

_PROPOSED = "current_setting('memory.proposed')"
"""The ids that `ask_chosen` has found, in a setting of the transaction."""

AROUND = "current_setting('memory.around')"
"""These ids, and those that `ask_lines` has found before and after them."""


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


def ask_chosen(tx: Tx, proposal: Proposal) -> Callable[[], list[list[int]]]:
    """Of each list of a proposal the first ids that pass, asked for and not waited for; all are kept in a setting."""
    clauses, values = filters.conditions(proposal.wanted, tx.now)
    passes = "true"
    if proposal.wanted == Filter():
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
    asked = tx.ask(
        f"""
        SELECT {", ".join([*names, f"set_config('memory.proposed', ({' || '.join([*names, 'also'])})::text, true)"])}
        FROM (SELECT {", ".join([*chosen, "%s::bigint[] AS also"])} OFFSET 0) AS chosen
        """,
        (
            *(value for ids in proposal.lists for value in (ids.tolist(), *values, proposal.most)),
            list(proposal.also),
        ),
    )
    return lambda: list(asked.rows()[0][:-1])


def ask_lines(tx: Tx, source: str, reach: int) -> Callable[[], NDArray[np.int64]]:
    """The lines of the chosen ids (`storage.candidates.Surroundings.lines`), asked for and not waited for."""
    asked = tx.ask(
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
    return lambda: _lines(sorted(row[:3] for row in asked.rows() if row[0]), reach)


def _lines(rows: Sequence[tuple[int, list[int], list[int]]], reach: int) -> NDArray[np.int64]:
    """A text each, with those before and after it, and 0 where there is none."""
    found = np.zeros((len(rows), 2 * reach + 1), np.int64)
    for line, (id, before, after) in zip(found, rows, strict=True):
        line[reach] = id
        line[reach - len(before) : reach] = before[::-1]
        line[reach + 1 : reach + 1 + len(after)] = after
    return found
