"""Short-term memories: the words of a conversation, how their pull fades, which come back.

The formulas are those of the GentianAphrodite character of fount, as its offspring memory-mcp-server states them.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from math import exp
from typing import NewType

from memory_server.domain.message import Message

_LINE_END = re.compile("[\n\u2028\u2029]")
_FURTHER = "\n  "
_SPEAKER = re.compile(r"^(?! )[^:\n]{1,100}: ", re.MULTILINE)

ShortTermId = NewType("ShortTermId", int)

KEYWORDS = 72
"""So many words of a message count, and so many of all messages together are kept."""

OVERLAPPING = 0.5
"""The share of its weight that a word has which stands inside or across the words of a text."""

KEYWORD_FACTOR = 5.0
LEAST_WEIGHT = 0.8
"""Words that weigh less are dropped."""

ROLE_WEIGHTS: Mapping[str, float] = {"user": 2.7, "assistant": 2.0, "system": 1.0}
OTHER_ROLE = 1.0

_ROLE = re.compile(f"^(?:{'|'.join(ROLE_WEIGHTS)}): ", re.MULTILINE | re.IGNORECASE)

NEVER_DROPPED = 12
"""So many words of a long message stay where all weigh less."""

MAX_PENALTY = 15.0
DECAY_PER_MS = 2e-9
THRESHOLD = 5.0
"""A memory of less relevance does not come back for its words."""

RELEVANCE_DECIMALS = 6
"""Decimals of a relevance, so that two ways of adding the same weights give the same order."""

MAX_SCORE = 100.0
SETTLING = timedelta(minutes=20)
"""What was said later than this is still in front of the assistant's eyes."""

APART = timedelta(minutes=10)
"""Memories that come back together were said at least so far apart."""

FLASHBACKS = 2
HEAVIEST_FLASHBACK = 1 + 1.7 + 1.1
YEAR = timedelta(days=365)

CLEANUP_EVERY = timedelta(hours=24)
FADED = -5.0
"""A memory of less relevance to no words at all is removed."""

ALWAYS_KEPT = 512
"""So many of a conversation, the best, no cleanup removes."""


class Tier(StrEnum):
    """Why a memory came back: among the best for its words, next to them, or by chance."""

    TOP = "top"
    NEXT = "next"
    FLASHBACK = "flashback"


REWARD = {Tier.TOP: 5.0, Tier.NEXT: 2.0}
"""What coming back adds to the score."""

PLACES = (Tier.TOP, Tier.TOP, Tier.NEXT)


@dataclass(frozen=True, slots=True)
class Keyword:
    """A word as it is compared, its weight, and the form in which the text has it."""

    word: str
    weight: float
    form: str


@dataclass(frozen=True, slots=True)
class ShortTermMemory:
    """What was said, as a snapshot; `said_at` is the moment of the last message."""

    id: ShortTermId
    text: str
    score: float
    said_at: str


@dataclass(frozen=True, slots=True)
class Recollection:
    """A memory's relevance to some keywords, with its parts: relevance = words - penalty + score.

    words: the sum of query weight + memory weight over the shared words.
    penalty: 15 x (1 - e^(-age_ms x 2e-9)), so 5 after 2.35 days, 10 after 6.36 days, never more than 15.
    """

    id: ShortTermId
    said_at: str
    words: float
    penalty: float
    score: float
    relevance: float


def penalty(age: timedelta) -> float:
    """What a memory has lost to time: 15 x (1 - e^(-age_ms x 2e-9)); nothing while its moment is still to come.

    `sqlite/short_term.py` computes the same in SQL; `tests/sqlite/test_rules.py` holds both equal.
    """
    age_ms = max(0.0, age / timedelta(milliseconds=1))
    return MAX_PENALTY * (1 - exp(-age_ms * DECAY_PER_MS))


def relevance(words: float, lost: float, score: float) -> float:
    """What decides whether a memory comes back, with the decimals in which it is compared."""
    return round(words - lost + score, RELEVANCE_DECIMALS)


def faded(memories: Sequence[ShortTermMemory], now: datetime) -> set[ShortTermId]:
    """Which memories of a conversation a cleanup removes: older than a year or below FADED, and never the best 512."""

    def worth(memory: ShortTermMemory) -> float:
        return relevance(0.0, penalty(now - datetime.fromisoformat(memory.said_at)), memory.score)

    best_first = sorted(memories, key=lambda each: (worth(each), each.said_at, each.id), reverse=True)
    return {
        each.id
        for each in best_first[ALWAYS_KEPT:]
        if now - datetime.fromisoformat(each.said_at) > YEAR or worth(each) < FADED
    }


