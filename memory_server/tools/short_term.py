"""The toolset `short_term`."""

from dataclasses import dataclass
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, WithJsonSchema

from memory_server.domain.memory import Caller
from memory_server.domain.pattern import Pattern, parse
from memory_server.domain.short_term import Tier
from memory_server.services.short_term import Recalled, ShortTermService
from memory_server.tools.answers import Answer, absent, elsewhere, shortened
from memory_server.tools.message_fields import Conversation, Messages, RecentMessages, RoleWeights, said
from memory_server.tools.tool import DESTROYS, READS, WRITES, Tool

SHOWN = 1_500
"""Characters of a memory that an answer shows: the whole may be a hundred times as long."""

LISTED = 20
"""Keywords that an answer lists, and memories that a dry run does."""

NAMED = 10
"""Conversations that a note names where the one that was asked for has nothing."""

EXCERPT = 120

MAX_PATTERN = 500


def _pattern(given: object) -> Pattern:
    if not isinstance(given, str) or not 1 <= len(given) <= MAX_PATTERN:
        raise ValueError(f"must be a text of 1-{MAX_PATTERN} characters")
    return parse(given)


Words = Annotated[
    Pattern,
    BeforeValidator(_pattern),
    WithJsonSchema({"type": "string", "description": "words or /regex/flags"}),
]


class AddedMemory(Answer):
    id: int
    keywords: list[str]


class Parts(Answer):
    """relevance = words - age + score."""

    words: float
    age: float
    score: float


class RecalledMemory(Answer):
    id: int
    text: str
    said_at: str
    tier: Tier
    relevance: float
    parts: Parts
    shared: Annotated[list[str] | None, Field(exclude_if=absent)] = None

    @classmethod
    def from_domain(cls, recalled: Recalled) -> Self:
        parts = recalled.parts
        return cls(
            id=recalled.memory.id,
            text=shortened(recalled.memory.text, SHOWN),
            said_at=recalled.memory.said_at,
            tier=recalled.tier,
            relevance=round(parts.relevance, 2),
            parts=Parts(
                words=round(parts.words, 2), age=round(-parts.penalty, 2), score=round(parts.score, 2)
            ),
            shared=recalled.words,
        )


class RecalledMemories(Answer):
    top: list[RecalledMemory]
    next: list[RecalledMemory]
    flashback: list[RecalledMemory]
    too_recent: Annotated[int | None, Field(exclude_if=absent)] = None
    note: Annotated[str | None, Field(exclude_if=absent)] = None


class Matching(Answer):
    id: int
    text: str


class Deletion(Answer):
    deleted: int
    note: Annotated[str | None, Field(exclude_if=absent)] = None
    would_delete: Annotated[int | None, Field(exclude_if=absent)] = None
    matching: Annotated[list[Matching] | None, Field(exclude_if=absent)] = None


class Scores(Answer):
    average: float
    lowest: float
    highest: float


class ShortTermStats(Answer):
    memories: int
    conversations: int
    oldest: str | None
    newest: str | None
    scores: Scores
    removed_by_cleanups: int
    last_cleanup: str | None
    by_conversation: Annotated[dict[str, int] | None, Field(exclude_if=absent)] = None


class Cleanup(Answer):
    removed: int
    kept: int


class Frequent(Answer):
    conversation_id: str | None
    memories: int


@dataclass(frozen=True, slots=True)
class ShortTermTools:
    """What a conversation was about lately, fading with time."""

    short_term: ShortTermService

    def tools(self) -> list[Tool]:
        return [
            Tool(self.add_short_term_memory, WRITES),
            Tool(self.search_short_term_memories, READS),
            Tool(self.delete_short_term_memories, DESTROYS),
            Tool(self.get_memory_stats, READS),
            Tool(self.cleanup_memories, DESTROYS),
            Tool(self.get_frequent_conversation, READS),
        ]

    def add_short_term_memory(
        self,
        messages: Messages,
        conversation_id: Conversation,
        role_weights: RoleWeights = None,
        *,
        caller: Caller,
    ) -> AddedMemory:
        """Keep what was just said, to be found by its keywords while it fades."""
        added = self.short_term.add(said(messages), conversation_id, role_weights or {}, caller)
        return AddedMemory(id=added.id, keywords=[keyword.form for keyword in added.keywords[:LISTED]])

    def search_short_term_memories(
        self,
        recent_messages: RecentMessages,
        conversation_id: Conversation,
        role_weights: RoleWeights = None,
    ) -> RecalledMemories:
        """What the last messages call back from this conversation: by shared words (top, next), by chance (flashback); not from the last 20 minutes."""
        found = self.short_term.search(said(recent_messages), conversation_id, role_weights or {})
        answers = [RecalledMemory.from_domain(each) for each in found]
        too_recent = self.short_term.too_recent(conversation_id)
        return RecalledMemories(
            **{tier.value: [each for each in answers if each.tier is tier] for tier in Tier},
            too_recent=too_recent or None,
            note=self._elsewhere() if too_recent is None else None,
        )

    def delete_short_term_memories(
        self, pattern: Words, conversation_id: Conversation, dry_run: bool = False
    ) -> Deletion:
        """Delete this conversation's short-term memories that hold this phrase; dry_run only shows them."""
        if not dry_run:
            deleted = self.short_term.delete(pattern, conversation_id)
            return Deletion(deleted=deleted, note=None if deleted else self._why_none(conversation_id))
        found = self.short_term.matching(pattern, conversation_id)
        return Deletion(
            deleted=0,
            note=None if found else self._why_none(conversation_id),
            would_delete=len(found),
            matching=[Matching(id=id, text=shortened(text, EXCERPT)) for id, text in found[:LISTED]],
        )

    def _why_none(self, conversation_id: str) -> str | None:
        if self.short_term.too_recent(conversation_id) is None:
            return self._elsewhere()
        return "No memory holds this. Words are one phrase of whole words; /part/i finds parts of words."

    def _elsewhere(self) -> str | None:
        return elsewhere(self.short_term.by_conversation(NAMED))

    def get_memory_stats(self, conversation_id: Conversation | None = None) -> ShortTermStats:
        """Number, age and scores of short-term memories."""
        totals, cleanups = self.short_term.totals(conversation_id)
        return ShortTermStats(
            memories=totals.memories,
            conversations=totals.conversations,
            oldest=totals.oldest,
            newest=totals.newest,
            scores=Scores(
                average=round(totals.average_score, 2),
                lowest=totals.lowest_score,
                highest=totals.highest_score,
            ),
            removed_by_cleanups=cleanups.removed if cleanups else 0,
            last_cleanup=cleanups.last if cleanups else None,
            by_conversation=None if conversation_id else dict(self.short_term.by_conversation(LISTED)),
        )

    def cleanup_memories(self, conversation_id: Conversation | None = None) -> Cleanup:
        """Remove short-term memories that are a year old or faded (the best 512 stay); also done daily by itself."""
        cleaned = self.short_term.clean_up(conversation_id)
        return Cleanup(removed=cleaned.removed, kept=cleaned.kept)

    def get_frequent_conversation(self) -> Frequent:
        """The conversation with the most short-term memories."""
        most = self.short_term.by_conversation(1)
        name, memories = most[0] if most else (None, 0)
        return Frequent(conversation_id=name, memories=memories)
