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
from memory_server.sqlite.tx import Tx, Value, no_more_than
from memory_server.storage.short_term import PAGE, ConversationId, Totals

_PENALTY = f"""(
    {MAX_PENALTY} * (1 - exp(-max(0, (julianday(:now) - julianday(m.said_at)) * 86400000.0) * {DECAY_PER_MS!r}))
)"""
"""15 x (1 - e^(-age_ms x 2e-9)): what a memory has lost to time; none while its moment is still to come."""

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


def _memory(row: tuple[Any, ...]) -> ShortTermMemory:
    return ShortTermMemory(*row)


def _recollection(row: tuple[Any, ...]) -> Recollection:
    return Recollection(*row)


def _values(asking: Asking) -> str:
    keywords = zip(asking.keywords, containing(asking.keywords), strict=True)
    return json.dumps([(keyword.word, keyword.weight, longer) for keyword, longer in keywords])


def conditions(filter: SaidFilter) -> tuple[list[str], list[Value]]:
    """The filter as clauses on `short_term_memories AS m`, beside their values."""
    clauses: list[str] = []
    values: list[Value] = []
    if filter.conversations is not None:
        clauses.append(
            "m.conversation_id IN (SELECT id FROM conversations WHERE name IN (SELECT value FROM json_each(?)))"
        )
        values.append(json.dumps(filter.conversations))
    for sign, moment in ((">=", filter.since), ("<", filter.until)):
        if moment is not None:
            clauses.append(f"julianday(m.said_at) {sign} julianday(?)")
            values.append(moment)
    return clauses, values


