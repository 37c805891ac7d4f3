"""Long-term memories and when they were woken."""

from collections.abc import Sequence
from typing import Protocol

from memory_server.domain.caller import Caller
from memory_server.domain.long_term import (
    LongTermChange,
    LongTermDraft,
    LongTermId,
    LongTermMemory,
    Order,
    Watch,
)
from memory_server.storage.short_term import ConversationId


class LongTerm(Protocol):
    """The table `long_term_memories`."""

    def find(self, conversation: ConversationId, name: str) -> LongTermMemory | None: ...

    def names(self, conversation: ConversationId, limit: int) -> list[str]: ...

    def never_woken(self, conversation: ConversationId, before: str, limit: int) -> list[LongTermMemory]:
        """Those from before a moment that were never woken, and those whose trigger failed last time; the oldest
        first."""
        ...

    def select(
        self, conversations: Sequence[ConversationId], order: Order, limit: int, offset: int
    ) -> list[LongTermMemory]:
        """Those of some conversations. By name: one conversation after the other, those whose trigger failed come
        first."""
        ...

    def count(self, conversation: ConversationId) -> int: ...

    def watches(self, conversation: ConversationId) -> list[Watch]:
        """What is to be evaluated: first what was evaluated longest ago, then what was slow, last what failed."""
        ...

    def find_watch(self, id: LongTermId) -> Watch | None: ...

    def prompts(self, ids: Sequence[LongTermId]) -> dict[LongTermId, str]:
        """Those that are still there."""
        ...


class WritableLongTerm(LongTerm, Protocol):
    """The same in a transaction that writes."""

    def insert(self, conversation: ConversationId, draft: LongTermDraft, caller: Caller) -> None: ...

    def replace(self, id: LongTermId, wanted: LongTermChange) -> None:
        """Change the wanted fields. Any trigger that is given, also the same one, has not failed yet."""
        ...

    def mark_fired(self, ids: Sequence[LongTermId]) -> None: ...

    def mark_turn(self, ids: Sequence[LongTermId]) -> None:
        """These were evaluated just now: where there is not time for all, the others come first next time."""
        ...

    def mark_slow(self, id: LongTermId, slow: bool) -> None: ...

    def mark_judged(
        self, id: LongTermId, error: str | None, failures: int, quarantined_until: str | None
    ) -> None: ...
