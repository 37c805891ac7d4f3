"""Short-term memories: the keywords of a conversation, their relevance, and which memories are returned.

The formulas and their constants are those of the GentianAphrodite character of fount, as memory-mcp-server, which is
derived from it, states them. Where a constant has another source, it says so.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NewType

from memory_server.domain.message import Message
from memory_server.domain.trust import UNKNOWN
from memory_server.language.text import has_han

_LINE_END = re.compile("[\n\u2028\u2029]")
"""The line ends of a message, those of JavaScript included."""

_FURTHER = "\n  "
"""Takes the place of a line end in a message: an indented line does not look like the line of a speaker."""

_SPEAKER = re.compile(r"^(?! )[^:\n]{1,100}: ", re.MULTILINE)
"""The speaker at the start of a line of a snapshot: a role, or a name of at most 100 characters."""

ShortTermId = NewType("ShortTermId", int)

KEYWORDS = 72
"""Most keywords of one message, and most keywords of all messages of a memory together."""

OVERLAPPING = 0.5
"""Share of its weight that an overlapping word has: it is inside or across the words of a text, or a second spelling.
Our own addition, so that a text is also found where the segmenter cuts it in another way or somebody else spells it."""

KEYWORD_FACTOR = 5.0
"""Factor from the TF-IDF of a word to its weight."""

LEAST_WEIGHT = 0.8
"""Least weight of a keyword; lighter words are dropped."""

ROLE_WEIGHTS: Mapping[str, float] = {"user": 2.7, "assistant": 2.0, "system": 1.0}
"""Factor of a keyword's weight by the role that said it: the user's words say best what a conversation is about."""

OTHER_ROLE = 1.0
"""The factor of all other roles."""

SEAM = re.compile(r"[/:@#]+")
"""What separates the parts of a path, an address or a `name:value`; the parts are words too. `pve-01` and `v1.2` have
no parts."""

_ROLE = re.compile(f"^(?:{'|'.join(ROLE_WEIGHTS)}): ", re.MULTILINE | re.IGNORECASE)
"""A known role at the start of a line."""

NEVER_DROPPED = 12
"""Most keywords that stay of a long message if all weigh less than LEAST_WEIGHT. Our own addition: TF-IDF divides by
the length, so a long message would have no keywords and never be found."""

MAX_PENALTY = 15.0
"""Most relevance that a memory loses by its age."""

DECAY_PER_MS = 2e-9
"""Rate of this loss per millisecond of age: 5 are lost after 2.35 days, 10 after 6.36 days."""

THRESHOLD = 5.0
"""Least relevance of a memory that is returned for its words."""

RELEVANCE_DECIMALS = 6
"""Decimals of a relevance. Our own addition: adding the same weights in another order must not change the ranking."""

MAX_SCORE = 100.0
"""Most score that a memory gets by being returned again and again."""

SETTLING = timedelta(minutes=20)
"""Least age of a memory that is returned: the assistant still has newer messages in its context."""

APART = timedelta(minutes=10)
"""Least time between two memories that are returned together: closer ones are often about the same."""

FLASHBACKS = 2
"""Most random memories that a search returns."""

HEAVIEST_FLASHBACK = 1 + 1.7 + 1.1
"""The largest value of `flashback_weight`: a draw accepts a memory with the probability weight / this."""

YEAR = timedelta(days=365)
"""Age from which a cleanup removes a memory, and from which age no longer changes the chance of a flashback."""

CLEANUP_EVERY = timedelta(hours=24)
"""Least time between two cleanups of a conversation by the server itself."""

FADED = -5.0
"""Least relevance without any shared word; a cleanup removes a memory below it. With score 0 that is 2.35 days."""

ALWAYS_KEPT = 512
"""Number of memories, the best of a conversation, that no cleanup removes."""


class Tier(StrEnum):
    """The reason for which a memory is returned: it is among the best for its words, the next best, or random."""

    TOP = "top"
    NEXT = "next"
    FLASHBACK = "flashback"


REWARD = {Tier.TOP: 5.0, Tier.NEXT: 2.0}
"""Score that a memory gains each time it is returned, by tier."""

RANKED_TIERS = (Tier.TOP, Tier.TOP, Tier.NEXT)
"""The tiers of the memories that are returned for their words, best first."""


@dataclass(frozen=True, slots=True)
class Keyword:
    """A keyword: the form in which it is compared, its weight, and the form in which the text has it."""

    word: str
    weight: float
    form: str


@dataclass(frozen=True, slots=True)
class ShortTermMemory:
    """A snapshot of a conversation; `said_at` is the moment of the last message."""

    id: ShortTermId
    text: str
    score: float
    said_at: str
    origin: str = UNKNOWN


@dataclass(frozen=True, slots=True)
class SaidFilter:
    """Selects short-term memories: of these conversations, by name (None: of all), and said between two moments.

    `captured`: only those that a hook kept, or only the others (None: all).
    """

    conversations: tuple[str, ...] | None = None
    since: str | None = None
    until: str | None = None
    captured: bool | None = None


@dataclass(frozen=True, slots=True)
class CleanupRule:
    """Selects what a cleanup removes: what was said longer ago than `age`, or is less relevant than `floor` without a
    shared word; but never the best `kept` of a conversation."""

    age: timedelta = YEAR
    floor: float = FADED
    kept: int = ALWAYS_KEPT


@dataclass(frozen=True, slots=True)
class Asking:
    """The keywords that memories are compared with, and the largest share of the words part that a score counts for;
    without one, it counts whole."""

    keywords: Sequence[Keyword]
    score_share: float | None = None


@dataclass(frozen=True, slots=True)
class Recollection:
    """A memory's relevance to some keywords, with its parts: relevance = words - penalty + score.

    words: the sum of query weight + memory weight over the shared words that no other shared word contains.
    score: the memory's score, or less where a share of the words part bounds it.
    penalty: 15 x (1 - e^(-age_ms x 2e-9)), so 5 after 2.35 days, 10 after 6.36 days, never more than 15.
    """

    id: ShortTermId
    said_at: str
    words: float
    penalty: float
    score: float
    relevance: float


def containing(query_keywords: Sequence[Keyword]) -> list[list[str]]:
    """The other keywords that contain each keyword: 王思琪 contains 王, `src/app` contains `app`, `v3.1` its
    second spelling `3.1`. Where one of these is shared as well, the keyword does not count, or long words would win.
    """
    return [
        [
            longer.word
            for longer in query_keywords
            if longer.word != keyword.word and _contains(longer.word, keyword.form)
        ]
        for keyword in query_keywords
    ]


def _contains(word: str, part: str) -> bool:
    """In scripts with spaces between words, whole parts only: `start` does not contain `art`."""
    return part in word and (has_han(part) or part == word or part in SEAM.split(word))


def tf_idf(
    words: Iterable[tuple[str, str]], idf: Callable[[str], float], overlapping: Iterable[tuple[str, str]] = ()
) -> list[Keyword]:
    """The 72 best words of a text, best first. `words` and `overlapping` give each word with its form in the text.

    TF-IDF as in jieba: count x idf / the number of words. But only the words kept are counted, because in a long
    text each word would fall below any threshold. The text also contains the overlapping words, cut in another way:
    they get half of their weight, and do not change that of the others.
    """
    counts: Counter[str] = Counter()
    forms: dict[str, str] = {}
    for word, form in words:
        counts[word] += 1
        forms.setdefault(word, form)
    best = sorted(counts, key=lambda word: counts[word] * idf(word), reverse=True)[:KEYWORDS]
    total = sum(counts[word] for word in best)
    weights = {word: counts[word] * idf(word) / total for word in best}
    also: Counter[str] = Counter()
    for word, form in overlapping:
        also[word] += 1
        forms.setdefault(word, form)
    for word, count in also.items():
        if word not in counts:
            weights[word] = OVERLAPPING * count * idf(word) / max(total, 1)
    heaviest = sorted(weights, key=lambda word: -weights[word])[:KEYWORDS]
    return [Keyword(word, weights[word], forms[word]) for word in heaviest]


def keywords(
    messages: Sequence[Message], extract: Callable[[str], list[Keyword]], role_weights: Mapping[str, float]
) -> list[Keyword]:
    """The words of a conversation, heaviest first: TF-IDF x 5 x the weight of who said it, summed over the messages.

    Words below 0.8 are dropped. If a long message would lose all its words, at most 12 stay: those that would not
    be dropped if the message had only 12 words.
    """
    weights = {**ROLE_WEIGHTS, **role_weights}
    sums: dict[str, float] = {}
    in_short: dict[str, float] = {}
    forms: dict[str, str] = {}
    for message in messages:
        factor = KEYWORD_FACTOR * weights.get(message.role, OTHER_ROLE)
        message_keywords = extract(message.content)
        length = max(1.0, len(message_keywords) / NEVER_DROPPED)
        for keyword in message_keywords:
            weight = keyword.weight * factor
            sums[keyword.word] = sums.get(keyword.word, 0.0) + weight
            in_short[keyword.word] = in_short.get(keyword.word, 0.0) + weight * length
            forms.setdefault(keyword.word, keyword.form)
    heavy = [word for word, weight in sums.items() if weight >= LEAST_WEIGHT]
    chosen_words = heavy or [word for word, weight in in_short.items() if weight >= LEAST_WEIGHT]
    chosen_words.sort(key=lambda word: -sums[word])
    return [
        Keyword(word, round(sums[word], 4), forms[word])
        for word in chosen_words[: KEYWORDS if heavy else NEVER_DROPPED]
    ]


def snapshot(messages: Sequence[Message]) -> str:
    """The messages as one text for people: `role: content`; the further lines of a content are indented."""
    return "\n".join(
        _LINE_END.sub(_FURTHER, f"{message.name or message.role}: {message.content}") for message in messages
    )


def spoken(text: str) -> str:
    """The text of a snapshot without the speakers."""
    return _SPEAKER.sub("", text)


def messages_of(text: str) -> list[Message]:
    """The messages of a snapshot, as far as it shows their roles; what begins without a role is the user's."""
    starts = [match.start() for match in _ROLE.finditer(text)]
    pieces = [text[start:end] for start, end in zip([0, *starts], [*starts, len(text)], strict=True)]
    messages = []
    for piece in filter(None, pieces):
        role = _ROLE.match(piece)
        content = piece[role.end() if role else 0 :].replace(_FURTHER, "\n")
        messages.append(Message(piece[: role.end() - 2].lower() if role else "user", content.strip("\n")))
    return messages


