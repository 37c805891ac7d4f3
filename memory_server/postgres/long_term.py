"""The table `long_term_memories`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memory_server.domain.caller import Caller
from memory_server.domain.long_term import (
    LongTermChange,
    LongTermDraft,
    LongTermId,
    LongTermMemory,
    Order,
    Watch,
)
from memory_server.postgres.tx import Tx
from memory_server.storage.short_term import ConversationId

_COLUMNS = """
    id, name, prompt, trigger, created_context, updated_context, created_at, updated_at, fired_at, fired_count,
    error, failures, quarantined_until, cooldown
"""

_WATCH = "id, name, trigger, fired_at, error, failures, quarantined_until, slow, cooldown"

_ORDER = {
    Order.NAME: "array_position(%(places)s::bigint[], conversation_id), error IS NULL, name",
    Order.WOKEN: "fired_at DESC NULLS LAST, id DESC",
    Order.NEW: "created_at DESC, id DESC",
}


def _memory(row: tuple[Any, ...]) -> LongTermMemory:
    return LongTermMemory(*row)


@dataclass(frozen=True, slots=True)
class LongTerm:
    """The table `long_term_memories`."""

    tx: Tx

    def find(self, conversation: ConversationId, name: str) -> LongTermMemory | None:
        row = self.tx.row(
            f"SELECT {_COLUMNS} FROM long_term_memories WHERE conversation_id = %s AND name = %s",
            (conversation, name),
        )
        return None if row is None else _memory(row)

    def insert(self, conversation: ConversationId, draft: LongTermDraft, caller: Caller) -> None:
        self.tx.send(
            """
            INSERT INTO long_term_memories
                (conversation_id, name, prompt, trigger, created_context, cooldown, created_at, judged_at, created_by,
                 session)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
            """,
            (
                conversation,
                draft.name,
                draft.prompt,
                draft.trigger,
                draft.created_context,
                draft.cooldown,
                self.tx.now,
                self.tx.now,  # its dry run was just now
                caller.author,
                caller.session,
            ),
        )

    def replace(self, id: LongTermId, wanted: LongTermChange) -> None:
        self.tx.send(
            """
            UPDATE long_term_memories
            SET prompt = coalesce(%(prompt)s, prompt), trigger = coalesce(%(trigger)s, trigger),
                updated_context = coalesce(%(context)s, updated_context), updated_at = %(now)s,
                cooldown = coalesce(%(cooldown)s, cooldown),
                error = CASE WHEN %(trigger)s::text IS NULL THEN error END,
                failures = CASE WHEN %(trigger)s::text IS NULL THEN failures ELSE 0 END,
                quarantined_until = CASE WHEN %(trigger)s::text IS NULL THEN quarantined_until END
            WHERE id = %(id)s
            """,
            {
                "id": id,
                "prompt": wanted.prompt,
                "trigger": wanted.trigger,
                "context": wanted.updated_context,
                "cooldown": wanted.cooldown,
                "now": self.tx.now,
            },
        )

    def names(self, conversation: ConversationId, limit: int) -> list[str]:
        rows = self.tx.rows(
            "SELECT name FROM long_term_memories WHERE conversation_id = %s ORDER BY name LIMIT %s",
            (conversation, limit),
        )
        return [name for (name,) in rows]

    def never_woken(self, conversation: ConversationId, before: str, limit: int) -> list[LongTermMemory]:
        rows = self.tx.rows(
            f"""
            SELECT {_COLUMNS}
            FROM long_term_memories
            WHERE conversation_id = %s AND (error IS NOT NULL OR (fired_count = 0 AND created_at < %s))
            ORDER BY error IS NULL, created_at, id
            LIMIT %s
            """,
            (conversation, before, limit),
        )
        return [_memory(row) for row in rows]

    def select(
        self, conversations: Sequence[ConversationId], order: Order, limit: int, offset: int
    ) -> list[LongTermMemory]:
        rows = self.tx.rows(
            f"""
            SELECT {_COLUMNS}
            FROM long_term_memories
            WHERE conversation_id = ANY(%(places)s::bigint[])
            ORDER BY {_ORDER[order]}
            LIMIT %(limit)s OFFSET %(offset)s
            """,
            {"places": list(conversations), "limit": limit, "offset": offset},
        )
        return [_memory(row) for row in rows]

    def count(self, conversation: ConversationId) -> int:
        return int(
            self.tx.value(
                "SELECT count(*) FROM long_term_memories WHERE conversation_id = %s", (conversation,)
            )
        )

    def watches(self, conversation: ConversationId) -> list[Watch]:
        rows = self.tx.rows(
            f"""
            SELECT {_WATCH}
            FROM long_term_memories
            WHERE conversation_id = %s
            ORDER BY failures > 0, slow, judged_at NULLS FIRST, id
            """,
            (conversation,),
        )
        return [Watch(*row) for row in rows]

    def find_watch(self, id: LongTermId) -> Watch | None:
        row = self.tx.row(f"SELECT {_WATCH} FROM long_term_memories WHERE id = %s", (id,))
        return None if row is None else Watch(*row)

    def prompts(self, ids: Sequence[LongTermId]) -> dict[LongTermId, str]:
        rows = self.tx.rows(
            "SELECT id, prompt FROM long_term_memories WHERE id = ANY(%s::bigint[])", (list(ids),)
        )
        return {LongTermId(id): prompt for id, prompt in rows}

    def mark_fired(self, ids: Sequence[LongTermId]) -> None:
        self.tx.send(
            """
            UPDATE long_term_memories
            SET fired_at = %s, fired_count = fired_count + (fired_count < 9223372036854775807)::int
            WHERE id = ANY(%s::bigint[])
            """,
            (self.tx.now, list(ids)),
        )

    def mark_turn(self, ids: Sequence[LongTermId]) -> None:
        self.tx.send(
            "UPDATE long_term_memories SET judged_at = %s WHERE id = ANY(%s::bigint[])",
            (self.tx.now, list(ids)),
        )

    def mark_slow(self, id: LongTermId, slow: bool) -> None:
        self.tx.send("UPDATE long_term_memories SET slow = %s WHERE id = %s", (slow, id))

    def mark_judged(
        self, id: LongTermId, error: str | None, failures: int, quarantined_until: str | None
    ) -> None:
        self.tx.send(
            "UPDATE long_term_memories SET error = %s, failures = %s, quarantined_until = %s WHERE id = %s",
            (error, failures, quarantined_until, id),
        )
