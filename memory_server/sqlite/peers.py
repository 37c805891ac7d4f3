"""The memories that may share most words with a text."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from math import ceil

from memory_server.domain.memory import Filter, MemoryId
from memory_server.language import background
from memory_server.sqlite import memories
from memory_server.sqlite.tx import Tx
from memory_server.sqlite.words import quoted

COUNTED = 200
"""Rows of a term that are read: a rare one has fewer. To read all of 17 terms takes 30 ms in a million memories."""


def find(tx: Tx, terms: Sequence[str], least: float, wanted: Filter, limit: int) -> list[MemoryId]:
    """The memories that may have at least a share `least` of these terms, those with the most groups of them first.

    No other memory has that share. It lacks only so many terms; where the terms are in one group more than that, it
    holds all of a group, whichever terms stand together (the pigeonhole principle, as in the prefix filter of
    Chaudhuri et al., ICDE 2006). A group is a rare term, or two that are less rare, so few memories hold one.
    """
    held = _held(tx, terms)
    groups = list(_groups(terms, least, held))
    rare = [id for first, *_ in groups if len(held[first]) < COUNTED for id in held[first]]
    others = [" AND ".join(map(quoted, group)) for group in groups if len(held[group[0]]) == COUNTED]
    clauses, values = memories.conditions(wanted)
    rows = tx.rows(
        f"""
        SELECT held.id
        FROM (
            SELECT value AS id FROM json_each(?)
            UNION ALL
            SELECT w.rowid
            FROM json_each(?) AS groups
            CROSS JOIN memory_words AS w
            WHERE memory_words MATCH groups.value
        ) AS held
        CROSS JOIN memories AS m ON m.id = held.id
        WHERE {" AND ".join(["1", *clauses])}
        GROUP BY held.id
        ORDER BY count(*) DESC, held.id
        LIMIT ?
        """,
        (json.dumps(rare), json.dumps(others), *values, limit),
    )
    return [MemoryId(row[0]) for row in rows]


def _groups(terms: Sequence[str], least: float, held: Mapping[str, Sequence[int]]) -> Iterator[list[str]]:
    """As many groups as exactness needs; those of two terms have the rarest of the others."""
    number = len(terms) - ceil(least * len(terms)) + 1
    in_order = sorted(terms, key=lambda term: (len(held[term]), background.share(term), term))
    others = iter(in_order[number:])
    for term in reversed(in_order[:number]):
        yield [term, *islice(others, len(held[term]) == COUNTED)]


def _held(tx: Tx, terms: Sequence[str]) -> dict[str, list[int]]:
    """The rows of the word index that hold each term, at most COUNTED, in one statement."""
    rows = tx.rows(
        """
        SELECT
            key,
            (
                SELECT json_group_array(rowid)
                FROM (SELECT rowid FROM memory_words WHERE memory_words MATCH value LIMIT ?)
            )
        FROM json_each(?)
        """,
        (COUNTED, json.dumps([quoted(term) for term in terms])),
    )
    return {terms[place]: json.loads(ids) for place, ids in rows}
