"""Conversations and their short-term memories."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NewType, Protocol

from memory_server.domain.caller import Caller
from memory_server.domain.short_term import (
    Asking,
    CleanupRule,
    Keyword,
    Recollection,
    ShortTermId,
    ShortTermMemory,
)

ConversationId = NewType("ConversationId", int)

PAGE = 1000
"""Texts that are in memory at once while a pattern is looked for."""


class Held(StrEnum):
    """What a conversation has."""

    SHORT_TERM = "short-term memories"
    LONG_TERM = "long-term memories"


@dataclass(frozen=True, slots=True)
class Cleanups:
    """When a conversation was cleaned up last, and how many memories all its cleanups have removed."""

    last: str
    removed: int


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


class ShortTerm(Protocol):
    """The tables `short_term_memories` and `short_term_keywords`."""

    def unkeyed(self, limit: int) -> list[ShortTermMemory]:
        """Memories whose text was written by hand, and whose keywords are still to be found.

        Bytes that are no UTF-8 become surrogates: one such row must not keep all others from their keywords.
        """
        ...

    def relevant(
        self, conversation: ConversationId, asking: Asking, said_before: str, limit: int | None = None
    ) -> list[Recollection]:
        """The memories that share a word with what is asked and are relevant enough to come back, best first."""
        ...

    def recollect(self, asking: Asking, ids: Sequence[ShortTermId]) -> list[Recollection]:
        """The relevance of these memories, in the order given, whatever it is."""
        ...

    def shared_words(self, ids: Sequence[ShortTermId], asking: Asking) -> dict[ShortTermId, list[str]]:
        """The words that each memory shares with what is asked and that count, heaviest in it first."""
        ...

    def select(self, ids: Iterable[ShortTermId]) -> dict[ShortTermId, ShortTermMemory]: ...

    def count_settled(self, conversation: ConversationId, before: str) -> int:
        """How many memories of a conversation were said until that moment."""
        ...

    def count_unsettled(self, conversation: ConversationId, before: str) -> int:
        """How many were said after that moment."""
        ...

    def nth_settled(
        self, conversation: ConversationId, before: str, place: int
    ) -> tuple[ShortTermId, str, float]:
        """Id, moment and score of one of the memories said until that moment; the oldest has the place 0."""
        ...

    def settled(self, conversation: ConversationId, before: str) -> list[tuple[ShortTermId, str, float]]:
        """Id, moment and score of all memories said until that moment, oldest first."""
        ...

    def texts(self, conversation: ConversationId) -> Iterator[tuple[ShortTermId, str]]:
        """Id and text of the memories of a conversation, by id, read a page at a time."""
        ...

    def count(self, conversation: ConversationId) -> int: ...

    def totals(self, conversation: ConversationId | None) -> Totals:
        """Of one conversation, or of all."""
        ...


class WritableShortTerm(ShortTerm, Protocol):
    """The same in a transaction that writes."""

    def insert(
        self,
        conversation: ConversationId,
        text: str,
        said_at: str,
        keywords: Sequence[Keyword] | None,
        caller: Caller,
    ) -> ShortTermId:
        """The id of the new memory. Without keywords, background work finds them."""
        ...

    def replace_keywords(self, memory: ShortTermMemory, keywords: Sequence[Keyword]) -> None:
        """Unless its text has changed again."""
        ...

    def raise_score(self, id: ShortTermId, reward: float) -> None: ...

    def clean_up(self, conversation: ConversationId, rule: CleanupRule, moment: str) -> tuple[int, int]:
        """Remove what was old or had faded at a moment, but for the best; how many went and stayed.

        As `faded` of the domain.
        """
        ...
