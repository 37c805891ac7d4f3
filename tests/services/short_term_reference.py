"""Short-term memories as the design states them, slowly and literally: lists of objects, one formula after the other.

Written from the formulas, not from the product: no SQL, no index, every memory is looked at.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

Chance = Callable[[], float]


@dataclass
class Remembered:
    """One memory of one conversation; where `said` lies in the future, nothing is lost yet."""

    id: int
    said: datetime
    weights: dict[str, float]
    score: float = 0.0


@dataclass
class Selected:
    top: list[Remembered] = field(default_factory=list)
    next: list[Remembered] = field(default_factory=list)
    flashback: list[Remembered] = field(default_factory=list)


def penalty(memory: Remembered, now: datetime) -> float:
    age_ms = max(0.0, (now - memory.said) / timedelta(milliseconds=1))
    return 15 * (1 - math.exp(-age_ms * 2e-9))


def counted(memory: Remembered, asked: dict[str, float]) -> set[str]:
    """The shared words but those inside another shared word; the words of the tests are Chinese, or not inside any."""
    shared = asked.keys() & memory.weights.keys()
    return {word for word in shared if not any(word in other for other in shared - {word})}


def words(memory: Remembered, asked: dict[str, float]) -> float:
    return sum(asked[word] + memory.weights[word] for word in counted(memory, asked))


def score(memory: Remembered, asked: dict[str, float], share: float | None) -> float:
    return memory.score if share is None else min(memory.score, share * words(memory, asked))


def relevance(
    memory: Remembered, asked: dict[str, float], now: datetime, share: float | None = None
) -> float:
    return words(memory, asked) - penalty(memory, now) + score(memory, asked, share)


def settled(memory: Remembered, now: datetime) -> bool:
    return now - memory.said >= timedelta(minutes=20)


def apart(memory: Remembered, others: list[Remembered]) -> bool:
    return all(abs(memory.said - other.said) >= timedelta(minutes=10) for other in others)


def select(
    memories: list[Remembered],
    asked: dict[str, float],
    now: datetime,
    chance: Chance,
    share: float | None = None,
) -> Selected:
    """Of equals the later said comes first, then the later written."""
    able = [
        memory
        for memory in memories
        if settled(memory, now)
        and any(word in memory.weights for word in asked)
        and relevance(memory, asked, now, share) >= 5
    ]
    able.sort(key=lambda memory: (round(relevance(memory, asked, now, share), 6), memory.said, memory.id))
    able.reverse()
    picked: list[Remembered] = []
    for memory in able:
        if len(picked) < 3 and apart(memory, picked):
            picked.append(memory)
    taken = list(picked)
    for _ in range(2):
        flash = draw([memory for memory in memories if settled(memory, now)], taken, now, chance)
        if flash is not None:
            taken.append(flash)
    return Selected(picked[:2], picked[2:], taken[len(picked) :])


def reward(selected: Selected) -> None:
    for memory in selected.top:
        memory.score = min(100, memory.score + 5)
    for memory in selected.next:
        memory.score = min(100, memory.score + 2)


def flashback_weight(memory: Remembered, now: datetime) -> float:
    age_days = (now - memory.said) / timedelta(days=1)
    return 1 + 1.7 * max(0, 1 - age_days / 365) + 1.1 * min(memory.score, 50) / 50


def draw(
    memories: list[Remembered], taken: list[Remembered], now: datetime, chance: Chance
) -> Remembered | None:
    """One that is apart from those taken, by its weight.

    How chance is used: up to 32 times one number for any memory, oldest first, and one for whether it is accepted
    (its weight / the heaviest possible, 3.8); after that one number for a place among all that are apart.
    """
    if not memories:
        return None
    memories = sorted(memories, key=lambda memory: (memory.said, memory.score, memory.id))
    for _ in range(32):
        memory = memories[int(chance() * len(memories))]
        accepted = chance() * 3.8 < flashback_weight(memory, now)
        if accepted and apart(memory, taken):
            return memory
    pool = [memory for memory in memories if apart(memory, taken)]
    place = chance() * sum(flashback_weight(memory, now) for memory in pool)
    for memory in pool:
        place -= flashback_weight(memory, now)
        if place < 0:
            return memory
    return pool[-1] if pool else None


def cleaned(
    memories: list[Remembered],
    now: datetime,
    always_kept: int = 512,
    age: timedelta = timedelta(days=365),
    floor: float = -5,
) -> list[Remembered]:
    """Those that stay."""
    best = sorted(memories, key=lambda memory: (round(relevance(memory, {}, now), 6), memory.said, memory.id))
    best.reverse()
    return best[:always_kept] + [
        memory
        for memory in best[always_kept:]
        if now - memory.said <= age and round(relevance(memory, {}, now), 6) >= floor
    ]
