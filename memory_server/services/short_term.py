"""Short-term memories: what a conversation was about lately, found by its words, fading with time."""

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from memory_server.domain.memory import Caller
from memory_server.domain.message import Message
from memory_server.domain.moment import timestamp
from memory_server.domain.pattern import Pattern
from memory_server.domain.secrets import refuse_secrets
from memory_server.domain.short_term import (
    CLEANUP_EVERY,
    FLASHBACKS,
    HEAVIEST_FLASHBACK,
    PLACES,
    REWARD,
    SETTLING,
    YEAR,
    Keyword,
    Recollection,
    ShortTermId,
    ShortTermMemory,
    Tier,
    flashback_weight,
    is_apart,
    keywords,
    noted,
    pick,
    snapshot,
    spoken,
)
from memory_server.errors import Invalid, NotFound
from memory_server.nlp import KeywordExtractor
from memory_server.sqlite import conversations, short_term
from memory_server.sqlite.conversations import Cleanups, ConversationId
from memory_server.sqlite.database import Database, Tx, WriteTx
from memory_server.sqlite.short_term import Totals

logger = logging.getLogger(__name__)

TRIES = 32
"""Draws of a flashback by chance, before all that may flash back are read: most are too close to one taken."""

FEW = 50
"""Relevant memories among which three said apart are mostly found."""

LOOKING = 10.0
"""Seconds that a pattern may take for all memories of a conversation."""

PAGE = 1000
BATCH = 50
"""Conversations that one round of background work cleans up, and rows written by hand that it takes on at once."""

ROUND = 1.0
"""Seconds after which a round takes on no more rows: embeddings wait meanwhile."""


@dataclass(frozen=True, slots=True)
class Added:
    """A new memory and its keywords, heaviest first."""

    id: ShortTermId
    keywords: list[Keyword]


@dataclass(frozen=True, slots=True)
class Recalled:
    """A memory that came back: why, its relevance, and the words it shares, in the form in which they were asked."""

    memory: ShortTermMemory
    tier: Tier
    parts: Recollection
    words: list[str]


@dataclass(frozen=True, slots=True)
class Cleaned:
    """How many memories a cleanup removed and kept."""

    removed: int
    kept: int


