"""The tables `short_term_memories` and `short_term_keywords`."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory_server.domain.caller import Caller
from memory_server.domain.moment import timestamp
from memory_server.domain.short_term import (
    DECAY_PER_MS,
    MAX_PENALTY,
    MAX_SCORE,
    RELEVANCE_DECIMALS,
    THRESHOLD,
    Asking,
    CleanupRule,
    Keyword,
    Recollection,
    SaidFilter,
    ShortTermId,
    ShortTermMemory,
    containing,
)
from memory_server.sqlite.conversations import ConversationId
from memory_server.sqlite.rows import Rows
from memory_server.sqlite.tx import Tx, Value, WriteTx

ROWS = (
    Rows(
        "short_term_memories",
        ("text", "said_at", "created_at", "created_by", "session"),
        moments=("said_at", "created_at"),
    ),
    Rows("short_term_keywords", ("word",), id="memory_id"),
)

_PENALTY = f"""(
    {MAX_PENALTY} * (1 - exp(-max(0, (julianday(:now) - julianday(m.said_at)) * 86400000.0) * {DECAY_PER_MS!r}))
)"""
"""15 x (1 - e^(-age_ms x 2e-9)): what a memory has lost to time; none while its moment is still to come."""

PAGE = 1000
"""Texts that are in memory at once while a pattern is looked for."""

_COUNTED_SCORE = "iif(:share IS NULL, score, min(score, :share * words))"
"""As `counted_score` of the domain."""

_RELEVANCE = f"round(words - penalty + {_COUNTED_SCORE}, {RELEVANCE_DECIMALS})"

_ASKED = """
    asked (word, weight, containing) AS MATERIALIZED (
        SELECT value ->> 0, value ->> 1, value -> 2 FROM json_each(:asked)
    )
