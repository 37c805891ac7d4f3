"""Conversations and their short-term memories."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NewType

ConversationId = NewType("ConversationId", int)


class Held(StrEnum):
    """The kinds of memories that a conversation has."""

    SHORT_TERM = "short-term memories"
    LONG_TERM = "long-term memories"


@dataclass(frozen=True, slots=True)
class Cleanups:
    """The last cleanup of a conversation, and the number of memories that all its cleanups have removed."""

    last: str
    removed: int


@dataclass(frozen=True, slots=True)
class Totals:
    """Totals of the short-term memories of one conversation or of all."""

    memories: int
    conversations: int
    oldest: str | None
    newest: str | None
    average_score: float
    lowest_score: float
    highest_score: float