@dataclass(frozen=True, slots=True)
class ShortTermService:
    """`chance` gives numbers of [0, 1); `count_access` is off where the server was started read-only."""

    database: Database
    extractor: KeywordExtractor
    chance: Callable[[], float]
    allow_secrets: bool = False
    count_access: bool = True

    def add(
        self,
        messages: Sequence[Message],
        conversation: str,
        role_weights: Mapping[str, float],
        caller: Caller,
    ) -> Added:
        """Keep what was said, with its keywords. A moment still to come counts as now.

        Raises:
            Invalid: no message says anything, or one holds a credential.
        """
        said = [message for message in messages if message.content]
        if not said:
            raise Invalid("No message holds any text. Nothing was kept: send at least one with content.")
        text = snapshot(said)
        if not self.allow_secrets:
            refuse_secrets(text)
        found = keywords(said, self.extractor.extract, role_weights)
        with self.database.write() as tx:
            said_at = min(said[-1].timestamp or tx.now, tx.now)
            place = conversations.find_or_insert(tx, conversation)
            return Added(short_term.insert(tx, place, text, said_at, found, caller), found)

    def search(
        self, messages: Sequence[Message], conversation: str, role_weights: Mapping[str, float]
    ) -> list[Recalled]:
        """The memories of this conversation that its last messages call back: two top, one next, two flashbacks."""
        asked = keywords(messages, self.extractor.extract, role_weights)
        with self.database.read() as tx:
            place = conversations.find(tx, conversation)
            found = [] if place is None else self._recall(tx, place, asked)
        self._reward(found)
        return found

    def matching(self, pattern: Pattern, conversation: str) -> list[tuple[ShortTermId, str]]:
        """The id and text of the memories that the pattern is found in, oldest first; words not in roles.

        Raises:
            Invalid: that takes too long.
        """
        found: list[tuple[ShortTermId, str]] = []
        ends = time.monotonic() + LOOKING
        for id, text in self._texts(conversation):
            if pattern.is_in(spoken(text) if pattern.words else text):
                found.append((id, text))
            if time.monotonic() > ends:
                raise Invalid(
                    f"The pattern is too slow: in {LOOKING:.0f} s it got to memory {id}. Nothing was deleted. "
                    "Give plain words, or an expression with fewer repetitions."
                )
        return found

    def _texts(self, conversation: str) -> Iterator[tuple[ShortTermId, str]]:
        last = ShortTermId(0)
        while True:
            with self.database.read() as tx:
                place = conversations.find(tx, conversation)
                page = [] if place is None else short_term.texts(tx, place, last, PAGE)
            if not page:
                return
            yield from page
            last = page[-1][0]

    def delete(self, pattern: Pattern, conversation: str) -> int:
        """Delete those memories for good; how many.

        Raises:
            Invalid: to find them takes too long.
        """
        matching = [id for id, _ in self.matching(pattern, conversation)]
        if not matching:
            return 0
        with self.database.write() as tx:
            tx.rewrite_file_afterwards()
            return short_term.delete(tx, matching)

    def totals(self, conversation: str | None) -> tuple[Totals, Cleanups | None]:
        """Of one conversation, or of all."""
        with self.database.read() as tx:
            place = None if conversation is None else _get(tx, conversation)
            return short_term.totals(tx, place), conversations.cleanups(tx, place)

    def clean_up(self, conversation: str | None) -> Cleaned:
        """Remove what is old or has faded from one conversation, or from all, now."""
        with self.database.write() as tx:
            places = conversations.ids(tx) if conversation is None else [_get(tx, conversation)]
            return self._clean_up(tx, places)

    def by_conversation(self, limit: int) -> list[tuple[str, int]]:
        """The conversations with the most memories, and how many."""
        with self.database.read() as tx:
            return short_term.by_conversation(tx, limit)

    def too_recent(self, conversation: str) -> int | None:
        """How many memories were said too lately to come back; None where the conversation has none at all."""
        with self.database.read() as tx:
            place = conversations.find(tx, conversation)
            if place is None:
                return None
            before = _before(tx.now, SETTLING)
            recent = short_term.count_unsettled(tx, place, before)
            return recent if recent or short_term.settled(tx, place, before, limit=1) else None

    def sweep(self) -> None:
        """Background work: keywords of what was written by hand, and each conversation's daily cleanup."""
        if self.database.read_only:
            return
        ends = time.monotonic() + ROUND
        while unkeyed := self._unkeyed():
            self._find_keywords(unkeyed)
            if time.monotonic() > ends:
                break
        with self.database.read() as tx:
            waiting = conversations.due(tx, _before(tx.now, CLEANUP_EVERY), 1)
        if waiting:
            with self.database.write() as tx:
                self._clean_up(tx, conversations.due(tx, _before(tx.now, CLEANUP_EVERY), BATCH))

    def _recall(self, tx: Tx, place: ConversationId, asked: Sequence[Keyword]) -> list[Recalled]:
        before = _before(tx.now, SETTLING)
        ranked = short_term.relevant(tx, place, asked, before, FEW)
        picked = pick(ranked)
        if len(picked) < len(PLACES) and len(ranked) == FEW:  # these were said too close together
            picked = pick(short_term.relevant(tx, place, asked, before))
        flashes = self._flashbacks(tx, place, before, [parts.said_at for _, parts in picked])
        picked += [(Tier.FLASHBACK, parts) for parts in short_term.recollect(tx, asked, flashes)]
        memories = short_term.select(tx, [parts.id for _, parts in picked])
        forms = {keyword.word: keyword.form for keyword in asked}
        return [
            Recalled(
                memories[parts.id],
                tier,
                parts,
                [forms[word] for word in short_term.shared_words(tx, parts.id, asked)],
            )
            for tier, parts in picked
        ]

    def _flashbacks(
        self, tx: Tx, place: ConversationId, before: str, taken: Sequence[str]
    ) -> list[ShortTermId]:
        number = short_term.count_settled(tx, place, before)
        drawn: list[ShortTermId] = []
        taken = list(taken)
        while number and len(drawn) < FLASHBACKS:
            flash = self._draw(tx, place, before, number, taken)
            if flash is None:
                break
            drawn.append(flash[0])
            taken.append(flash[1])
        return drawn

    def _draw(
        self, tx: Tx, place: ConversationId, before: str, number: int, taken: Sequence[str]
    ) -> tuple[ShortTermId, str] | None:
        """One memory by its flashback weight, said apart from those taken; None where there is none.

        Drawn by rejection: any memory, accepted with its weight / the heaviest; so a long history is not read.
        """
        for _ in range(TRIES):
            ((id, said_at, score),) = short_term.settled(
                tx, place, before, limit=1, offset=int(self.chance() * number)
            )
            weight = flashback_weight(_age(tx.now, said_at), score)
            if self.chance() * HEAVIEST_FLASHBACK < weight and is_apart(said_at, taken):
                return id, said_at
        pool = [each for each in short_term.settled(tx, place, before) if is_apart(each[1], taken)]
        weights = [flashback_weight(_age(tx.now, said_at), score) for _, said_at, score in pool]
        left = self.chance() * sum(weights)
        for (id, said_at, _), weight in zip(pool, weights, strict=True):
            left -= weight
            if left < 0:
                return id, said_at
        return (pool[-1][0], pool[-1][1]) if pool else None

    def _reward(self, found: Sequence[Recalled]) -> None:
        rewarded = [(each.memory.id, REWARD[each.tier]) for each in found if each.tier in REWARD]
        if not rewarded or not self.count_access:
            return

        def mark(tx: WriteTx) -> None:
            for id, reward in rewarded:
                short_term.raise_score(tx, id, reward)

        problem = self.database.count(mark)
        if problem is not None:
            logger.warning("scores were not raised: %s", problem)

    def _unkeyed(self) -> list[ShortTermMemory]:
        with self.database.read() as tx:
            return short_term.unkeyed(tx, BATCH)

    def _find_keywords(self, unkeyed: Sequence[ShortTermMemory]) -> None:
        found = [
            keywords([Message("user", noted(memory.text))], self.extractor.extract, {}) for memory in unkeyed
        ]
        with self.database.write() as tx:
            for memory, its in zip(unkeyed, found, strict=True):
                short_term.replace_keywords(tx, memory, its)

    def _clean_up(self, tx: WriteTx, places: Sequence[ConversationId]) -> Cleaned:
        removed = kept = 0
        for place in places:
            gone, stayed = short_term.clean_up(tx, place, _before(tx.now, YEAR))
            conversations.mark_cleaned(tx, place, gone)
            removed += gone
            kept += stayed
        return Cleaned(removed, kept)


def _get(tx: Tx, conversation: str) -> ConversationId:
    found = conversations.find(tx, conversation)
    if found is None:
        raise NotFound(
            f"No conversation `{conversation}` has short-term memories. "
            "Call `get_memory_stats` without conversation_id to see which have."
        )
    return found


def _before(now: str, span: timedelta) -> str:
    return timestamp(datetime.fromisoformat(now) - span)


def _age(now: str, said_at: str) -> timedelta:
    return datetime.fromisoformat(now) - datetime.fromisoformat(said_at)
