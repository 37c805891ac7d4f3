"""The toolset `short_term`."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema

from memory_server.answers.answer import Answer, field, made, rounded
from memory_server.domain.caller import Caller
from memory_server.domain.short_term import Recollection, ShortTermId, Tier
from memory_server.language.pattern import Pattern, parse
from memory_server.mcp.tool import DESTROYS, READS, WRITES, Tool
from memory_server.mcp.tools.answers import ORIGIN, also_in, degraded, elsewhere, refuse_both, shortened
from memory_server.mcp.tools.fields import Purge, Undo
from memory_server.mcp.tools.message_fields import (
    Conversation,
    DatedMessages,
    RecentMessages,
    RoleWeights,
    as_messages,
)
from memory_server.services.short_term import (
    Added,
    Cleaned,
    Matching,
    RecalledMemory,
    ShortTermService,
    ShortTermStatistics,
)
from memory_server.storage.short_term import Totals

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


def _pattern(value: object) -> Pattern:
    if not isinstance(value, str) or not 1 <= len(value) <= MAX_PATTERN:
        raise ValueError(f"must be a text of 1-{MAX_PATTERN} characters")
    return parse(value)


GivenPattern = Annotated[
    Pattern,
    BeforeValidator(_pattern),
    WithJsonSchema({"type": "string", "description": "words or /regex/flags"}),
]


def _keywords(added: Added) -> list[str]:
    return [keyword.form for keyword in added.keywords[:LISTED]]


def _short(text: str) -> str:
    return shortened(text, SHOWN)


def _minus(number: float) -> float:
    return round(-number, 2)


def _shared(words: list[str]) -> list[str] | None:
    return words or None


ADDED = Answer(Added, "id", made("keywords", _keywords))
PARTS = Answer(Recollection, field("words", rounded), field("age=penalty", _minus), field("score", rounded))
"""relevance = words - age + score."""
RECALLED = Answer(
    RecalledMemory,
    "memory.id",
    field("memory.text", _short),
    "memory.said_at",
    field("tier", Tier),
    field("parts.relevance", rounded),
    field("parts", PARTS),
    field("shared?=words", _shared),
    ORIGIN,
)


@dataclass(frozen=True, slots=True)
class RecalledMemories:
    top: list[RecalledMemory]
    next: list[RecalledMemory]
    flashback: list[RecalledMemory]
    too_recent: int
    note: str | None
    degraded: str | None


RECALLED_MEMORIES = Answer(
    RecalledMemories,
    *(field(tier.value, RECALLED) for tier in Tier),
    field("too_recent?", usual=0),
    "note? degraded?",
)


@dataclass(frozen=True, slots=True)
class MatchingMemory:
    id: ShortTermId
    text: str


@dataclass(frozen=True, slots=True)
class DeletedShortTerm:
    deleted: int = 0
    undo_until: str | None = None
    purged: int | None = None
    restored: int | None = None
    note: str | None = None
    would_delete: int | None = None
    matching: list[MatchingMemory] | None = None
    degraded: str | None = None


SCORES = Answer(Totals, field("average=average_score", rounded), "lowest=lowest_score highest=highest_score")


def _removed(shown: "ShownStatistics") -> int:
    return shown.statistics.cleanups.removed if shown.statistics.cleanups else 0


@dataclass(frozen=True, slots=True)
class ShownStatistics:
    """`by_conversation` is None where one conversation is asked for."""

    statistics: ShortTermStatistics
    by_conversation: dict[str, int] | None


STATISTICS = Answer(
    ShownStatistics,
    *(f"statistics.totals.{name}" for name in ("memories", "conversations", "oldest", "newest")),
    field("scores=statistics.totals", SCORES),
    made("removed_by_cleanups", _removed),
    "last_cleanup=statistics.cleanups.last by_conversation?",
)


@dataclass(frozen=True, slots=True)
class Frequent:
    conversation_id: str | None
    memories: int


@dataclass(frozen=True, slots=True)
class ShortTermTools:
    """The latest messages of conversations, found by keywords; their relevance decays."""

    short_term: ShortTermService

    def tools(self) -> list[Tool]:
        return [
            Tool(self.add_short_term_memory, WRITES, "Keep what was said"),
            Tool(self.search_short_term_memories, READS, "Search what was said"),
            Tool(self.delete_short_term_memories, DESTROYS, "Delete what was said"),
            Tool(self.get_memory_stats, READS, "Count short-term memories"),
            Tool(self.cleanup_memories, DESTROYS, "Clean up short-term memories"),
            Tool(self.get_frequent_conversation, READS, "Busiest conversation"),
        ]

    def add_short_term_memory(
        self,
        messages: DatedMessages,
        conversation_id: Annotated[Conversation | None, Field(description="default: this project's")] = None,
        role_weights: RoleWeights = None,
        *,
        caller: Caller,
    ) -> Annotated[Added, ADDED]:
        """Store the latest messages of a conversation, found again by keywords; they fade. What shall last: memory_store."""
        return self.short_term.add(as_messages(messages), conversation_id, role_weights or {}, caller)

    def search_short_term_memories(
        self,
        recent_messages: RecentMessages,
        conversation_id: Conversation | None = None,
        role_weights: RoleWeights = None,
        *,
        caller: Caller,
    ) -> Annotated[RecalledMemories, RECALLED_MEMORIES]:
        """Find earlier messages of this conversation by the keywords of the latest (top, next), plus random older ones (flashback). Excludes the last 20 minutes."""
        recall = self.short_term.search(
            as_messages(recent_messages), conversation_id, role_weights or {}, caller
        )
        return RecalledMemories(
            **{tier.value: [memory for memory in recall.memories if memory.tier is tier] for tier in Tier},
            too_recent=recall.too_recent,
            note=elsewhere(recall.elsewhere),
            degraded=degraded(recall.degraded),
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
        """Delete this conversation's short-term memories that contain the pattern; dry_run only lists them. They can be restored for 30 days."""
        refuse_both(undo=undo, purge=purge)
        refuse_both(undo=undo, dry_run=dry_run)
        if undo:
            return DeletedShortTerm(restored=self.short_term.restore(pattern, conversation_id, caller))
        if dry_run:
            matching = self.short_term.matching(pattern, conversation_id, caller)
            return DeletedShortTerm(
                note=_why_none(matching),
                would_delete=len(matching.memories),
                matching=[
                    MatchingMemory(id, shortened(text, EXCERPT)) for id, text in matching.memories[:LISTED]
                ],
                degraded=degraded(matching.degraded),
            )
        matching, forgotten = self.short_term.delete(pattern, conversation_id, purge, caller)
        return DeletedShortTerm(
            deleted=0 if purge else forgotten.number,
            undo_until=forgotten.undo_until,
            purged=forgotten.number if purge else None,
            note=also_in(forgotten) if forgotten.number else _why_none(matching),
            degraded=degraded(matching.degraded),
        )

    def get_memory_stats(
        self, conversation_id: Conversation | None = None
    ) -> Annotated[ShownStatistics, STATISTICS]:
        """Number, age and scores of short-term memories."""
        statistics = self.short_term.statistics(conversation_id)
        return ShownStatistics(statistics, None if conversation_id else dict(statistics.by_conversation))

    def cleanup_memories(self, conversation_id: Conversation | None = None) -> Cleaned:
        """Short-term memories only: remove old and faded ones. The server does so daily."""
        return self.short_term.clean_up(conversation_id)

    def get_frequent_conversation(self) -> Frequent:
        """The conversation with the most short-term memories."""
        name, memories = self.short_term.largest() or (None, 0)
        return Frequent(name, memories)


def _why_none(matching: Matching) -> str | None:
    return None if matching.memories else elsewhere(matching.elsewhere) or NO_MATCH
