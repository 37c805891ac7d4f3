"""The toolset `short_term`."""

from dataclasses import dataclass
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, WithJsonSchema

from memory_server.domain.caller import Caller
from memory_server.domain.short_term import Tier
from memory_server.language.pattern import Pattern, parse
from memory_server.mcp.tool import DESTROYS, READS, WRITES, Tool
from memory_server.mcp.tools.answers import (
    OPTIONAL,
    Answer,
    Degraded,
    OptionalNumber,
    OptionalText,
    also_in,
    degraded,
    elsewhere,
    refuse_both,
    shortened,
)
from memory_server.mcp.tools.fields import Purge, Undo
from memory_server.mcp.tools.message_fields import (
    Conversation,
    Messages,
    RecentMessages,
    RoleWeights,
    as_messages,
)
from memory_server.services.short_term import Matching, Recalled, ShortTermService

SHOWN = 1_500
"""Characters of a memory that an answer shows: a memory may have a hundred times as many."""

LISTED = 20
"""Most keywords that an answer lists, and most memories that a dry run lists: enough to judge them."""

EXCERPT = 120
"""Characters of each memory that a dry run shows: enough to recognise it."""

MAX_PATTERN = 500
"""Characters of a pattern: a longer one is a text given by mistake."""

NO_MATCH = (
    "No memory contains this. Words are matched as one phrase of whole words; /part/i matches parts of words."
)
"""What a deletion answers if no memory of the conversation matches."""


def _pattern(given: object) -> Pattern:
    if not isinstance(given, str) or not 1 <= len(given) <= MAX_PATTERN:
        raise ValueError(f"must be a text of 1-{MAX_PATTERN} characters")
    return parse(given)


GivenPattern = Annotated[
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
    shared: Annotated[list[str] | None, OPTIONAL] = None

    @classmethod
    def of(cls, recalled: Recalled) -> Self:
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
    too_recent: OptionalNumber = None
    note: OptionalText = None
    degraded: Degraded = None


class MatchingMemory(Answer):
    id: int
    text: str


class DeletedShortTerm(Answer):
    deleted: int
    undo_until: OptionalText = None
    purged: OptionalNumber = None
    restored: OptionalNumber = None
    note: OptionalText = None
    would_delete: OptionalNumber = None
    matching: Annotated[list[MatchingMemory] | None, OPTIONAL] = None
    degraded: Degraded = None


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
    by_conversation: Annotated[dict[str, int] | None, OPTIONAL] = None


class Cleanup(Answer):
    removed: int
    kept: int


class Frequent(Answer):
    conversation_id: str | None
    memories: int


@dataclass(frozen=True, slots=True)
class ShortTermTools:
    """The latest messages of conversations, found by keywords; their relevance decays."""

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
        conversation_id: Annotated[Conversation | None, Field(description="default: this project's")] = None,
        role_weights: RoleWeights = None,
        *,
        caller: Caller,
    ) -> AddedMemory:
        """Store the latest messages of a conversation. They are found again by their keywords and lose relevance with time."""
        added = self.short_term.add(as_messages(messages), conversation_id, role_weights or {}, caller)
        return AddedMemory(id=added.id, keywords=[keyword.form for keyword in added.keywords[:LISTED]])

    def search_short_term_memories(
        self,
        recent_messages: RecentMessages,
        conversation_id: Conversation | None = None,
        role_weights: RoleWeights = None,
        *,
        caller: Caller,
    ) -> RecalledMemories:
        """Find earlier messages of this conversation that share keywords with the latest ones (top, next), plus random older ones (flashback). Excludes the last 20 minutes."""
        found = self.short_term.search(
            as_messages(recent_messages), conversation_id, role_weights or {}, caller
        )
        answers = [RecalledMemory.of(each) for each in found.memories]
        return RecalledMemories(
            **{tier.value: [each for each in answers if each.tier is tier] for tier in Tier},
            too_recent=found.too_recent or None,
            note=elsewhere(found.elsewhere),
            degraded=degraded(found.degraded),
        )

    def delete_short_term_memories(
        self,
        pattern: GivenPattern,
        conversation_id: Conversation | None = None,
        dry_run: bool = False,
        undo: Undo = False,
        purge: Purge = False,
        *,
        caller: Caller,
    ) -> DeletedShortTerm:
        """Delete this conversation's short-term memories that contain the pattern. They can be restored for 30 days. dry_run only lists them."""
        refuse_both(undo=undo, purge=purge)
        refuse_both(undo=undo, dry_run=dry_run)
        if undo:
            return DeletedShortTerm(
                deleted=0, restored=self.short_term.restore(pattern, conversation_id, caller)
            )
        if dry_run:
            found = self.short_term.matching(pattern, conversation_id, caller)
            excerpts = [
                MatchingMemory(id=id, text=shortened(text, EXCERPT)) for id, text in found.memories[:LISTED]
            ]
            return DeletedShortTerm(
                deleted=0,
                note=_why_none(found),
                would_delete=len(found.memories),
                matching=excerpts,
                degraded=degraded(found.degraded),
            )
        found, forgotten = self.short_term.delete(pattern, conversation_id, purge, caller)
        return DeletedShortTerm(
            deleted=0 if purge else forgotten.number,
            undo_until=forgotten.undo_until,
            purged=forgotten.number if purge else None,
            note=also_in(forgotten) if forgotten.number else _why_none(found),
            degraded=degraded(found.degraded),
        )

    def get_memory_stats(self, conversation_id: Conversation | None = None) -> ShortTermStats:
        """Number, age and scores of short-term memories."""
        found = self.short_term.statistics(conversation_id)
        totals, cleanups = found.totals, found.cleanups
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
            by_conversation=None if conversation_id else dict(found.by_conversation),
        )

    def cleanup_memories(self, conversation_id: Conversation | None = None) -> Cleanup:
        """Remove short-term memories that are old or faded. The server does so daily by itself."""
        return Cleanup.of(self.short_term.clean_up(conversation_id))

    def get_frequent_conversation(self) -> Frequent:
        """Return the id of the conversation with the most short-term memories."""
        name, memories = self.short_term.largest() or (None, 0)
        return Frequent(conversation_id=name, memories=memories)


def _why_none(found: Matching) -> str | None:
    return None if found.memories else elsewhere(found.elsewhere) or NO_MATCH
