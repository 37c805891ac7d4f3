"""The algorithm of memory-mcp-server for short-term memories, read literally: what the product is compared with."""

import math
import random
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from memory_server.domain.message import Message

Weights = list[tuple[str, float]]
"""Words with their weights, heaviest first."""

KEPT = 72
LEAST_WEIGHT = 0.8
ROLES = {"user": 2.7, "assistant": 2.0, "system": 1.0}


@dataclass(slots=True)
class Remembered:
    """A memory; `at` is in milliseconds."""

    keywords: Weights
    at: float
    score: float = 0.0


class Original:
    """All memories in a list, and each of them is looked at in a search."""

    def __init__(self) -> None:
        self.memories: list[Remembered] = []

    def search(self, asked: Weights, now: float, chance: random.Random) -> list[Remembered]:
        """Two top, one next, and two flashbacks; those for their words gain score."""
        picked = self.ranked(asked, now)
        rewarded = list(picked)
        pool = [memory for memory in self.memories if memory not in picked]
        for _ in range(2):
            allowed = [memory for memory in pool if self._allowed(memory, picked, now)]
            if not allowed:
                break
            weights = [
                1 + 1.7 * max(0, 1 - (now - memory.at) / 31_536_000_000) + 1.1 * min(memory.score, 50) / 50
                for memory in allowed
            ]
            picked += chance.choices(allowed, weights)
        for memory, reward in zip(rewarded, (5, 5, 2), strict=False):
            memory.score = min(100, memory.score + reward)
        return picked

    def ranked(self, asked: Weights, now: float) -> list[Remembered]:
        """At most two top and one next; nothing changes."""
        scored = [(self._relevance(memory, asked, now), memory) for memory in self.memories]
        ranked = sorted((each for each in scored if each[0] >= 5), key=lambda each: -each[0])
        picked: list[Remembered] = []
        for _, memory in ranked:
            if len(picked) == 3:
                break
            if self._allowed(memory, picked, now):
                picked.append(memory)
        return picked

    def _relevance(self, memory: Remembered, asked: Weights, now: float) -> float:
        words = {word for word, _ in memory.keywords}
        shared = sum(
            weight + next(its for other, its in memory.keywords if other == word)
            for word, weight in asked
            if word in words
        )
        return shared - 15 * (1 - math.exp(-max(0, now - memory.at) * 2e-9)) + memory.score

    def _allowed(self, memory: Remembered, picked: list[Remembered], now: float) -> bool:
        return now - memory.at >= 1_200_000 and all(abs(memory.at - other.at) >= 600_000 for other in picked)


def keywords(messages: Sequence[Message]) -> Weights:
    """TF-IDF as jieba has it x 5 x the weight of the role, summed over the messages; those below 0.8 are dropped."""
    sums: dict[str, float] = {}
    for message in messages:
        for word, weight in _tfidf().extract_tags(message.content, topK=KEPT, withWeight=True):
            sums[word] = sums.get(word, 0.0) + weight * 5 * ROLES.get(message.role, 1.0)
    heavy = [(word, weight) for word, weight in sums.items() if weight >= LEAST_WEIGHT]
    return sorted(heavy, key=lambda each: -each[1])[:KEPT]


@cache
def _tfidf() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from jieba.analyse import TFIDF

    return TFIDF()
