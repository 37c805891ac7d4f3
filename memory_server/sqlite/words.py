"""The word index `memory_words`: searches, and the memories that share words with a text."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log

from memory_server.domain.memory import Filter, MemoryId
from memory_server.sqlite import memories
from memory_server.sqlite.tx import Tx, Value

COMMON_HAN = "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年"
"""The commonest characters of Chinese texts: together they make up a quarter of one."""


@dataclass(frozen=True, slots=True)
class WordHit:
    """A memory that holds words of the query; `share` is its BM25 as a share of a full match."""

    id: MemoryId
    share: float


def quoted(term: str) -> str:
    """One term as an FTS5 phrase: whatever it holds, it is text and never syntax."""
    return '"' + term.replace('"', '""').replace("\0", " ") + '"'


def any_of(terms: Sequence[str]) -> str:
    return " OR ".join(map(quoted, terms))


def _counts(tx: Tx, index: str, terms: Sequence[str]) -> dict[str, int]:
    """How many rows of an index hold each term, in one statement."""
    rows = tx.rows(
        f"""
        SELECT key, (SELECT count(*) FROM {index} WHERE {index} MATCH value)
        FROM json_each(?)
        """,
        (json.dumps([quoted(term) for term in terms]),),
    )
    return {terms[place]: number for place, number in rows}


def search(tx: Tx, terms: Sequence[str], wanted: Filter, limit: int) -> list[WordHit]:
    """The memories that match any term best by BM25, each with its share of a full match."""
    clauses, values = memories.conditions(wanted)
    join = "JOIN memories AS m ON m.id = w.rowid" if clauses else ""
    found = _shares(tx, "memory_words", "memories", terms, join, clauses, values, limit)
    return [WordHit(MemoryId(id), share) for id, share in found.items()]


def search_turns(tx: Tx, terms: Sequence[str], limit: int) -> dict[int, float]:
    """The turns that match any term best by BM25, each with its share of a full match."""
    return _shares(tx, "turn_words", "turns", terms, "", [], [], limit)


def _shares(
    tx: Tx,
    index: str,
    source: str,
    terms: Sequence[str],
    join: str,
    clauses: Sequence[str],
    values: Sequence[Value],
    limit: int,
) -> dict[int, float]:
    """The BM25 of the rows that match best, as a share of a full match.

    The share is 1 where each term occurs once in a row of average length: the sum of the terms'
    inverse document frequencies, by the formula of FTS5's `bm25()`, is what such a row scores.
    """
    total = int(tx.value(f"SELECT count(*) FROM {source}"))
    counts = _counts(tx, index, terms)
    known = [term for term in terms if counts[term]]
    if not known:
        return {}
    full = sum(max(1e-6, log((total - n + 0.5) / (n + 0.5))) for n in counts.values())
    rows = tx.rows(
        f"""
        SELECT w.rowid, -bm25({index})
        FROM {index} AS w
        {join}
        WHERE {" AND ".join([f"{index} MATCH ?", *clauses])}
        ORDER BY 2 DESC, 1 DESC
        LIMIT ?
        """,
        (any_of(known), *values, limit),
    )
    return {id: min(1.0, score / full) for id, score in rows}


def holds_han(tx: Tx) -> bool:
    """Whether any memory, fact or turn has one of the commonest Chinese characters, as each Chinese sentence has.

    Or any short-term memory a Chinese keyword.
    """
    keyword = """
        SELECT 1
        FROM conversations AS c
        JOIN short_term_keywords AS k ON k.conversation_id = c.id AND k.word >= '㐀' AND k.word < 'ꀀ'
        LIMIT 1
    """
    return tx.value(keyword) is not None or any(
        tx.value(f"SELECT 1 FROM {index} WHERE {index} MATCH ? LIMIT 1", (any_of(COMMON_HAN),)) is not None
        for index in ("memory_words", "fact_words", "turn_words")
    )


def containing(tx: Tx, text: str, wanted: Filter, limit: int) -> list[WordHit]:
    """The newest memories that hold a text letter by letter: for queries without any word, such as an emoji."""
    clauses, values = memories.conditions(wanted)
    rows = tx.rows(
        f"""
        SELECT m.id
        FROM memories AS m
        WHERE {" AND ".join(["instr(m.content, ?) > 0", *clauses])}
        ORDER BY m.id DESC
        LIMIT ?
        """,
        (text, *values, limit),
    )
    return [WordHit(MemoryId(row[0]), 1.0) for row in rows]


def peers(tx: Tx, terms: Sequence[str], least: float, wanted: Filter, limit: int) -> list[MemoryId]:
    """The memories that may have at least a share `least` of these terms, those with the rarest first; no other has it.

    A memory with that share cannot avoid any group of terms larger than the rest, so those are enough that hold
    one of so many of the rarest (the prefix filter of set similarity joins, Chaudhuri et al., ICDE 2006).
    """
    counts = _counts(tx, "memory_words", terms)
    needed = len(terms) - ceil(least * len(terms)) + 1
    rarest = sorted(terms, key=lambda term: (counts[term], term))[:needed]
    known = [term for term in rarest if counts[term]]
    if not known:
        return []
    clauses, values = memories.conditions(wanted)
    rows = tx.rows(
        f"""
        SELECT w.rowid
        FROM memory_words AS w
        JOIN memories AS m ON m.id = w.rowid
        WHERE {" AND ".join(["memory_words MATCH ?", *clauses])}
        ORDER BY bm25(memory_words)
        LIMIT ?
        """,
        (any_of(known), *values, limit),
    )
    return [MemoryId(row[0]) for row in rows]