def tf_idf(
    words: Iterable[tuple[str, str]], idf: Callable[[str], float], overlapping: Iterable[str] = ()
) -> list[Keyword]:
    """The 72 best words of a text, given with the form in which each stands there, best first.

    TF-IDF as jieba has it: count x idf / the number of words, but of the words kept, for else a long text
    drives each of its words below any threshold. Overlapping words stand in it too, but were cut otherwise: they
    have half of their weight, and the others keep theirs.
    """
    counts: Counter[str] = Counter()
    forms: dict[str, str] = {}
    for word, form in words:
        counts[word] += 1
        forms.setdefault(word, form)
    best = sorted(counts, key=lambda word: counts[word] * idf(word), reverse=True)[:KEYWORDS]
    total = sum(counts[word] for word in best)
    weights = {word: counts[word] * idf(word) / total for word in best}
    for word, count in Counter(overlapping).items():
        if word not in counts:
            weights[word] = OVERLAPPING * count * idf(word) / max(total, 1)
    heaviest = sorted(weights, key=lambda word: -weights[word])[:KEYWORDS]
    return [Keyword(word, weights[word], forms.get(word, word)) for word in heaviest]


def keywords(
    messages: Sequence[Message], extract: Callable[[str], list[Keyword]], role_weights: Mapping[str, float]
) -> list[Keyword]:
    """The words of a conversation, heaviest first: TF-IDF x 5 x the weight of who said it, summed over the messages.

    Words below 0.8 are dropped. Where that leaves none of a long message, those stay that would not have
    been dropped from one of 12 words, at most 12.
    """
    weights = {**ROLE_WEIGHTS, **role_weights}
    sums: dict[str, float] = {}
    in_short: dict[str, float] = {}
    forms: dict[str, str] = {}
    for message in messages:
        factor = KEYWORD_FACTOR * weights.get(message.role, OTHER_ROLE)
        found = extract(message.content)
        length = max(1.0, len(found) / NEVER_DROPPED)
        for keyword in found:
            weight = keyword.weight * factor
            sums[keyword.word] = sums.get(keyword.word, 0.0) + weight
            in_short[keyword.word] = in_short.get(keyword.word, 0.0) + weight * length
            forms.setdefault(keyword.word, keyword.form)
    heavy = [word for word, weight in sums.items() if weight >= LEAST_WEIGHT]
    kept = heavy or [word for word, weight in in_short.items() if weight >= LEAST_WEIGHT]
    kept.sort(key=lambda word: -sums[word])
    return [
        Keyword(word, round(sums[word], 4), forms[word])
        for word in kept[: KEYWORDS if heavy else NEVER_DROPPED]
    ]


def snapshot(messages: Sequence[Message]) -> str:
    """The messages as one text for people: `role: content`, further lines of a content indented."""
    return "\n".join(
        _LINE_END.sub(_FURTHER, f"{message.name or message.role}: {message.content}") for message in messages
    )


def spoken(text: str) -> str:
    """What was said, of a snapshot: without who said it."""
    return _SPEAKER.sub("", text)


def noted(text: str) -> str:
    """What was said, of a snapshot that a person wrote: `The code of the door: 7` names nobody who said it."""
    return _ROLE.sub("", text)


def pick(ranked: Iterable[Recollection]) -> list[tuple[Tier, Recollection]]:
    """Two for the top and one next to them, best first, no two said within 10 minutes."""
    picked: list[tuple[Tier, Recollection]] = []
    for each in ranked:
        if len(picked) == len(PLACES):
            break
        if is_apart(each.said_at, [other.said_at for _, other in picked]):
            picked.append((PLACES[len(picked)], each))
    return picked


def is_apart(moment: str, others: Iterable[str]) -> bool:
    """Whether none of the others is within 10 minutes."""
    at = datetime.fromisoformat(moment)
    return all(abs(at - datetime.fromisoformat(other)) >= APART for other in others)


def flashback_weight(age: timedelta, score: float) -> float:
    """How likely a memory flashes back: 1 + 1.7 x max(0, 1 - age / 365 d) + 1.1 x min(score, 50) / 50."""
    return 1 + 1.7 * max(0.0, 1 - age / YEAR) + 1.1 * min(score, 50.0) / 50
