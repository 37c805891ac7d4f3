"""The tables `short_term_memories` and `short_term_keywords`."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
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
    ShortTermId,
    ShortTermMemory,
    containing,
)
from memory_server.postgres import word_rows
from memory_server.postgres.tx import Tx
from memory_server.storage.short_term import PAGE, ConversationId, Totals

_AGE_MS = "greatest(0, (julian_day(%(now)s) - julian_day(m.said_at)) * 86400000.0::double precision)"

_LEFT = f"exp(greatest(-700, -{_AGE_MS} * {DECAY_PER_MS!r}::double precision))"
"""What is left: exp() refuses what it would make 0 of."""

_PENALTY = f"({MAX_PENALTY}::double precision * (1 - {_LEFT}))"
"""15 x (1 - e^(-age_ms x 2e-9)): what a memory has lost to time; none while its moment is still to come."""

_COUNTED_SCORE = "least(score, %(share)s::double precision * words)"
"""As `counted_score` of the domain: without a share, `least` passes over the NULL."""

_RELEVANCE = f"round((words - penalty + {_COUNTED_SCORE})::numeric, {RELEVANCE_DECIMALS})::double precision"

_ASKED = """
    asked (word, weight, containing) AS MATERIALIZED (
        SELECT word, weight, ARRAY(SELECT json_array_elements_text(containing::json))
        FROM unnest(%(words)s::text[], %(weights)s::double precision[], %(containing)s::text[])
            AS given (word, weight, containing)
    )
