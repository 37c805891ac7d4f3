"""What a search reads of the file: which texts hold its words, what stands beside them, and their vectors.

Memories (with the parts of long ones) and turns are searched in the same way; an id is a rowid of their word index.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memory_server.domain import parts
from memory_server.domain.embedding import Embedded, Vector
from memory_server.domain.memory import Filter
from memory_server.sqlite import memories
from memory_server.sqlite.tx import Tx, Value
from memory_server.sqlite.words import quoted

MOST_ROWS = 20_000
"""Rows of one term that are read, the newest: 20 ms. A word that more texts hold decides little."""


@dataclass(frozen=True, slots=True)
class _Tables:
    words: str
    source: str
    text: str
    vectors: str
    id: str


_TABLES = {
    Embedded.MEMORIES: _Tables("memory_words", "memories", "content", "embeddings", "memory_id"),
    Embedded.TURNS: _Tables(
        "turn_words", "turns", "summary || char(10) || message", "turn_embeddings", "turn_id"
    ),
}


@dataclass(frozen=True, slots=True)
class Posting:
    """The texts that hold a term, each with its BM25; `everywhere` is how many there are."""

    scores: Mapping[int, float]
    everywhere: int


@dataclass(frozen=True, slots=True)
class Said:
    """How a text begins (in lower case) and ends, and when it was said, in seconds of the julian day."""

    start: str
    end: str
    seconds: float


def count(tx: Tx, kind: Embedded) -> int:
    """How many texts the word index of a kind has."""
    return int(tx.value(f"SELECT count(*) FROM {_TABLES[kind].words}_docsize"))


def posting(tx: Tx, kind: Embedded, term: str) -> Posting:
    """The newest texts that hold a term."""
    index = _TABLES[kind].words
    rows = tx.rows(
        f"""
        SELECT rowid, -bm25({index})
        FROM {index}
        WHERE {index} MATCH ?
        ORDER BY rowid DESC
        LIMIT ?
        """,
        (quoted(term), MOST_ROWS),
    )
    everywhere = len(rows)
    if everywhere == MOST_ROWS:
        everywhere = int(tx.value(f"SELECT count(*) FROM {index} WHERE {index} MATCH ?", (quoted(term),)))
    return Posting(dict(rows), everywhere)


def around(tx: Tx, kind: Embedded, ids: Iterable[int], reach: int) -> list[tuple[list[int], int]]:
    """For each of these texts that was said in a session: that and so many before and after it, in order; its place.

    Parts of long texts stand for themselves.
    """
    source = _TABLES[kind].source

    def side(sign: str, direction: str) -> str:
        return f"""(
            SELECT json_group_array(id) FROM (
                SELECT id FROM {source}
                WHERE session = here.session AND id {sign} here.id
                ORDER BY id {direction} LIMIT ?
            )
        )"""

    rows = tx.rows(
        f"""
        SELECT here.id, {side("<", "DESC")}, {side(">", "ASC")}
        FROM {source} AS here
        WHERE here.id IN (SELECT value FROM json_each(?)) AND here.session IS NOT NULL
        """,
        (reach, reach, json.dumps([id for id in ids if not parts.number_of(id)])),
    )
    found = []
    for id, before, after in rows:
        earlier = json.loads(before)[::-1]
        found.append(([*earlier, id, *json.loads(after)], len(earlier)))
    return found


def said(tx: Tx, kind: Embedded, ids: Iterable[int]) -> dict[int, Said]:
    """The first and last characters of these texts, and when they were said."""
    tables = _TABLES[kind]
    rows = tx.rows(
        f"""
        SELECT id, lower(substr({tables.text}, 1, 40)), substr({tables.text}, -3),
            86400 * ifnull(julianday(ifnull(occurred_at, created_at)), 0)
        FROM {tables.source}
        WHERE id IN (SELECT value FROM json_each(?))
        """,
        (json.dumps(list(ids)),),
    )
    return {id: Said(start, end, seconds) for id, start, end, seconds in rows}


def containing(tx: Tx, kind: Embedded, text: str, limit: int) -> list[int]:
    """The newest texts that hold this letter by letter: for queries without any word, such as an emoji."""
    tables = _TABLES[kind]
    rows = tx.rows(
        f"SELECT id FROM {tables.source} WHERE instr({tables.text}, ?) > 0 ORDER BY id DESC LIMIT ?",
        (text, limit),
    )
    return [id for (id,) in rows]


def passing(tx: Tx, kind: Embedded, ids: Sequence[int], wanted: Filter) -> set[int]:
    """Those of the memories or turns of these texts that a filter lets pass."""
    clauses, values = memories.conditions(wanted)
    rows = tx.rows(
        f"""
        SELECT m.id
        FROM {_TABLES[kind].source} AS m
        WHERE {" AND ".join(["m.id IN (SELECT value FROM json_each(?))", *clauses])}
        """,
        (json.dumps([parts.memory_of(id) for id in ids]), *values),
    )
    return {id for (id,) in rows}


def vectors(tx: Tx, kind: Embedded, space_id: int, ids: Iterable[int]) -> dict[int, Vector]:
    """The vector of each of these texts that has one. One that holds no numbers, as in a damaged row, is left out."""
    tables = _TABLES[kind]
    wanted = json.dumps(list(ids))
    sql = f"""
        SELECT {tables.id}, vector FROM {tables.vectors}
        WHERE space_id = ? AND {tables.id} IN (SELECT value FROM json_each(?))
    """
    values: list[Value] = [space_id, wanted]
    if kind is Embedded.MEMORIES:
        sql += """
            UNION ALL
            SELECT part_id, vector FROM part_embeddings
            WHERE space_id = ? AND part_id IN (SELECT value FROM json_each(?))
        """
        values += [space_id, wanted]
    found = {id: np.frombuffer(blob, dtype="<f4") for id, blob in tx.rows(sql, values)}
    return {id: vector for id, vector in found.items() if np.isfinite(vector.sum())}
