"""Which texts hold the words of a prompt, read from the word indices alone and without numpy: a hook has no time."""

import json
from collections.abc import Sequence
from enum import StrEnum

from memory_server.domain import parts
from memory_server.domain.fact import FactFilter, Home
from memory_server.sqlite import facts
from memory_server.sqlite.tx import Tx
from memory_server.sqlite.words import quoted

MOST_ROWS = 2_000
"""Rows of one term that are read, the newest: 1 ms. A word that more texts hold decides little."""


class Index(StrEnum):
    """The word indices that are asked."""

    MEMORY = "memory_words"
    FACT = "fact_words"
    TURN = "turn_words"


_WRITTEN = {
    Index.MEMORY: ("memories", "updated_at"),
    Index.FACT: ("facts", "updated_at"),
    Index.TURN: ("turns", "created_at"),
}
"""The table of each index, and the column that says when a row was written."""


def count(tx: Tx, index: Index) -> int:
    """How many texts an index has."""
    return int(tx.value(f"SELECT count(*) FROM {index.value}_docsize"))


def holding(tx: Tx, index: Index, term: str) -> list[int]:
    """The rows of an index that hold a term, the newest first, at most MOST_ROWS."""
    rows = tx.rows(
        f"""
        SELECT rowid
        FROM {index.value}
        WHERE {index.value} MATCH ? {tx.seen(_WRITTEN[index][0], f"{index.value}.rowid & {parts.WHOLE}")}
        ORDER BY rowid DESC
        LIMIT ?
        """,
        (quoted(term), MOST_ROWS),
    )
    return [id for (id,) in rows]


def newer(tx: Tx, index: Index, ids: Sequence[int], moment: str) -> list[int]:
    """Those of these rows that were written after a moment."""
    table, column = _WRITTEN[index]
    rows = tx.rows(
        f"SELECT id FROM {table} WHERE id IN (SELECT value FROM json_each(?)) AND {column} > ?",
        (json.dumps(list(ids)), moment),
    )
    return [id for (id,) in rows]


def own_memories(tx: Tx, ids: Sequence[int], project: str) -> set[int]:
    """Those of these memories that are of the project or of none, and whose time has not ended."""
    rows = tx.rows(
        """
        SELECT id
        FROM memories
        WHERE id IN (SELECT value FROM json_each(?)) AND ifnull(project, '') IN ('', ?)
            AND (metadata = '{}' OR ifnull(julianday(json_extract(metadata, '$.expires_at')) > julianday(?), 1))
        """,
        (json.dumps(list(ids)), project, tx.now),
    )
    return {id for (id,) in rows}


def own_turns(tx: Tx, ids: Sequence[int], project: str) -> set[int]:
    """Those of these turns that are of the project or of none."""
    rows = tx.rows(
        "SELECT id FROM turns WHERE id IN (SELECT value FROM json_each(?)) AND project IN ('', ?)",
        (json.dumps(list(ids)), project),
    )
    return {id for (id,) in rows}


def own_facts(tx: Tx, ids: Sequence[int], homes: Sequence[Home]) -> set[int]:
    """Those of these facts that are in these scopes and not hidden by one of a narrower scope."""
    clauses, values = facts.conditions(FactFilter(tuple(homes), None, None), tx.now)
    rows = tx.rows(
        f"""
        SELECT m.id
        FROM facts AS m
        WHERE {" AND ".join(["m.id IN (SELECT value FROM json_each(?))", *clauses])}
        """,
        (json.dumps(list(ids)), *values),
    )
    return {id for (id,) in rows}
