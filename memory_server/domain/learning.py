"""Learns from sessions: whether a memory that was shown is used, and which questions are the same.

A use is an access with effect: what was said afterwards has the distinctive words of the memory, or a call builds on
it. The effect on the ranking is small and bounded. `scripts/lab/quality/learning.py` shows what it does over many
sessions.
"""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum

from memory_server.language import background, query
from memory_server.language.small_talk import is_small_talk

GAIN = 0.05
"""The most that a memory gains of its score, as a share; half of it after the first session that used it. It lifts a
memory over one that is as near to the question, not over one that is nearer."""

LOSS = 0.03
"""The most that a memory loses of its score. Less than the gain: that nobody repeats a memory proves little."""

OFTEN = 5
"""Sessions that were shown a memory and did not use it, from which on it loses, if none has ever used it."""

RARE = 3.9
"""Nats: a word tells something of a text where fewer than one of fifty ordinary texts hold it."""

READ = 2_000
"""Characters of a memory whose words are looked for."""

WHOLE = 0.5
"""Share of the distinctive words of a memory, by weight, that must be said again."""

LONG = 48.0
FURTHER = 0.25
"""Nats of distinctive words, some seven rare ones, beyond which this share of the rest is enough: who answers from a
long memory does not repeat half of it."""

OPEN = 2
"""Sessions that have asked a question in vain, from which on it is open."""

SAME = 0.65
"""Share of all words of two questions that both have, from which on they ask the same."""

MOST, LEAST = 300, 8
"""Characters of a question that is kept."""


_NUMBER = re.compile(r"\d+")


class How(StrEnum):
    """Ways in which a memory was used."""

    REPEATED = "repeated"
    CALLED = "called"


@dataclass(frozen=True, slots=True)
class Uses:
    """Numbers of sessions in which a memory was used, and in which it was shown, looked at, and not used."""

    used: int = 0
    unused: int = 0

    @property
    def factor(self) -> float:
        """The factor of its score: from 1 - LOSS to 1 + GAIN, and 1 where nothing is known."""
        if self.used:
            return 1 + GAIN * self.used / (self.used + 1)
        over = max(0, self.unused - OFTEN + 1)
        return 1 - LOSS * over / (over + 2)

    @property
    def reason(self) -> str | None:
        """The reason for the factor in words; None where it is 1."""
        if self.used:
            return f"used in {self.used} sessions" if self.used > 1 else "used in 1 session"
        return f"shown in {self.unused} sessions, never used" if self.unused >= OFTEN else None


@dataclass(frozen=True, slots=True)
class Learnt:
    """A memory that gains or loses."""

    memory: int
    content: str
    uses: Uses


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question that found nothing, in so many sessions; times are ISO-8601 UTC text."""

    id: int
    project: str
    text: str
    sessions: int
    asked_at: str
    session: str
    person: str | None = None


def is_repeated(memory: str, prompt: str, reply: str) -> bool:
    """True if `reply` repeats the distinctive words of a memory. Words that `prompt` has too prove nothing."""
    telling = _distinctive(memory[:READ])
    prompt_terms = set(query.parse(prompt).terms)
    weights = {term: weight for term, weight in telling.items() if term not in prompt_terms}
    heard = set(query.parse(reply).terms)
    shared = sum(weight for term, weight in weights.items() if term in heard)
    full = sum(weights.values())
    return shared > 0 and shared >= WHOLE * min(full, LONG) + FURTHER * max(0.0, full - LONG)


def _distinctive(text: str) -> dict[str, float]:
    terms = (term for term in query.parse(text).terms if not is_small_talk(term))
    rarities = {term: background.rarity(term) for term in terms}
    return {term: weight for term, weight in rarities.items() if weight >= RARE}


def is_worth_keeping(question: str) -> bool:
    """True if a question names enough to be understood later: at least two words that are no small talk."""
    return LEAST <= len(question) <= MOST and len(words(question)) > 1


def words(question: str) -> frozenset[str]:
    return frozenset(term for term in query.parse(question).terms if not is_small_talk(term))


def says_the_same(text: str, sentence: str) -> bool:
    """True if a text and a sentence share at least SAME of all their words, and have the same numbers."""
    return _are_alike(words(text), words(sentence)) and _numbers(text) == _numbers(sentence)


def _numbers(text: str) -> set[str]:
    return set(_NUMBER.findall(text))


def _are_alike(left: AbstractSet[str], right: AbstractSet[str]) -> bool:
    return len(left & right) >= SAME * max(1, len(left | right))


def same(question_words: AbstractSet[str], questions: Sequence[OpenQuestion]) -> list[OpenQuestion]:
    """The questions that share at least SAME of all words with these words: they ask the same."""
    return [question for question in questions if _are_alike(question_words, words(question.text))]
