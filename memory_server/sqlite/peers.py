"""The memories that may share most words with a text."""

import json
from collections.abc import Sequence
from itertools import islice
from math import ceil

from memory_server.domain.memory import Filter, MemoryId
from memory_server.language import background
from memory_server.sqlite import memories
from memory_server.sqlite.tx import Tx
from memory_server.sqlite.words import quoted

COUNTED = 200
"""Rows of a term that are counted: a rare one has fewer. To count all of 17 terms takes 30 ms in a million memories."""


def find(tx: Tx, terms: Sequence[str], least: float, wanted: Filter, limit: int) -> list[MemoryId]:
    """The memories that may have at least a share `least` of these terms, those with the most groups of them first.

    No other memory has that share. It lacks only so many terms; where the terms are in one group more than that, it
    holds all of a group, whichever terms stand together (the pigeonhole principle, as in the prefix filter of
    Chaudhuri et al., ICDE 2006). A group is a rare term, or two that are less rare, so few memories hold one.
    """
    groups = [" AND ".join(map(quoted, group)) for group in _groups(tx, terms, least)]
    if not groups:
        return []
    clauses, values = memories.conditions(wanted)
    rows = tx.rows(
        f"""
        SELECT w.rowid
        FROM json_each(?) AS groups
        CROSS JOIN memory_words AS w
        CROSS JOIN memories AS m ON m.id = w.rowid
        WHERE {" AND ".join(["memory_words MATCH groups.value", *clauses])}
        GROUP BY w.rowid
        ORDER BY count(*) DESC, w.rowid
        LIMIT ?
        """,
        (json.dumps(groups), *values, limit),
    )
    return [MemoryId(row[0]) for row in rows]


def _groups(tx: Tx, terms: Sequence[str], least: float) -> list[list[str]]:
    """As many groups as exactness needs, without those that no memory holds."""
    number = len(terms) - ceil(least * len(terms)) + 1
    counts = _counts(tx, terms)
    in_order = sorted(terms, key=lambda term: (counts[term], background.share(term), term))
    rarest, others = in_order[:number], iter(in_order[number:])
    groups = []
    for term in reversed(rarest):
        group = [term]
        if counts[term] == COUNTED:
            group += islice(others, 1)
        groups.append(group)
    return [group for group in groups if counts[group[0]]]


def _counts(tx: Tx, terms: Sequence[str]) -> dict[str, int]:
    """How many rows of the word index hold each term, at most COUNTED, in one statement."""
    rows = tx.rows(
        """
        SELECT key, (SELECT count(*) FROM (SELECT 1 FROM memory_words WHERE memory_words MATCH value LIMIT ?))
        FROM json_each(?)
        """,
        (COUNTED, json.dumps([quoted(term) for term in terms])),
    )
    return {terms[place]: number for place, number in rows}
