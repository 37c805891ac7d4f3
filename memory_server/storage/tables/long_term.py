"""The table `long_term_memories`."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory_server.domain.caller import Caller
from memory_server.domain.long_term import (
    LongTermChange,
    LongTermDraft,
    LongTermId,
    LongTermMemory,
    Order,
    Watch,
)
from memory_server.storage.memory_rows import STANDS
from memory_server.storage.short_term import ConversationId
from memory_server.storage.statements import Statements

_COLUMNS = """
    id, name, prompt, "trigger", created_context, updated_context, created_at, updated_at, fired_at, fired_count,
    error, failures, quarantined_until, cooldown, origin
"""

_WATCH = """
    id, name, "trigger", fired_at, error, failures, quarantined_until, slow, cooldown, coalesce(updated_at, created_at)
"""

_ORDER = {
    Order.NAME: "(SELECT key FROM json_each(:places) WHERE value = conversation_id), error IS NULL, name",
    Order.WOKEN: "fired_at DESC NULLS LAST, id DESC",
    Order.NEW: "created_at DESC, id DESC",
}


@dataclass(frozen=True, slots=True)
class LongTerm:
    tx: Statements

    def find(self, conversation: ConversationId, name: str) -> LongTermMemory | None:
        row = self.tx.row(
            f"""
            SELECT {_COLUMNS}
            FROM long_term_memories
            WHERE conversation_id = :conversation AND name = :name
            """,
            {"conversation": conversation, "name": name},
        )
        return None if row is None else LongTermMemory(*row)

    def get(self, id: LongTermId) -> LongTermMemory:
        return LongTermMemory(
            *self.tx.one(f"SELECT {_COLUMNS} FROM long_term_memories WHERE id = :id", {"id": id})
        )

    def names(self, conversation: ConversationId, limit: int) -> list[str]:
        rows = self.tx.rows(
            """
            SELECT name
            FROM long_term_memories
            WHERE conversation_id = :conversation
            ORDER BY name
            LIMIT :limit
            """,
            {"conversation": conversation, "limit": limit},
        )
        return [name for (name,) in rows]

    def never_woken(self, conversation: ConversationId, before: str, limit: int) -> list[LongTermMemory]:
        """Return those from before a moment that were never woken, and those whose trigger failed last time.

        The oldest comes first.
        """
        rows = self.tx.rows(
            f"""
            SELECT {_COLUMNS}
            FROM long_term_memories
            WHERE conversation_id = :conversation
                AND (error IS NOT NULL OR (fired_count = 0 AND created_at < :before))
                AND id NOT IN (SELECT memory_id FROM rules)
            ORDER BY error IS NULL, created_at, id
            LIMIT :limit
            """,
            {"conversation": conversation, "before": before, "limit": limit},
        )
        return [LongTermMemory(*row) for row in rows]

    def select(
        self, conversations: Sequence[ConversationId], order: Order, limit: int, offset: int
    ) -> list[LongTermMemory]:
        """Return those of some conversations.

        By name: one conversation after the other, those whose trigger failed come first.
        """
        rows = self.tx.rows(
            f"""
            SELECT {_COLUMNS}
            FROM long_term_memories
            WHERE conversation_id IN (SELECT value FROM json_each(:places))
            ORDER BY {_ORDER[order]}
            LIMIT :limit OFFSET :offset
            """,
            {"places": self.tx.array(conversations), "limit": limit, "offset": offset},
        )
        return [LongTermMemory(*row) for row in rows]

    def count(self, conversation: ConversationId) -> int:
        return int(
            self.tx.value(
                "SELECT count(*) FROM long_term_memories WHERE conversation_id = :conversation",
                {"conversation": conversation},
            )
        )

    def watches(self, conversation: ConversationId) -> list[Watch]:
        """Return what is to be evaluated: what was evaluated longest ago, then what was slow, last what failed. Nothing
        that somebody outside has written and no person has confirmed, and no rule: those judge acts."""
        rows = self.tx.rows(
            f"""
            SELECT {_WATCH}
            FROM long_term_memories
            WHERE conversation_id = :conversation AND {STANDS} AND id NOT IN (SELECT memory_id FROM rules)
            ORDER BY failures > 0, slow, judged_at NULLS FIRST, id
            """,
            {"conversation": conversation},
        )
        return [Watch(*row) for row in rows]

    def find_watch(self, id: LongTermId) -> Watch | None:
        row = self.tx.row(f"SELECT {_WATCH} FROM long_term_memories WHERE id = :id", {"id": id})
        return None if row is None else Watch(*row)

    def prompts(self, ids: Sequence[LongTermId]) -> dict[LongTermId, str]:
        """Return the prompts of those that still exist."""
        rows = self.tx.rows(
            "SELECT id, prompt FROM long_term_memories WHERE id IN (SELECT value FROM json_each(:ids))",
            {"ids": self.tx.array(ids)},
        )
        return {LongTermId(id): prompt for id, prompt in rows}


@dataclass(frozen=True, slots=True)
class WritableLongTerm(LongTerm):
    def insert(self, conversation: ConversationId, draft: LongTermDraft, caller: Caller) -> None:
        """Store it as judged just now: its dry run was."""
        self.tx.send(
            """
            INSERT INTO main.long_term_memories
                (conversation_id, name, prompt, "trigger", created_context, cooldown, created_at, judged_at, created_by,
                 session, origin)
            VALUES (
                :conversation, :name, :prompt, :trigger, :context, :cooldown, :now, :now, :author, :session, :origin
            )
            """,
            {
                "conversation": conversation,
                "name": draft.name,
                "prompt": draft.prompt,
                "trigger": draft.trigger,
                "context": draft.created_context,
                "cooldown": draft.cooldown,
                "now": self.tx.now,
                "author": caller.author,
                "session": caller.session,
                "origin": draft.stamped(caller.stamp),
            },
        )

    def replace(self, id: LongTermId, change: LongTermChange) -> None:
        """Change the fields that have a value. Any trigger that is set, also the same one, has not failed yet."""
        self.tx.send(
            """
            UPDATE main.long_term_memories
            SET prompt = coalesce(:prompt, prompt), "trigger" = coalesce(:trigger, "trigger"),
                updated_context = coalesce(:context, updated_context), updated_at = :now,
                cooldown = coalesce(:cooldown, cooldown), origin = coalesce(:origin, origin),
                error = CASE WHEN :trigger IS NULL THEN error END,
                failures = CASE WHEN :trigger IS NULL THEN failures ELSE 0 END,
                quarantined_until = CASE WHEN :trigger IS NULL THEN quarantined_until END
            WHERE id = :id
            """,
            {
                "id": id,
                "prompt": change.prompt,
                "trigger": change.trigger,
                "context": change.updated_context,
                "cooldown": change.cooldown,
                "origin": change.origin,
                "now": self.tx.now,
            },
        )

    def mark_fired(self, ids: Sequence[LongTermId]) -> None:
        self.tx.send(
            """
            UPDATE main.long_term_memories
            SET fired_at = :now,
                fired_count = CASE WHEN fired_count < 9223372036854775807 THEN fired_count + 1 ELSE fired_count END
            WHERE id IN (SELECT value FROM json_each(:ids))
            """,
            {"now": self.tx.now, "ids": self.tx.array(ids)},
        )

    def mark_turn(self, ids: Sequence[LongTermId]) -> None:
        """Mark them as evaluated just now: where there is not time for all, the others come first next time."""
        self.tx.send(
            """
            UPDATE main.long_term_memories
            SET judged_at = :now
            WHERE id IN (SELECT value FROM json_each(:ids))
            """,
            {"now": self.tx.now, "ids": self.tx.array(ids)},
        )

    def mark_slow(self, id: LongTermId, slow: bool) -> None:
        self.tx.send(
            "UPDATE main.long_term_memories SET slow = :slow WHERE id = :id", {"slow": slow, "id": id}
        )

    def mark_judged(
        self, id: LongTermId, error: str | None, failures: int, quarantined_until: str | None
    ) -> None:
        self.tx.send(
            """
            UPDATE main.long_term_memories
            SET error = :error, failures = :failures, quarantined_until = :until
            WHERE id = :id
            """,
            {"error": error, "failures": failures, "until": quarantined_until, "id": id},
        )
