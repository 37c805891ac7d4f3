"""The table `long_term_memories`."""

import json
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
from memory_server.sqlite.tx import Tx
from memory_server.storage.short_term import ConversationId

_COLUMNS = """
    id, name, prompt, "trigger", created_context, updated_context, created_at, updated_at, fired_at, fired_count,
    error, failures, quarantined_until, cooldown
"""

_WATCH = 'id, name, "trigger", fired_at, error, failures, quarantined_until, slow, cooldown'


def _memory(row: tuple[Any, ...]) -> LongTermMemory:
    return LongTermMemory(*row)


_ORDER = {
    Order.NAME: "(SELECT key FROM json_each(:places) WHERE value = conversation_id), error IS NULL, name",
    Order.WOKEN: "fired_at DESC, id DESC",
    Order.NEW: "created_at DESC, id DESC",
}


@dataclass(frozen=True, slots=True)
class LongTerm:
    """The table `long_term_memories`."""

    tx: Tx

    def find(self, conversation: ConversationId, name: str) -> LongTermMemory | None:
        row = self.tx.row(
            f"SELECT {_COLUMNS} FROM long_term_memories WHERE conversation_id = ? AND name = ?",
            (conversation, name),
        )
        return None if row is None else _memory(row)

    def insert(self, conversation: ConversationId, draft: LongTermDraft, caller: Caller) -> None:
        self.tx.execute(
            """
            INSERT INTO main.long_term_memories
                (conversation_id, name, prompt, "trigger", created_context, cooldown, created_at, judged_at, created_by,
                 session)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
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
        self.tx.execute(
            """
            UPDATE main.long_term_memories
            SET prompt = ifnull(:prompt, prompt), "trigger" = ifnull(:trigger, "trigger"),
                updated_context = ifnull(:context, updated_context), updated_at = :now,
                cooldown = ifnull(:cooldown, cooldown),
                error = iif(:trigger IS NULL, error, NULL), failures = iif(:trigger IS NULL, failures, 0),
                quarantined_until = iif(:trigger IS NULL, quarantined_until, NULL)
            WHERE id = :id
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
            "SELECT name FROM long_term_memories WHERE conversation_id = ? ORDER BY name LIMIT ?",
            (conversation, limit),
        )
        return [name for (name,) in rows]

    def never_woken(self, conversation: ConversationId, before: str, limit: int) -> list[LongTermMemory]:
        rows = self.tx.rows(
            f"""
            SELECT {_COLUMNS}
            FROM long_term_memories
            WHERE conversation_id = ? AND (error IS NOT NULL OR (fired_count = 0 AND created_at < ?))
            ORDER BY error IS NULL, created_at, id
            LIMIT ?
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
            WHERE conversation_id IN (SELECT value FROM json_each(:places))
            ORDER BY {_ORDER[order]}
            LIMIT :limit OFFSET :offset
            """,
            {"places": json.dumps(list(conversations)), "limit": limit, "offset": offset},
        )
        return [_memory(row) for row in rows]

    def count(self, conversation: ConversationId) -> int:
        return int(
            self.tx.value(
                "SELECT count(*) FROM long_term_memories WHERE conversation_id = ?", (conversation,)
            )
        )

    def watches(self, conversation: ConversationId) -> list[Watch]:
        rows = self.tx.rows(
            f"""
            SELECT {_WATCH}
            FROM long_term_memories
            WHERE conversation_id = ?
            ORDER BY failures > 0, slow, judged_at, id
            """,
            (conversation,),
        )
        return [Watch(*row) for row in rows]

    def find_watch(self, id: LongTermId) -> Watch | None:
        row = self.tx.row(
            f"""
            SELECT {_WATCH}
            FROM long_term_memories
            WHERE id = ?
            """,
            (id,),
        )
        return None if row is None else Watch(*row)

    def prompts(self, ids: Sequence[LongTermId]) -> dict[LongTermId, str]:
        return dict(
            self.tx.rows(
                "SELECT id, prompt FROM long_term_memories WHERE id IN (SELECT value FROM json_each(?))",
                (json.dumps(ids),),
            )
        )

    def mark_fired(self, ids: Sequence[LongTermId]) -> None:
        self.tx.execute(
            """
            UPDATE main.long_term_memories
            SET fired_at = ?, fired_count = fired_count + (fired_count < 9223372036854775807)
            WHERE id IN (SELECT value FROM json_each(?))
            """,
            (self.tx.now, json.dumps(ids)),
        )

    def mark_turn(self, ids: Sequence[LongTermId]) -> None:
        self.tx.execute(
            "UPDATE main.long_term_memories SET judged_at = ? WHERE id IN (SELECT value FROM json_each(?))",
            (self.tx.now, json.dumps(list(ids))),
        )

    def mark_slow(self, id: LongTermId, slow: bool) -> None:
        self.tx.execute("UPDATE main.long_term_memories SET slow = ? WHERE id = ?", (int(slow), id))

    def mark_judged(
        self, id: LongTermId, error: str | None, failures: int, quarantined_until: str | None
    ) -> None:
        self.tx.execute(
            """
            UPDATE main.long_term_memories
            SET error = ?, failures = ?, quarantined_until = ?
            WHERE id = ?
            """,
            (error, failures, quarantined_until, id),
        )