"""

_COUNTS = """(
    a.containing = '{}' OR NOT EXISTS (
        SELECT 1
        FROM short_term_keywords AS other
        WHERE other.conversation_id = k.conversation_id
            AND other.word = ANY(a.containing)
            AND other.memory_id = k.memory_id
    )
)"""
"""Whether no other shared word contains this shared word."""


def _sum(number: str) -> str:
    """A sum in two parts, of which the first loses nothing: it is that of SQLite, in whichever order it is made."""
    upper = f"(floor({number} * 1048576::double precision) / 1048576::double precision)"
    return f"coalesce(sum({upper}) + sum({number} - {upper}), 0)"


_WORDS = _sum("(a.weight + k.weight)")


def _memory(row: tuple[Any, ...]) -> ShortTermMemory:
    return ShortTermMemory(*row)


def _recollection(row: tuple[Any, ...]) -> Recollection:
    return Recollection(*row)


def _values(asking: Asking) -> dict[str, Any]:
    return {
        "words": [keyword.word for keyword in asking.keywords],
        "weights": [keyword.weight for keyword in asking.keywords],
        "containing": [json.dumps(longer) for longer in containing(asking.keywords)],
        "share": asking.score_share,
    }


@dataclass(frozen=True, slots=True)
class ShortTerm:
    """The tables `short_term_memories` and `short_term_keywords`."""

    tx: Tx
    _pages: dict[tuple[ConversationId, str, int], list[tuple[ShortTermId, str, float]]] = field(
        default_factory=dict
    )
    """What `nth_settled` has read: it is asked for one place after the other, mostly of one page."""

    def insert(
        self,
        conversation: ConversationId,
        text: str,
        said_at: str,
        keywords: Sequence[Keyword] | None,
        caller: Caller,
    ) -> ShortTermId:
        (id,) = self.tx.one(
            """
            INSERT INTO short_term_memories
                (conversation_id, text, said_at, created_at, created_by, session, keyed)
            VALUES (%s, %s, %s, %s, %s, %s, %s)
            RETURNING id
            """,
            (conversation, text, said_at, self.tx.now, caller.author, caller.session, keywords is not None),
        )
        word_rows.write_short_term(self.tx, id, text)
        if keywords is not None:
            self.insert_keywords(id, [(keyword.word, keyword.weight) for keyword in keywords])
        return ShortTermId(id)

    def unkeyed(self, limit: int) -> list[ShortTermMemory]:
        rows = self.tx.rows(
            "SELECT id, text, score, said_at FROM short_term_memories WHERE NOT keyed ORDER BY id LIMIT %s",
            (limit,),
        )
        return [_memory(row) for row in rows]

    def replace_keywords(self, memory: ShortTermMemory, keywords: Sequence[Keyword]) -> None:
        self.tx.send(
            """
            WITH keyed (id) AS (
                UPDATE short_term_memories SET keyed = true WHERE id = %s AND text = %s RETURNING id
            )
            DELETE FROM short_term_keywords WHERE memory_id IN (SELECT id FROM keyed)
            """,
            (memory.id, memory.text),
        )
        self.insert_keywords(memory.id, [(keyword.word, keyword.weight) for keyword in keywords], memory.text)

    def insert_keywords(self, id: int, weights: Sequence[tuple[str, float]], text: str | None = None) -> None:
        """Each word with its weight; where a text is given, only for a memory that has it."""
        self.tx.send(
            """
            INSERT INTO short_term_keywords (conversation_id, word, memory_id, weight)
            SELECT m.conversation_id, k.word, m.id, k.weight
            FROM short_term_memories AS m
            CROSS JOIN unnest(%(words)s::text[], %(weights)s::double precision[]) AS k (word, weight)
            WHERE m.id = %(id)s AND (%(text)s::text IS NULL OR m.text = %(text)s::text)
            """,
            {
                "id": id,
                "words": [word for word, _ in weights],
                "weights": [weight for _, weight in weights],
                "text": text,
            },
        )

    def relevant(
        self, conversation: ConversationId, asking: Asking, said_before: str, limit: int | None = None
    ) -> list[Recollection]:
        rows = self.tx.rows(
            f"""
            WITH {_ASKED},
            shared (id, words) AS MATERIALIZED (
                SELECT k.memory_id, {_WORDS}
                FROM asked AS a
                JOIN short_term_keywords AS k ON k.conversation_id = %(conversation)s AND k.word = a.word
                WHERE {_COUNTS}
                GROUP BY k.memory_id
            ),
            parts (id, said_at, words, penalty, score) AS (
                SELECT m.id, m.said_at, s.words, {_PENALTY}, m.score
                FROM shared AS s
                JOIN short_term_memories AS m ON m.id = s.id
                WHERE m.said_at <= %(before)s
            ),
            valued (id, said_at, words, penalty, score, relevance) AS (
                SELECT id, said_at, words, penalty, {_COUNTED_SCORE}, {_RELEVANCE} FROM parts
            )
            SELECT id, said_at, words, penalty, score, relevance
            FROM valued
            WHERE relevance >= {THRESHOLD}
            ORDER BY relevance DESC, said_at DESC, id DESC
            LIMIT %(limit)s::bigint
            """,
            {
                **_values(asking),
                "conversation": conversation,
                "now": self.tx.now,
                "before": said_before,
                "limit": limit,
            },
        )
        return [_recollection(row) for row in rows]

    def recollect(self, asking: Asking, ids: Sequence[ShortTermId]) -> list[Recollection]:
        rows = self.tx.rows(
            f"""
            WITH {_ASKED},
            parts (place, id, said_at, words, penalty, score) AS (
                SELECT wanted.place, m.id, m.said_at, (
                    SELECT {_WORDS}
                    FROM short_term_keywords AS k
                    JOIN asked AS a ON a.word = k.word
                    WHERE k.memory_id = m.id AND {_COUNTS}
                ), {_PENALTY}, m.score
                FROM unnest(%(ids)s::bigint[]) WITH ORDINALITY AS wanted (id, place)
                JOIN short_term_memories AS m ON m.id = wanted.id
            )
            SELECT id, said_at, words, penalty, {_COUNTED_SCORE}, {_RELEVANCE}
            FROM parts
            ORDER BY place
            """,
            {**_values(asking), "now": self.tx.now, "ids": list(ids)},
        )
        return [_recollection(row) for row in rows]

    def shared_words(self, ids: Sequence[ShortTermId], asking: Asking) -> dict[ShortTermId, list[str]]:
        rows = self.tx.rows(
            f"""
            WITH {_ASKED}
            SELECT k.memory_id, k.word
            FROM short_term_keywords AS k
            JOIN asked AS a ON a.word = k.word
            WHERE k.memory_id = ANY(%(ids)s::bigint[]) AND {_COUNTS}
            ORDER BY k.weight DESC, k.word
            """,
            {**_values(asking), "ids": list(ids)},
        )
        words_by_id: dict[ShortTermId, list[str]] = {id: [] for id in ids}
        for id, word in rows:
            words_by_id[id].append(word)
        return words_by_id

    def select(self, ids: Iterable[ShortTermId]) -> dict[ShortTermId, ShortTermMemory]:
        rows = self.tx.rows(
            "SELECT id, text, score, said_at FROM short_term_memories WHERE id = ANY(%s::bigint[])",
            (list(ids),),
        )
        return {row[0]: _memory(row) for row in rows}

    def count_settled(self, conversation: ConversationId, before: str) -> int:
        return int(
            self.tx.value(
                "SELECT count(*) FROM short_term_memories WHERE conversation_id = %s AND said_at <= %s",
                (conversation, before),
            )
        )

    def count_unsettled(self, conversation: ConversationId, before: str) -> int:
        return int(
            self.tx.value(
                "SELECT count(*) FROM short_term_memories WHERE conversation_id = %s AND said_at > %s",
                (conversation, before),
            )
        )

    def nth_settled(
        self, conversation: ConversationId, before: str, place: int
    ) -> tuple[ShortTermId, str, float]:
        page = (conversation, before, place // PAGE)
        if page not in self._pages:
            self._pages[page] = self._settled(conversation, before, PAGE, place // PAGE * PAGE)
        return self._pages[page][place % PAGE]

    def settled(self, conversation: ConversationId, before: str) -> list[tuple[ShortTermId, str, float]]:
        return self._settled(conversation, before, None, 0)

    def _settled(
        self, conversation: ConversationId, before: str, limit: int | None, offset: int
    ) -> list[tuple[ShortTermId, str, float]]:
        rows = self.tx.rows(
            """
            SELECT id, said_at, score
            FROM short_term_memories
            WHERE conversation_id = %s AND said_at <= %s
            ORDER BY said_at, score, id
            LIMIT %s OFFSET %s
            """,
            (conversation, before, limit, offset),
        )
        return [(id, said_at, score) for id, said_at, score in rows]

    def raise_score(self, id: ShortTermId, reward: float) -> None:
        self.tx.send(
            f"UPDATE short_term_memories SET score = least({MAX_SCORE}, score + %s) WHERE id = %s",
            (reward, id),
        )

    def texts(self, conversation: ConversationId) -> Iterator[tuple[ShortTermId, str]]:
        last = 0
        while page := self.tx.rows(
            """
            SELECT id, text
            FROM short_term_memories
            WHERE conversation_id = %s AND id > %s
            ORDER BY id
            LIMIT %s
            """,
            (conversation, last, PAGE),
        ):
            yield from ((id, text) for id, text in page)
            last = page[-1][0]
            if len(page) < PAGE:
                return

    def clean_up(self, conversation: ConversationId, rule: CleanupRule, moment: str) -> tuple[int, int]:
        before, removed = self.tx.one(
            f"""
            WITH ranked (id, said_at, relevance) AS (
                SELECT
                    m.id, m.said_at,
                    round((m.score - {_PENALTY})::numeric, {RELEVANCE_DECIMALS})::double precision
                FROM short_term_memories AS m
                WHERE m.conversation_id = %(conversation)s
            ),
            further (id, said_at, relevance) AS (
                SELECT id, said_at, relevance
                FROM ranked
                ORDER BY relevance DESC, said_at DESC, id DESC
                OFFSET %(kept)s
            ),
            gone (id) AS (
                DELETE FROM short_term_memories
                WHERE id IN (
                    SELECT id
                    FROM further
                    WHERE said_at < %(oldest)s OR relevance < %(floor)s::double precision
                )
                RETURNING id
            )
            SELECT (SELECT count(*) FROM ranked), (SELECT count(*) FROM gone)
            """,
            {
                "conversation": conversation,
                "now": moment,
                "oldest": timestamp(datetime.fromisoformat(moment) - rule.age),
                "kept": rule.kept,
                "floor": rule.floor,
            },
        )
        return removed, before - removed

    def count(self, conversation: ConversationId) -> int:
        return int(
            self.tx.value(
                "SELECT count(*) FROM short_term_memories WHERE conversation_id = %s", (conversation,)
            )
        )

    def totals(self, conversation: ConversationId | None) -> Totals:
        row = self.tx.one(
            f"""
            SELECT count(*), count(DISTINCT conversation_id), min(said_at), max(said_at),
                {_sum("score")} / greatest(1, count(*)), coalesce(min(score), 0.0), coalesce(max(score), 0.0)
            FROM short_term_memories
            WHERE %s::bigint IS NULL OR conversation_id = %s::bigint
            """,
            (conversation, conversation),
        )
        return Totals(*row)