@dataclass(frozen=True, slots=True)
class ShortTerm:
    """The tables `short_term_memories` and `short_term_keywords`."""

    tx: Tx

    def insert(
        self,
        conversation: ConversationId,
        text: str,
        said_at: str,
        keywords: Sequence[Keyword] | None,
        caller: Caller,
    ) -> ShortTermId:
        row = self.tx.one(
            """
            INSERT INTO main.short_term_memories
                (conversation_id, text, said_at, created_at, created_by, session)
            VALUES (?, ?, ?, ?, ?, ?)
            RETURNING id
            """,
            (conversation, text, said_at, self.tx.now, caller.author, caller.session),
        )
        id = ShortTermId(row[0])
        if keywords is not None:
            self.tx.execute("UPDATE main.short_term_memories SET keyed = 1 WHERE id = ?", (id,))
            self.insert_keywords(id, [(keyword.word, keyword.weight) for keyword in keywords])
        return id

    def unkeyed(self, limit: int) -> list[ShortTermMemory]:
        rows = self.tx.rows(
            """
            SELECT id, CAST(text AS BLOB), score, said_at
            FROM short_term_memories
            WHERE keyed = 0
            ORDER BY id
            LIMIT ?
            """,
            (limit,),
        )
        return [_memory((id, text.decode(errors="surrogateescape"), *columns)) for id, text, *columns in rows]

    def replace_keywords(self, memory: ShortTermMemory, keywords: Sequence[Keyword]) -> None:
        keyed = self.tx.execute(
            "UPDATE main.short_term_memories SET keyed = 1 WHERE id = ? AND CAST(text AS BLOB) = ?",
            (memory.id, memory.text.encode(errors="surrogateescape")),
        )
        if keyed:
            self.tx.execute("DELETE FROM main.short_term_keywords WHERE memory_id = ?", (memory.id,))
            self.insert_keywords(memory.id, [(keyword.word, keyword.weight) for keyword in keywords])

    def insert_keywords(self, id: int, weights: Sequence[tuple[str, float]]) -> None:
        """Each word with its weight."""
        self.tx.execute(
            """
            INSERT INTO main.short_term_keywords (conversation_id, word, memory_id, weight)
            SELECT m.conversation_id, k.value ->> 0, m.id, k.value ->> 1
            FROM json_each(?) AS k
            CROSS JOIN short_term_memories AS m
            WHERE m.id = ?
            """,
            (json.dumps(weights), id),
        )

    def relevant(
        self, conversation: ConversationId, asking: Asking, said_before: str, limit: int | None = None
    ) -> list[Recollection]:
        rows = self.tx.rows(
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
                "asked": _values(asking),
                "share": asking.score_share,
                "conversation": conversation,
                "now": self.tx.now,
                "before": said_before,
                "limit": no_more_than(limit),
            },
        )
        return [_recollection(row) for row in rows]

    def recollect(self, asking: Asking, ids: Sequence[ShortTermId]) -> list[Recollection]:
        rows = self.tx.rows(
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
                "asked": _values(asking),
                "share": asking.score_share,
                "now": self.tx.now,
                "ids": json.dumps(ids),
            },
        )
        return [_recollection(row) for row in rows]

    def shared_words(self, ids: Sequence[ShortTermId], asking: Asking) -> dict[ShortTermId, list[str]]:
        values = _values(asking)
        return {id: self._shared_words(id, values) for id in ids}

    def _shared_words(self, id: ShortTermId, values: str) -> list[str]:
        rows = self.tx.rows(
            f"""
            WITH {_ASKED}
            SELECT k.word
            FROM short_term_keywords AS k
            JOIN asked AS a ON a.word = k.word
            WHERE k.memory_id = :id AND {_COUNTS}
            ORDER BY k.weight DESC, k.word
            """,
            {"id": id, "asked": values},
        )
        return [word for (word,) in rows]

    def select(self, ids: Iterable[ShortTermId]) -> dict[ShortTermId, ShortTermMemory]:
        rows = self.tx.rows(
            "SELECT id, text, score, said_at FROM short_term_memories WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(ids)),),
        )
        return {row[0]: _memory(row) for row in rows}

    def count_settled(self, conversation: ConversationId, before: str) -> int:
        return int(
            self.tx.value(
                "SELECT count(*) FROM short_term_memories WHERE conversation_id = ? AND said_at <= ?",
                (conversation, before),
            )
        )

    def count_unsettled(self, conversation: ConversationId, before: str) -> int:
        return int(
            self.tx.value(
                "SELECT count(*) FROM short_term_memories WHERE conversation_id = ? AND said_at > ?",
                (conversation, before),
            )
        )

    def nth_settled(
        self, conversation: ConversationId, before: str, place: int
    ) -> tuple[ShortTermId, str, float]:
        id, said_at, score = self.tx.one(
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

    def settled(self, conversation: ConversationId, before: str) -> list[tuple[ShortTermId, str, float]]:
        return self.tx.rows(
            """
            SELECT id, said_at, score
            FROM short_term_memories
            WHERE conversation_id = ? AND said_at <= ?
            ORDER BY said_at, score, id
            """,
            (conversation, before),
        )

    def raise_score(self, id: ShortTermId, reward: float) -> None:
        self.tx.execute(
            f"UPDATE main.short_term_memories SET score = min({MAX_SCORE}, score + ?) WHERE id = ?",
            (reward, id),
        )

    def texts(self, conversation: ConversationId) -> Iterator[tuple[ShortTermId, str]]:
        last = ShortTermId(0)
        while page := self.tx.value(
            """
            SELECT max(id) FROM (
                SELECT id FROM short_term_memories WHERE conversation_id = ? AND id > ? ORDER BY id LIMIT ?
            )
            """,
            (conversation, last, PAGE),
        ):
            yield from self.tx.rows(
                "SELECT id, text FROM short_term_memories WHERE conversation_id = ? AND id > ? AND id <= ? ORDER BY id",
                (conversation, last, page),
            )
            last = page

    def clean_up(self, conversation: ConversationId, rule: CleanupRule, moment: str) -> tuple[int, int]:
        before = self.count(conversation)
        if before > rule.kept:
            self.tx.execute(
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
                    "now": moment,
                    "oldest": timestamp(datetime.fromisoformat(moment) - rule.age),
                    "kept": rule.kept,
                    "floor": rule.floor,
                },
            )
        after = self.count(conversation)
        return before - after, after

    def count(self, conversation: ConversationId) -> int:
        return int(
            self.tx.value(
                "SELECT count(*) FROM short_term_memories WHERE conversation_id = ?", (conversation,)
            )
        )

    def totals(self, conversation: ConversationId | None) -> Totals:
        where = "" if conversation is None else "WHERE conversation_id = ?"
        row = self.tx.one(
            f"""
            SELECT count(*), count(DISTINCT conversation_id), min(said_at), max(said_at),
                ifnull(avg(score), 0.0), ifnull(min(score), 0.0), ifnull(max(score), 0.0)
            FROM short_term_memories
            {where}
            """,
            () if conversation is None else (conversation,),
        )
        return Totals(*row)
