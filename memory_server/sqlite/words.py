"""The word indices: phrases to ask them with, and the memories that share words with a text."""

import json
from collections.abc import Sequence
from math import ceil

from memory_server.domain.memory import Filter, MemoryId
from memory_server.sqlite import memories
from memory_server.sqlite.tx import Tx

COMMON_HAN = "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年"
"""The commonest characters of Chinese texts: together they make up a quarter of one."""


def quoted(term: str) -> str:
    """One term as an FTS5 phrase: whatever it holds, it is text and never syntax."""
    return '"' + term.replace('"', '""').replace("\0", " ") + '"'


def any_of(terms: Sequence[str]) -> str:
    return " OR ".join(map(quoted, terms))


def _counts(tx: Tx, terms: Sequence[str]) -> dict[str, int]:
    """How many rows of `memory_words` hold each term, in one statement."""
    rows = tx.rows(
        """
        SELECT key, (SELECT count(*) FROM memory_words WHERE memory_words MATCH value)
        FROM json_each(?)
        """,
        (json.dumps([quoted(term) for term in terms]),),
    )
    return {terms[place]: number for place, number in rows}


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


def peers(tx: Tx, terms: Sequence[str], least: float, wanted: Filter, limit: int) -> list[MemoryId]:
    """The memories that may have at least a share `least` of these terms, those with the rarest first; no other has it.

    A memory with that share cannot avoid any group of terms larger than the rest, so those are enough that hold
    one of so many of the rarest (the prefix filter of set similarity joins, Chaudhuri et al., ICDE 2006).
    """
    counts = _counts(tx, terms)
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