"""

_COUNTS = """(
    a.containing = '[]' OR NOT EXISTS (
        SELECT 1
        FROM json_each(a.containing) AS longer
        CROSS JOIN short_term_keywords AS other
            ON other.conversation_id = k.conversation_id
            AND other.word = longer.value
            AND other.memory_id = k.memory_id
    )
)"""
"""Whether no other shared word contains this shared word."""


@dataclass(frozen=True, slots=True)
class Totals:
    """Of the short-term memories of one conversation or of all."""

    memories: int
    conversations: int
    oldest: str | None
    newest: str | None
    average_score: float
    lowest_score: float
    highest_score: float


def _memory(row: tuple[Any, ...]) -> ShortTermMemory:
    return ShortTermMemory(*row)


def _recollection(row: tuple[Any, ...]) -> Recollection:
    return Recollection(*row)


def insert(
    tx: WriteTx,
    conversation: ConversationId,
    text: str,
    said_at: str,
    keywords: Sequence[Keyword] | None,
    caller: Caller,
) -> ShortTermId:
    """The id of the new memory. Without keywords, background work finds them."""
    row = tx.one(
        """
        INSERT INTO main.short_term_memories
            (conversation_id, text, said_at, created_at, created_by, session)
        VALUES (?, ?, ?, ?, ?, ?)
        RETURNING id
        """,
        (conversation, text, said_at, tx.now, caller.author, caller.session),
    )
    id = ShortTermId(row[0])
    if keywords is not None:
        tx.execute("UPDATE main.short_term_memories SET keyed = 1 WHERE id = ?", (id,))
        insert_keywords(tx, id, [(each.word, each.weight) for each in keywords])
    return id


def unkeyed(tx: Tx, limit: int) -> list[ShortTermMemory]:
    """Memories whose text was written by hand, and whose keywords are still to be found.

    Bytes that are no UTF-8 become surrogates: one such row must not keep all others from their keywords.
    """
    rows = tx.rows(
        """
        SELECT id, CAST(text AS BLOB), score, said_at
        FROM short_term_memories
        WHERE keyed = 0
        ORDER BY id
        LIMIT ?
        """,
        (limit,),
    )
    return [_memory((id, text.decode(errors="surrogateescape"), *rest)) for id, text, *rest in rows]


def replace_keywords(tx: WriteTx, memory: ShortTermMemory, keywords: Sequence[Keyword]) -> None:
    """Unless its text has changed again."""
    keyed = tx.execute(
        "UPDATE main.short_term_memories SET keyed = 1 WHERE id = ? AND CAST(text AS BLOB) = ?",
        (memory.id, memory.text.encode(errors="surrogateescape")),
    )
    if keyed:
        tx.execute("DELETE FROM main.short_term_keywords WHERE memory_id = ?", (memory.id,))
        insert_keywords(tx, memory.id, [(each.word, each.weight) for each in keywords])


def insert_keywords(tx: WriteTx, id: int, weights: Sequence[tuple[str, float]]) -> None:
    """Each word with its weight."""
    tx.execute(
        """
        INSERT INTO main.short_term_keywords (conversation_id, word, memory_id, weight)
        SELECT m.conversation_id, k.value ->> 0, m.id, k.value ->> 1
        FROM json_each(?) AS k
        CROSS JOIN short_term_memories AS m
        WHERE m.id = ?
        """,
        (json.dumps(weights), id),
    )


def _asked(asking: Asking) -> str:
    found = zip(asking.keywords, containing(asking.keywords), strict=True)
    return json.dumps([(each.word, each.weight, longer) for each, longer in found])


def relevant(
    tx: Tx, conversation: ConversationId, asking: Asking, said_before: str, limit: int | None = None
) -> list[Recollection]:
    """The memories that share a word with what is asked and are relevant enough to come back, best first."""
    rows = tx.rows(
        f"""
        WITH {_ASKED},
        shared (id, words) AS MATERIALIZED (
            SELECT k.memory_id, sum(a.weight + k.weight)
            FROM asked AS a
            CROSS JOIN short_term_keywords AS k ON k.conversation_id = :conversation AND k.word = a.word
            WHERE {_COUNTS}
            GROUP BY k.memory_id
        ),
        parts (id, said_at, words, penalty, score) AS (
            SELECT m.id, m.said_at, s.words, {_PENALTY}, m.score
            FROM shared AS s
            CROSS JOIN short_term_memories AS m ON m.id = s.id
            WHERE m.said_at <= :before
        )
        SELECT id, said_at, words, penalty, {_COUNTED_SCORE}, {_RELEVANCE} AS relevance
        FROM parts
        WHERE relevance >= {THRESHOLD}
        ORDER BY relevance DESC, said_at DESC, id DESC
        LIMIT :limit
        """,
        {
            "asked": _asked(asking),
            "share": asking.score_share,
            "conversation": conversation,
            "now": tx.now,
            "before": said_before,
            "limit": -1 if limit is None else limit,
        },
    )
    return [_recollection(row) for row in rows]


def recollect(tx: Tx, asking: Asking, ids: Sequence[ShortTermId]) -> list[Recollection]:
    """The relevance of these memories, in the order given, whatever it is."""
    rows = tx.rows(
        f"""
        WITH {_ASKED},
        parts (place, id, said_at, words, penalty, score) AS (
            SELECT wanted.key, m.id, m.said_at, (
                SELECT ifnull(sum(a.weight + k.weight), 0.0)
                FROM short_term_keywords AS k
                JOIN asked AS a ON a.word = k.word
                WHERE k.memory_id = m.id AND {_COUNTS}
            ), {_PENALTY}, m.score
            FROM json_each(:ids) AS wanted
            CROSS JOIN short_term_memories AS m ON m.id = wanted.value
        )
        SELECT id, said_at, words, penalty, {_COUNTED_SCORE}, {_RELEVANCE}
        FROM parts
        ORDER BY place
        """,
        {
            "asked": _asked(asking),
            "share": asking.score_share,
            "now": tx.now,
            "ids": json.dumps(ids),
        },
    )
    return [_recollection(row) for row in rows]


def shared_words(tx: Tx, id: ShortTermId, asking: Asking) -> list[str]:
    """The words that a memory shares with what is asked and that count, heaviest in it first."""
    rows = tx.rows(
        f"""
        WITH {_ASKED}
        SELECT k.word
        FROM short_term_keywords AS k
        JOIN asked AS a ON a.word = k.word
        WHERE k.memory_id = :id AND {_COUNTS}
        ORDER BY k.weight DESC, k.word
        """,
        {"id": id, "asked": _asked(asking)},
    )
    return [word for (word,) in rows]


def select(tx: Tx, ids: Iterable[ShortTermId]) -> dict[ShortTermId, ShortTermMemory]:
    rows = tx.rows(
        "SELECT id, text, score, said_at FROM short_term_memories WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(ids)),),
    )
    return {row[0]: _memory(row) for row in rows}


def conditions(wanted: SaidFilter) -> tuple[list[str], list[Value]]:
    """The filter as clauses on `short_term_memories AS m`, beside their values."""
    clauses: list[str] = []
    values: list[Value] = []
    if wanted.conversations is not None:
        clauses.append(
            "m.conversation_id IN (SELECT id FROM conversations WHERE name IN (SELECT value FROM json_each(?)))"
        )
        values.append(json.dumps(wanted.conversations))
    for sign, moment in ((">=", wanted.since), ("<", wanted.until)):
        if moment is not None:
            clauses.append(f"julianday(m.said_at) {sign} julianday(?)")
            values.append(moment)
    return clauses, values


def count_settled(tx: Tx, conversation: ConversationId, before: str) -> int:
    """How many memories of a conversation were said until that moment."""
    return int(
        tx.value(
            "SELECT count(*) FROM short_term_memories WHERE conversation_id = ? AND said_at <= ?",
            (conversation, before),
        )
    )


def count_unsettled(tx: Tx, conversation: ConversationId, before: str) -> int:
    """How many were said after that moment."""
    return int(
        tx.value(
            "SELECT count(*) FROM short_term_memories WHERE conversation_id = ? AND said_at > ?",
            (conversation, before),
        )
    )


def nth_settled(
    tx: Tx, conversation: ConversationId, before: str, place: int
) -> tuple[ShortTermId, str, float]:
    """Id, moment and score of one of the memories said until that moment; the oldest has the place 0."""
    id, said_at, score = tx.one(
        """
        SELECT id, said_at, score
        FROM short_term_memories
        WHERE conversation_id = ? AND said_at <= ?
        ORDER BY said_at, score, id
        LIMIT 1 OFFSET ?
        """,
        (conversation, before, place),
    )
    return id, said_at, score


def settled(tx: Tx, conversation: ConversationId, before: str) -> list[tuple[ShortTermId, str, float]]:
    """Id, moment and score of all memories said until that moment, oldest first."""
    return tx.rows(
        """
        SELECT id, said_at, score
        FROM short_term_memories
        WHERE conversation_id = ? AND said_at <= ?
        ORDER BY said_at, score, id
        """,
        (conversation, before),
    )


def raise_score(tx: WriteTx, id: ShortTermId, reward: float) -> None:
    tx.execute(
        f"UPDATE main.short_term_memories SET score = min({MAX_SCORE}, score + ?) WHERE id = ?", (reward, id)
    )


def texts(tx: Tx, conversation: ConversationId) -> Iterator[tuple[ShortTermId, str]]:
    """Id and text of the memories of a conversation, by id, read a page at a time."""
    last = ShortTermId(0)
    while page := tx.value(
        """
        SELECT max(id) FROM (
            SELECT id FROM short_term_memories WHERE conversation_id = ? AND id > ? ORDER BY id LIMIT ?
        )
        """,
        (conversation, last, PAGE),
    ):
        yield from tx.rows(
            "SELECT id, text FROM short_term_memories WHERE conversation_id = ? AND id > ? AND id <= ? ORDER BY id",
            (conversation, last, page),
        )
        last = page


def clean_up(tx: WriteTx, conversation: ConversationId, rule: CleanupRule) -> tuple[int, int]:
    """Remove what is old or has faded, but for the best; how many went and stayed. As `faded` of the domain."""
    before = count(tx, conversation)
    if before > rule.kept:
        tx.execute(
            f"""
            DELETE FROM main.short_term_memories WHERE id IN (
                SELECT id FROM (
                    SELECT m.id, m.said_at, round(m.score - {_PENALTY}, {RELEVANCE_DECIMALS}) AS relevance
                    FROM short_term_memories AS m
                    WHERE m.conversation_id = :conversation
                    ORDER BY relevance DESC, m.said_at DESC, m.id DESC
                    LIMIT -1 OFFSET :kept
                )
                WHERE said_at < :oldest OR relevance < :floor
            )
            """,
            {
                "conversation": conversation,
                "now": tx.now,
                "oldest": timestamp(datetime.fromisoformat(tx.now) - rule.age),
                "kept": rule.kept,
                "floor": rule.floor,
            },
        )
    after = count(tx, conversation)
    return before - after, after


def count(tx: Tx, conversation: ConversationId) -> int:
    return int(
        tx.value("SELECT count(*) FROM short_term_memories WHERE conversation_id = ?", (conversation,))
    )


def totals(tx: Tx, conversation: ConversationId | None) -> Totals:
    """Of one conversation, or of all."""
    where = "" if conversation is None else "WHERE conversation_id = ?"
    row = tx.one(
        f"""
        SELECT count(*), count(DISTINCT conversation_id), min(said_at), max(said_at),
            ifnull(avg(score), 0.0), ifnull(min(score), 0.0), ifnull(max(score), 0.0)
        FROM short_term_memories
        {where}
        """,
        () if conversation is None else (conversation,),
    )
    return Totals(*row)
