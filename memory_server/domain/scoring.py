"""The score of a memory that does not depend on a query: importance, decay and accesses."""

from datetime import datetime
from functools import lru_cache
from math import exp, log2

from memory_server.domain.memory import Memory, MemoryType
from memory_server.domain.moment import parse

DECAY_PER_DAY = {
    MemoryType.DECISION: 0.001,
    MemoryType.PREFERENCE: 0.002,
    MemoryType.LEARNING: 0.003,
    MemoryType.PATTERN: 0.005,
    MemoryType.ERROR: 0.01,
    MemoryType.OBSERVATION: 0.05,
}
"""Rate of the exponential decay per day: nearly the share of its score that a memory loses each day. The product
promises these: the score of an observation halves in 14 days, that of a decision in 693."""

SECONDS_PER_DAY = 86_400


def age_in_days(occurred_at: str, now: str) -> float:
    """Days between two ISO-8601 moments; 0 where `occurred_at` is in the future (clock set back, hand edit)."""
    seconds = (_moment(now) - _moment(occurred_at, otherwise=now)).total_seconds()
    return max(0.0, seconds / SECONDS_PER_DAY)


@lru_cache(maxsize=4096)
def _moment(text: str, otherwise: str = "") -> datetime:
    """Read a moment. A person may have written a text that is not one: then `otherwise` is read."""
    try:
        return parse(text)
    except ValueError:
        if not otherwise:
            raise
        return parse(otherwise)


def decayed(importance: int, type: MemoryType, age: float, access_count: int) -> float:
    """importance x e^(-rate x age in days) x log2(access_count + 2)."""
    return importance * exp(-DECAY_PER_DAY[type] * age) * log2(access_count + 2)


def decayed_score(memory: Memory, now: str) -> float:
    return decayed(memory.importance, memory.type, age_in_days(memory.occurred_at, now), memory.access_count)
