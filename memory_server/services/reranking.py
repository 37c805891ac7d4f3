"""Puts the first hits into the order of the re-ranker that the user names, as long as it answers in time."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp, isfinite
from typing import TypeVar

from memory_server.call import deadline
from memory_server.domain import parts
from memory_server.embedding.reranker import Reranker
from memory_server.errors import MemoryServerError, Problem
from memory_server.services import retrieval
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.gathering import Thing
from memory_server.services.meaning import Meaning, Unanswered
from memory_server.services.ordering import OTHER_PROJECT, Ranked
from memory_server.storage.tx import Tx

Answer = TypeVar("Answer")

logger = logging.getLogger(__name__)

FIRST = 50
"""Hits, the best by the search itself, that are judged."""

LONGEST = parts.PART
"""Characters of a text, its first ones, that are judged: about as much as most such models read."""

PAUSE = 30.0
"""Seconds for which a re-ranker that failed is not asked: else each search would wait for it in vain."""

CHECKED = ("Which port?", ("The port is 8080.", "The cat sleeps."))
"""Texts of ours by which `check` tries it."""


@dataclass(slots=True)
class Reordering:
    """The order of one answer: first it collects the texts to judge, then it applies their `scores`.

    `scores` are from 0 to 1.
    """

    scores: Mapping[str, float] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)

    def of(self, ranked: Sequence[Ranked[Thing]], own_project: str | None) -> list[Ranked[Thing]]:
        """Return a ranking in this order. Each place keeps its score, and of the probabilities the best come first.

        A text that equals the query stays where it is. `own_project` is the one that comes first, or None.
        """
        places = [place for place, hit in enumerate(ranked) if not hit.is_query][:FIRST]
        self.texts = list(dict.fromkeys(_text(ranked[place]) for place in places))
        places = [place for place in places if _text(ranked[place]) in self.scores]
        judged = sorted((ranked[place] for place in places), key=lambda hit: -self._score(hit, own_project))
        chances = sorted((hit.probability for hit in judged), reverse=True)
        ordered = list(ranked)
        for place, hit, chance in zip(places, judged, chances, strict=True):
            ordered[place] = replace(hit, score=ranked[place].score, probability=chance)
        return ordered

    def _score(self, hit: Ranked[Thing], own_project: str | None) -> float:
        is_own = own_project is None or hit.item.project in ("", own_project)
        return self.scores[_text(hit)] * (1.0 if is_own else OTHER_PROJECT)


class Reranking:
    """The re-ranker of the settings. `load` makes it; None where the user names none. It gets `seconds` for a call."""

    def __init__(self, load: Callable[[], Reranker] | None = None, seconds: float = 0.0) -> None:
        self.is_on = load is not None
        self._load, self._seconds = load, seconds
        self._reranker: Reranker | None = None
        self._problem = Problem("it is still loading")
        self._rests_until = 0.0

    def load(self) -> None:
        """Background work: load it, once. Where that fails, answers say why."""
        if self._load is None or self._reranker is not None:
            return
        try:
            self._reranker = self._load()
        except MemoryServerError as error:
            self._problem = error.problem
            logger.error("no re-ranker: %s", error)

    def check(self) -> Problem | None:
        """Load it and try it; return what is wrong."""
        self.load()
        scores = self._scores(*CHECKED)
        return scores if isinstance(scores, Problem) else None

    def read(
        self,
        queue: EmbeddingQueue,
        text: str,
        ask: Callable[[Tx, Meaning | Unanswered, Reordering | None], Answer],
    ) -> tuple[Answer, tuple[Problem, ...]]:
        """Read the file for a question; return the answer, and why it is not in the order of the re-ranker.

        `ask` is called in a transaction, and once more in another one when its texts have been judged between the two.
        """
        if not self.is_on:
            return queue.read(retrieval.questions(text), lambda tx, meaning: ask(tx, meaning, None)), ()
        order, meanings = Reordering(), []

        def first(tx: Tx, meaning: Meaning | Unanswered) -> Answer:
            meanings.append(meaning)
            return ask(tx, meaning, order)

        answer = queue.read(retrieval.questions(text), first)
        if len(order.texts) < 2:
            return answer, ()
        scores = self._scores(text, order.texts)
        if isinstance(scores, Problem):
            return answer, (Problem(f"ordered without the re-ranker: {scores.text}", scores.hints),)
        with queue.database.read() as tx:
            meaning = meanings[-1]
            if isinstance(meaning, Meaning) and not tx.spaces.in_use(meaning.space_id):
                return answer, ()
            return ask(tx, meaning, Reordering(dict(zip(order.texts, scores, strict=True)))), ()

    def _scores(self, question: str, texts: Sequence[str]) -> list[float] | Problem:
        """Return the scores of texts, from 0 to 1, or why there are none."""
        if self._reranker is None or time.monotonic() < self._rests_until:
            return self._problem
        try:
            with deadline.within(self._seconds):
                scores = self._reranker.scores(question, texts)
        except MemoryServerError as error:
            self._problem, self._rests_until = error.problem, time.monotonic() + PAUSE
            logger.warning("the re-ranker is not asked for %.0f s: %s", PAUSE, error)
            return self._problem
        if not all(map(isfinite, scores)):
            return Problem("it gives a text a score that is no number")
        is_share = all(0 <= score <= 1 for score in scores)
        return scores if is_share else [1 / (1 + exp(-max(-700.0, score))) for score in scores]


OFF = Reranking()
"""No re-ranker."""


def _text(hit: Ranked[Thing]) -> str:
    return parts.split(hit.item.text)[hit.part][:LONGEST]
