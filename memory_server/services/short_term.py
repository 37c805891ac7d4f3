"""Short-term memories: what a conversation was about lately, found by its words, fading with time."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from memory_server.domain import forgetting, trust
from memory_server.domain.caller import Caller
from memory_server.domain.forgetting import Forgotten, Kind
from memory_server.domain.message import Message
from memory_server.domain.moment import timestamp
from memory_server.domain.secrets import refuse_secrets
from memory_server.domain.short_term import (
    CLEANUP_EVERY,
    RANKED_TIERS,
    REWARD,
    SETTLING,
    Asking,
    CleanupRule,
    Keyword,
    Recollection,
    ShortTermId,
    ShortTermMemory,
    Tier,
    keywords,
    noted,
    pick,
    snapshot,
    spoken,
)
from memory_server.errors import Invalid, Mend, NotFound, Problem
from memory_server.language.pattern import Pattern
from memory_server.nlp import KeywordExtractor
from memory_server.services import deleting, projects
from memory_server.services.flashbacks import Flashbacks
from memory_server.storage.database import Database
from memory_server.storage.short_term import Cleanups, ConversationId, Held, Totals
from memory_server.storage.trash import Trashed
from memory_server.storage.tx import Tx, WriteTx

logger = logging.getLogger(__name__)

FEW = 50
"""Relevant memories among which three said apart are mostly found."""

LOOKING = 10.0
"""Seconds that a pattern may take for all memories of a conversation: writes of other processes wait meanwhile."""

NAMED = 10
"""Conversations that are named where the one that was asked for has none."""

LISTED = 20
"""Conversations that statistics list."""

BATCH = 50
"""Conversations that one round of background work cleans up, and rows written by hand that one transaction takes on."""


@dataclass(frozen=True, slots=True)
class Added:
    """A new memory and its keywords, heaviest first."""

    id: ShortTermId
    keywords: list[Keyword]


@dataclass(frozen=True, slots=True)
class RecalledMemory:
    """A memory that came back: why, its relevance, and the words it shares, in the form in which they were asked."""

    memory: ShortTermMemory
    tier: Tier
    parts: Recollection
    words: list[str]


@dataclass(frozen=True, slots=True)
class Recall:
    """The result of a search. `too_recent` counts the memories that were said too lately to come back.

    `elsewhere` are the conversations that have memories, and how many, where this one has none at all.
    """

    memories: list[RecalledMemory]
    too_recent: int
    elsewhere: list[tuple[str, int]]
    degraded: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Matching:
    """Id and text of the memories that a pattern is found in, oldest first; the rest as in `Recall`."""

    memories: list[tuple[ShortTermId, str]]
    elsewhere: list[tuple[str, int]]
    degraded: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class ShortTermStatistics:
    """The statistics of one conversation, or of all: then the largest are listed."""

    totals: Totals
    cleanups: Cleanups | None
    by_conversation: list[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Cleaned:
    """The numbers of memories that a cleanup removed and kept."""

    removed: int
    kept: int


@dataclass(frozen=True, slots=True)
class ShortTermService:
    """`chance` gives numbers of [0, 1); `count_access` is off where the server was started read-only.

    `score_share` is the largest share of the words part that a score counts for; None: it counts whole.
    `hides`: a search leaves out what waits to be confirmed.
    """

    database: Database
    extractor: KeywordExtractor
    chance: Callable[[], float]
    allow_secrets: bool = False
    count_access: bool = True
    score_share: float | None = None
    cleanup: CleanupRule = CleanupRule()  # noqa: RUF009 - it is frozen
    hides: bool = False

    def add(
        self,
        messages: Sequence[Message],
        conversation: str | None,
        role_weights: Mapping[str, float],
        caller: Caller,
    ) -> Added:
        """Keep what was said, with its keywords. A moment still to come counts as now.

        Without a conversation, here and below, that of the caller's project is meant.

        Raises:
            Invalid: no message says anything, or one holds a credential.
        """
        with_text = [message for message in messages if message.content]
        if not with_text:
            raise Invalid("No message holds any text. Nothing was kept: send at least one with content.")
        text = snapshot(with_text)
        if not self.allow_secrets:
            speakers = [message.name or message.role for message in with_text]
            refuse_secrets(conversation, *speakers, *(message.content for message in with_text))
        extracted = keywords(with_text, self.extractor.extract, role_weights)
        with self.database.write() as tx:
            said_at = min(with_text[-1].timestamp or tx.now, tx.now)
            place = tx.conversations.find_or_insert(projects.settled_conversation(tx, conversation, caller))
            return Added(tx.short_term.insert(place, text, said_at, extracted, caller), extracted)

    def search(
        self,
        messages: Sequence[Message],
        conversation: str | None,
        role_weights: Mapping[str, float],
        caller: Caller,
    ) -> Recall:
        """Return the memories of this conversation that share keywords with its last messages: two top, one next; and
        two random others. Each top and next one gains score."""
        question_words = keywords(messages, self.extractor.extract, role_weights)
        with self.database.read() as tx:
            place = tx.conversations.find(projects.conversation(tx, conversation, caller))
            if place is None or not tx.short_term.count(place):
                return Recall([], 0, _elsewhere(tx), tuple(tx.skipped))
            before = _before(tx.now, SETTLING)
            memories = self._recall(tx, place, question_words, before)
            unsettled = tx.short_term.count_unsettled(place, before)
            recall = Recall(memories, unsettled, [], tuple(tx.skipped))
        self._reward(memories)
        return recall

    def matching(self, pattern: Pattern, conversation: str | None, caller: Caller) -> Matching:
        """Return the memories that the pattern is found in.

        Raises:
            Invalid: that takes too long.
        """
        ends = time.monotonic() + LOOKING
        matches: list[tuple[ShortTermId, str]] = []
        with self.database.read() as tx:
            place = tx.conversations.find(projects.conversation(tx, conversation, caller))
            if place is None or not tx.short_term.count(place):
                return Matching([], _elsewhere(tx), tuple(tx.skipped))
            for id, text in tx.short_term.texts(place):
                if _has(pattern, text):
                    matches.append((id, text))
                if time.monotonic() > ends:
                    raise Invalid(
                        f"The pattern is too slow: in {LOOKING:.0f} s it got to memory {id}. Nothing was deleted. "
                        "Plain words, or an expression with fewer repetitions, take less."
                    )
            return Matching(matches, [], tuple(tx.skipped))

    def delete(
        self, pattern: Pattern, conversation: str | None, purge: bool, caller: Caller
    ) -> tuple[Matching, Forgotten]:
        """Delete the memories that the pattern is found in: they can be brought back for 30 days. Or erase them for
        good, those too that were deleted before.

        Raises:
            Invalid: to find them takes too long.
        """
        matching = self.matching(pattern, conversation, caller)
        with self.database.write() as tx:
            number = tx.trash.put(Kind.SHORT_TERM, [id for id, _ in matching.memories], caller)
            if not purge:
                return matching, forgetting.deleted(number, tx.now)
            deleted = _in_trash(tx, pattern, projects.conversation(tx, conversation, caller))
            if not deleted:
                return matching, forgetting.erased(0)
            tx.trash.erase([trashed.id for trashed in deleted])
        first = min(trashed.item_id for trashed in deleted)
        elsewhere = self.database.files.drop_copies({deleting.TABLES[Kind.SHORT_TERM]: first})
        return matching, forgetting.erased(len(deleted), elsewhere)

    def restore(self, pattern: Pattern, conversation: str | None, caller: Caller) -> int:
        """Bring back the memories of a conversation that were deleted and that the pattern is found in; how many.

        Raises:
            NotFound: there are none.
        """
        with self.database.write() as tx:
            where = projects.conversation(tx, conversation, caller)
            deleted = _in_trash(tx, pattern, where)
            if not deleted:
                raise NotFound(
                    f"No short-term memory of `{where}` that contains this was deleted in the last 30 days. "
                    "Nothing was restored."
                )
            for trashed in deleted:
                tx.trash.restore(trashed)
            return len(deleted)

    def get(self, id: ShortTermId) -> ShortTermMemory:
        """Return one memory whole.

        Raises:
            NotFound: there is none.
        """
        with self.database.read() as tx:
            memory = tx.short_term.select([id]).get(id)
        if memory is None:
            raise NotFound(f"No short-term memory {id}.", Mend.LIST_SHORT_TERM_CONVERSATIONS)
        return memory

    def forget(self, id: ShortTermId, purge: bool, caller: Caller) -> Forgotten:
        """Delete one memory: it can be brought back for 30 days. Or erase it for good.

        Raises:
            NotFound: there is none; to erase, also none that was deleted.
        """
        return deleting.delete(self.database, Kind.SHORT_TERM, id, purge, caller)

    def bring_back(self, id: ShortTermId) -> None:
        """Bring back one memory that was deleted.

        Raises:
            NotFound: it was not deleted in the last 30 days.
        """
        with self.database.write() as tx:
            deleting.restore(tx, Kind.SHORT_TERM, id)

    def statistics(self, conversation: str | None) -> ShortTermStatistics:
        """Return the statistics of one conversation, or of all.

        Raises:
            NotFound: the conversation has no short-term memories.
        """
        with self.database.read() as tx:
            place = None if conversation is None else _get(tx, conversation)
            largest = tx.conversations.largest(Held.SHORT_TERM, LISTED) if place is None else []
            return ShortTermStatistics(tx.short_term.totals(place), tx.conversations.cleanups(place), largest)

    def largest(self) -> tuple[str, int] | None:
        """Return the conversation with the most memories, and how many."""
        with self.database.read() as tx:
            return next(iter(tx.conversations.largest(Held.SHORT_TERM, LISTED)), None)

    def clean_up(self, conversation: str | None) -> Cleaned:
        """Remove what is old or has faded from one conversation, or from all, now."""
        with self.database.write() as tx:
            places = tx.conversations.ids() if conversation is None else [_get(tx, conversation)]
            return self._clean_up(tx, places, tx.now)

    def find_keywords(self) -> None:
        """Background work: the keywords of what was written by hand."""
        if self.database.read_only:
            return
        while unkeyed := self._unkeyed():
            self._find_keywords(unkeyed)

    def clean_up_due(self) -> int:
        """Background work: each conversation's daily cleanup, as of the last day of a server; how many were removed."""
        if self.database.read_only:
            return 0
        with self.database.read() as tx:
            waiting = tx.conversations.due(_before(tx.now, CLEANUP_EVERY), 1)
            moment = tx.server_days.certain()
        if not waiting or moment is None:
            return 0
        with self.database.write() as tx:
            return self._clean_up(
                tx, tx.conversations.due(_before(tx.now, CLEANUP_EVERY), BATCH), moment
            ).removed

    def _recall(
        self, tx: Tx, place: ConversationId, question_words: Sequence[Keyword], before: str
    ) -> list[RecalledMemory]:
        asking = Asking(question_words, self.score_share)
        ranked = tx.short_term.relevant(place, asking, before, FEW)
        number = tx.short_term.count_settled(place, before)
        picked = pick(ranked)
        if len(picked) < len(RANKED_TIERS) and len(ranked) == FEW:  # these were said too close together
            picked = pick(tx.short_term.relevant(place, asking, before))
        flashbacks = Flashbacks(tx, place, before, number, self.chance)
        flashes = flashbacks.apart_from([parts.said_at for _, parts in picked])
        picked += [(Tier.FLASHBACK, parts) for parts in tx.short_term.recollect(asking, flashes)]
        ids = [parts.id for _, parts in picked]
        memories, shared = tx.short_term.select(ids), tx.short_term.shared_words(ids, asking)
        forms = {keyword.word: keyword.form for keyword in question_words}
        return [
            RecalledMemory(
                memories[parts.id],
                tier,
                parts,
                [forms[word] for word in shared[parts.id]],
            )
            for tier, parts in picked
            if parts.id in memories and trust.is_listed(memories[parts.id].origin, self.hides)
        ]

    def _reward(self, recalled: Sequence[RecalledMemory]) -> None:
        rewarded = [(hit.memory.id, REWARD[hit.tier]) for hit in recalled if hit.tier in REWARD]
        if not rewarded or not self.count_access:
            return

        def mark(tx: WriteTx) -> None:
            for id, reward in rewarded:
                tx.short_term.raise_score(id, reward)

        problem = self.database.record(mark)
        if problem is not None:
            logger.warning("scores were not raised: %s", problem.text)

    def _unkeyed(self) -> list[ShortTermMemory]:
        with self.database.read() as tx:
            return tx.short_term.unkeyed(BATCH)

    def _find_keywords(self, unkeyed: Sequence[ShortTermMemory]) -> None:
        keyword_lists = [
            keywords([Message("user", noted(memory.text))], self.extractor.extract, {}) for memory in unkeyed
        ]
        with self.database.write() as tx:
            for memory, its in zip(unkeyed, keyword_lists, strict=True):
                tx.short_term.replace_keywords(memory, its)

    def _clean_up(self, tx: WriteTx, places: Sequence[ConversationId], moment: str) -> Cleaned:
        """Remove what was old or had faded at a moment."""
        removed = remaining = 0
        for place in places:
            gone, stayed = tx.short_term.clean_up(place, self.cleanup, moment)
            tx.conversations.mark_cleaned(place, gone)
            removed += gone
            remaining += stayed
        return Cleaned(removed, remaining)


def _get(tx: Tx, conversation: str) -> ConversationId:
    place = tx.conversations.find(conversation)
    if place is None:
        raise NotFound(
            f"No conversation `{conversation}` has short-term memories.", Mend.LIST_SHORT_TERM_CONVERSATIONS
        )
    return place


def _in_trash(tx: Tx, pattern: Pattern, conversation: str) -> list[Trashed]:
    """Return the deleted memories of a conversation that a pattern is found in."""
    return [
        trashed
        for trashed in tx.trash.select(Kind.SHORT_TERM, conversation=conversation)
        if _has(pattern, _readable(trashed.parts["short_term_memories"][0]["text"]))
    ]


def _readable(text: str) -> str:
    """Return the readable part of what was no UTF-8."""
    return text.encode(errors="surrogateescape").decode(errors="replace")


def _has(pattern: Pattern, text: str) -> bool:
    """True if the pattern is in the text; words are not looked for in roles."""
    return pattern.is_in(spoken(text) if pattern.words else text)


def _elsewhere(tx: Tx) -> list[tuple[str, int]]:
    return tx.conversations.largest(Held.SHORT_TERM, NAMED)


def _before(now: str, span: timedelta) -> str:
    return timestamp(datetime.fromisoformat(now) - span)