def noted(text: str) -> str:
    """The text of a snapshot that a person wrote, without known roles: `The code of the door: 7` names no speaker."""
    return _ROLE.sub("", text)


def pick(ranked: Iterable[Recollection]) -> list[tuple[Tier, Recollection]]:
    """Two memories for the top and the next best, no two said within 10 minutes of each other."""
    picked: list[tuple[Tier, Recollection]] = []
    for recollection in ranked:
        if len(picked) == len(RANKED_TIERS):
            break
        if is_apart(recollection.said_at, [earlier.said_at for _, earlier in picked]):
            picked.append((RANKED_TIERS[len(picked)], recollection))
    return picked


def is_apart(moment: str, moments: Iterable[str]) -> bool:
    """True if none of `moments` is within 10 minutes of `moment`."""
    at = datetime.fromisoformat(moment)
    return all(abs(at - datetime.fromisoformat(other_moment)) >= APART for other_moment in moments)


def flashback_weight(age: timedelta, score: float) -> float:
    """The weight of a memory in a draw of flashbacks: 1 + 1.7 x max(0, 1 - age / 365 d) + 1.1 x min(score, 50) / 50."""
    return 1 + 1.7 * max(0.0, 1 - age / YEAR) + 1.1 * min(score, 50.0) / 50
