"""The tables `short_term_memories` and `short_term_keywords`."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from memory_server.domain.caller import Caller
from memory_server.domain.moment import timestamp
from memory_server.domain.short_term import (
    MAX_SCORE,
    THRESHOLD,
    Asking,
    CleanupRule,
    Keyword,
    Recollection,
    ShortTermId,
    ShortTermMemory,
)
from memory_server.storage import relevance
from memory_server.storage.short_term import ConversationId, Totals
from memory_server.storage.statements import Statements

PAGE: Final = 1000
"""Texts that are in memory at once while a pattern is looked for."""

_OF_CONVERSATION = "FROM short_term_memories WHERE conversation_id = :conversation"


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


@dataclass(frozen=True, slots=True)
class ShortTerm:
    tx: Statements
    _pages: dict[tuple[ConversationId, str, int], list[tuple[ShortTermId, str, float]]] = field(
        default_factory=dict
    )
    """What `nth_settled` has read: it is asked for one place after the other, mostly of one page."""

    def unkeyed(self, limit: int) -> list[ShortTermMemory]:
        """Return memories whose text was written by hand, and whose keywords are still to be found."""
        return self._whole("keyed = 0", {"limit": limit})

    def page(self, after: int, limit: int) -> list[ShortTermMemory]:
        """Return the memories of all conversations with ids above `after`, by id."""
        return self._whole("id > :after", {"after": after, "limit": limit})

    def _whole(self, where: str, values: dict[str, int]) -> list[ShortTermMemory]:
        """Return memories by id.

        Bytes that are no UTF-8 become surrogates: one such row must not keep all others from their keywords.
        """
        rows = self.tx.rows(
            f"""
            SELECT id, CAST(text AS BLOB), score, said_at, origin
            FROM short_term_memories
            WHERE {where}
            ORDER BY id
            LIMIT :limit
            """,
            values,
        )
        return [
            ShortTermMemory(id, text.decode(errors="surrogateescape"), *columns)
            for id, text, *columns in rows
        ]

    def lacking(self, pairs: Sequence[tuple[ShortTermId, str]]) -> list[tuple[ShortTermId, str]]:
        """Return those of these pairs of a memory and a word in which the word is no keyword of the memory."""
        return self.tx.rows(
            """
            SELECT CAST(p.value ->> 0 AS bigint), p.value ->> 1
            FROM json_each(:pairs) AS p
            WHERE NOT EXISTS (
                SELECT 1
                FROM short_term_keywords AS k
                WHERE k.memory_id = CAST(p.value ->> 0 AS bigint) AND k.word = p.value ->> 1
            )
            """,
            {"pairs": json.dumps(pairs, ensure_ascii=False)},
        )

    def has_keyword(self, words: Sequence[str]) -> bool:
        """True if one of these words is a keyword of a memory."""
        values = {"words": self.tx.array(words)}
        return bool(
            self.tx.value(
                "SELECT 1 FROM short_term_keywords WHERE word IN (SELECT value FROM json_each(:words)) LIMIT 1",
                values,
            )
        )

    def relevant(
        self, conversation: ConversationId, asking: Asking, said_before: str, limit: int | None = None
    ) -> list[Recollection]:
        """Return the memories that share a word with what is asked and are relevant enough, best first."""
        rows = self.tx.rows(
            f"""
            WITH {relevance.ASKED},
            shared (id, words) AS MATERIALIZED (
                SELECT k.memory_id, total(a.weight + k.weight)
                FROM asked AS a
                CROSS JOIN short_term_keywords AS k
                WHERE k.conversation_id = :conversation AND k.word = a.word AND {relevance.COUNTS}
                GROUP BY k.memory_id
            ),
            parts (id, said_at, words, penalty, score) AS (
                SELECT m.id, m.said_at, s.words, {relevance.PENALTY}, m.score
                FROM shared AS s
                CROSS JOIN short_term_memories AS m
                WHERE m.id = s.id AND m.said_at <= :before
            )
            SELECT id, said_at, words, penalty, {relevance.COUNTED_SCORE}, {relevance.RELEVANCE} AS relevance
            FROM parts
            WHERE {relevance.RELEVANCE} >= {THRESHOLD}
            ORDER BY relevance DESC, said_at DESC, id DESC
            {"" if limit is None else "LIMIT :limit"}
            """,
            {
                **relevance.values(asking),
                "conversation": conversation,
                "now": self.tx.now,
                "before": said_before,
                "limit": limit,
            },
        )
        return [Recollection(*row) for row in rows]

    def recollect(self, asking: Asking, ids: Sequence[ShortTermId]) -> list[Recollection]:
        """Return the relevance of these memories, in the order given, whatever it is."""
        rows = self.tx.rows(
            f"""
            WITH {relevance.ASKED},
            parts (id, said_at, words, penalty, score) AS (
                SELECT m.id, m.said_at, (
                    SELECT total(a.weight + k.weight)
                    FROM short_term_keywords AS k
                    JOIN asked AS a ON a.word = k.word
                    WHERE k.memory_id = m.id AND {relevance.COUNTS}
                ), {relevance.PENALTY}, m.score
                FROM short_term_memories AS m
                WHERE m.id IN (SELECT value FROM json_each(:ids))
            )
            SELECT id, said_at, words, penalty, {relevance.COUNTED_SCORE}, {relevance.RELEVANCE}
            FROM parts
            """,
            {**relevance.values(asking), "now": self.tx.now, "ids": self.tx.array(ids)},
        )
        recollections = {row[0]: Recollection(*row) for row in rows}
        return [recollections[id] for id in ids if id in recollections]

    def shared_words(self, ids: Sequence[ShortTermId], asking: Asking) -> dict[ShortTermId, list[str]]:
        """Return the words that each memory shares with what is asked and that count, heaviest in it first."""
        rows = self.tx.rows(
            f"""
            WITH {relevance.ASKED}
            SELECT k.memory_id, k.word
            FROM short_term_keywords AS k
            CROSS JOIN asked AS a
            WHERE k.memory_id IN (SELECT value FROM json_each(:ids)) AND a.word = k.word AND {relevance.COUNTS}
            ORDER BY k.weight DESC, k.word
            """,
            {**relevance.values(asking), "ids": self.tx.array(ids)},
        )
        words_by_id: dict[ShortTermId, list[str]] = {id: [] for id in ids}
        for id, word in rows:
            words_by_id[id].append(word)
        return words_by_id

    def select(self, ids: Iterable[ShortTermId]) -> dict[ShortTermId, ShortTermMemory]:
        rows = self.tx.rows(
            """
            SELECT id, text, score, said_at, origin
            FROM short_term_memories
            WHERE id IN (SELECT value FROM json_each(:ids))
            """,
            {"ids": self.tx.array(ids)},
        )
        return {row[0]: ShortTermMemory(*row) for row in rows}

    def count_settled(self, conversation: ConversationId, before: str) -> int:
        """Return how many memories of a conversation were said until that moment."""
        return self._count("AND said_at <= :before", conversation, before)

    def count_unsettled(self, conversation: ConversationId, before: str) -> int:
        """Return how many were said after that moment."""
        return self._count("AND said_at > :before", conversation, before)

    def count(self, conversation: ConversationId) -> int:
        return self._count("", conversation, "")

    def nth_settled(
        self, conversation: ConversationId, before: str, place: int
    ) -> tuple[ShortTermId, str, float]:
        """Return id, moment and score of one of the memories said until that moment; the oldest has the place 0."""
        number, row = divmod(place, self.tx.page)
        page = (conversation, before, number)
        if page not in self._pages:
            self._pages[page] = self._settled(
                "LIMIT :limit OFFSET :offset", conversation, before, self.tx.page, number * self.tx.page
            )
        return self._pages[page][row]

    def settled(self, conversation: ConversationId, before: str) -> list[tuple[ShortTermId, str, float]]:
        """Return id, moment and score of all memories said until that moment, oldest first."""
        return self._settled("", conversation, before)

    def texts(self, conversation: ConversationId) -> Iterator[tuple[ShortTermId, str]]:
        """Yield id and text of the memories of a conversation, by id, read a page at a time."""
        last: ShortTermId | None = ShortTermId(0)
        while last is not None:
            rows = self.tx.rows(
                f"""
                WITH ending (id) AS MATERIALIZED (
                    SELECT id {_OF_CONVERSATION} AND id > :last ORDER BY id LIMIT 1 OFFSET :rest
                )
                SELECT id, text
                {_OF_CONVERSATION} AND id > :last
                    AND id <= coalesce((SELECT id FROM ending), 9223372036854775807)
                UNION ALL
                SELECT id, NULL FROM ending
                ORDER BY 1
                """,
                {"conversation": conversation, "last": last, "rest": PAGE - 1},
            )
            yield from ((id, text) for id, text in rows if text is not None)
            last = next((id for id, text in rows if text is None), None)

    def totals(self, conversation: ConversationId | None) -> Totals:
        """Return the totals of one conversation, or of all."""
        row = self.tx.one(
            f"""
            SELECT count(*), count(DISTINCT conversation_id), min(said_at), max(said_at),
                total(score) / max(1, count(*)), coalesce(min(score), 0.0), coalesce(max(score), 0.0)
            FROM short_term_memories
            {"" if conversation is None else "WHERE conversation_id = :conversation"}
            """,
            {"conversation": conversation},
        )
        return Totals(*row)

    def _count(self, condition: str, conversation: ConversationId, before: str) -> int:
        return int(
            self.tx.value(
                f"SELECT count(*) {_OF_CONVERSATION} {condition}",
                {"conversation": conversation, "before": before},
            )
        )

    def _settled(
        self, page: str, conversation: ConversationId, before: str, limit: int = 0, offset: int = 0
    ) -> list[tuple[ShortTermId, str, float]]:
        return self.tx.rows(
            f"""
            SELECT id, said_at, score
            {_OF_CONVERSATION} AND said_at <= :before
            ORDER BY said_at, score, id
            {page}
            """,
            {"conversation": conversation, "before": before, "limit": limit, "offset": offset},
        )


@dataclass(frozen=True, slots=True)
class WritableShortTerm(ShortTerm):
    def confirm(self, id: int, origin: str) -> None:
        """Give a memory the origin of what a person has confirmed."""
        self.tx.send(
            "UPDATE main.short_term_memories SET origin = :origin WHERE id = :id",
            {"id": id, "origin": origin},
        )

    def insert(
        self,
        conversation: ConversationId,
        text: str,
        said_at: str,
        keywords: Sequence[Keyword] | None,
        caller: Caller,
    ) -> ShortTermId:
        """Store a memory and return its id. Without keywords, background work finds them."""
        id = self.tx.insert(
            "short_term_memories",
            {
                "conversation_id": conversation,
                "text": text,
                "said_at": said_at,
                "created_at": self.tx.now,
                "created_by": caller.author,
                "session": caller.session,
                "keyed": keywords is not None,
                "origin": caller.stamp(text),
            },
        )
        if keywords is not None:
            self.tx.send(  # a trigger of the file takes the mark off each new row
                "UPDATE main.short_term_memories SET keyed = true WHERE id = :id AND keyed = 0", {"id": id}
            )
            self.insert_keywords(id, text, keywords)
        return ShortTermId(id)

    def replace_keywords(self, memory: ShortTermMemory, keywords: Sequence[Keyword]) -> None:
        """Store the keywords of a memory, unless its text has changed again."""
        values = {"id": memory.id, "text": _bytes(memory.text)}
        unchanged = "id = :id AND CAST(text AS BLOB) = :text"
        self.tx.send(f"UPDATE main.short_term_memories SET keyed = true WHERE {unchanged}", values)
        self.tx.send(
            f"""
            DELETE FROM main.short_term_keywords
            WHERE memory_id IN (SELECT id FROM short_term_memories WHERE {unchanged})
            """,
            values,
        )
        self.insert_keywords(memory.id, memory.text, keywords)

    def delete_keywords(self, words: Sequence[str]) -> None:
        """Delete these keywords of all memories."""
        self.tx.send(
            "DELETE FROM main.short_term_keywords WHERE word IN (SELECT value FROM json_each(:words))",
            {"words": self.tx.array(words)},
        )

    def insert_keywords(self, id: int, text: str, keywords: Sequence[Keyword]) -> None:
        """Store the keywords of a memory that has this text."""
        self.tx.send(
            """
            INSERT INTO main.short_term_keywords (conversation_id, word, memory_id, weight)
            SELECT m.conversation_id, k.value ->> 0, m.id, CAST(k.value ->> 1 AS double precision)
            FROM json_each(:keywords) AS k
            CROSS JOIN short_term_memories AS m
            WHERE m.id = :id AND CAST(m.text AS BLOB) = :text
            """,
            {
                "id": id,
                "text": _bytes(text),
                "keywords": json.dumps(
                    [(keyword.word, keyword.weight) for keyword in keywords], ensure_ascii=False
                ),
            },
        )

    def raise_score(self, id: ShortTermId, reward: float) -> None:
        self.tx.send(
            f"UPDATE main.short_term_memories SET score = min({MAX_SCORE}, score + :reward) WHERE id = :id",
            {"reward": reward, "id": id},
        )

    def clean_up(self, conversation: ConversationId, rule: CleanupRule, moment: str) -> tuple[int, int]:
        """Remove what was old or had faded at a moment, but for the best; return how many went and stayed.

        As `faded` of the domain.
        """
        rows = self.tx.rows(
            f"""
            WITH ranked (id, said_at, relevance, place) AS (
                SELECT id, said_at, relevance, row_number() OVER (ORDER BY relevance DESC, said_at DESC, id DESC)
                FROM (
                    SELECT m.id, m.said_at, {relevance.rounded(f"m.score - {relevance.PENALTY}")} AS relevance
                    FROM short_term_memories AS m
                    WHERE m.conversation_id = :conversation
                ) AS valued
            )
            SELECT counted.number, faded.id
            FROM (SELECT count(*) AS number {_OF_CONVERSATION}) AS counted
            LEFT JOIN ranked AS faded
                ON faded.place > :kept AND (faded.said_at < :oldest OR faded.relevance < :floor)
            """,
            {
                "conversation": conversation,
                "now": moment,
                "oldest": timestamp(datetime.fromisoformat(moment) - rule.age),
                "kept": rule.kept,
                "floor": rule.floor,
            },
        )
        faded = [id for _, id in rows if id is not None]
        self.tx.send(
            "DELETE FROM main.short_term_memories WHERE id IN (SELECT value FROM json_each(:ids))",
            {"ids": self.tx.array(faded)},
        )
        return len(faded), rows[0][0] - len(faded)
