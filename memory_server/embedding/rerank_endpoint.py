"""The re-ranker behind an endpoint: those that answer as Jina and Cohere do, and text-embeddings-inference.

Jina, Cohere (v2), vLLM and the server of llama.cpp take `documents` and answer `results` with a `relevance_score`;
text-embeddings-inference takes `texts` and answers a list with a `score`. Which of the two it is shows in the answer.
"""

import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from math import isfinite
from typing import TypeAlias

from memory_server.embedding.endpoint import Endpoint, RefusedTexts, in_time
from memory_server.embedding.unicode import well_formed

BATCH = 32
"""Texts that text-embeddings-inference takes at once unless told otherwise. The others judge all texts together."""

_Ask: TypeAlias = Callable[[str, list[str], float], list[float]]


class EndpointReranker:
    """Judges over HTTP. Asks nothing before the first question."""

    def __init__(self, endpoint: Endpoint, model: str) -> None:
        """`model` is empty where the endpoint has one model only."""
        self._endpoint = endpoint
        self._model = {"model": model} if model else {}
        self._dialects: tuple[_Ask, ...] = (self._of_documents, self._of_texts)

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        return in_time(
            partial(self._ask, well_formed(question), list(map(well_formed, texts))), self._endpoint
        )

    def _ask(self, question: str, texts: list[str], ends: float) -> list[float]:
        """Ask in the dialect that was understood last, else in the other one."""
        first, second = self._dialects
        try:
            return first(question, texts, ends)
        except RefusedTexts as refused:
            try:
                scores = second(question, texts, ends)
            except RefusedTexts:
                raise refused from None
        self._dialects = (second, first)
        return scores

    def _of_documents(self, question: str, texts: list[str], ends: float) -> list[float]:
        request = {**self._model, "query": question, "documents": texts, "top_n": len(texts)}
        return self._numbers(request, len(texts), ends)

    def _of_texts(self, question: str, texts: list[str], ends: float) -> list[float]:
        batches = [texts[start : start + BATCH] for start in range(0, len(texts), BATCH)]
        return [
            score
            for batch in batches
            for score in self._numbers(
                {"query": question, "texts": batch, "truncate": True}, len(batch), ends
            )
        ]

    def _numbers(self, request: dict[str, object], count: int, ends: float) -> list[float]:
        numbers = _scores(self._endpoint.post(request, ends - time.monotonic()), count)
        return numbers or self._endpoint.garbage(f"no score for each of {count} texts")


def _scores(body: bytes, count: int) -> list[float] | None:
    """Return the scores of an answer, in the order of the texts; None where one is missing or is no number."""
    try:
        answer = json.loads(body)
        rows = answer if isinstance(answer, list) else answer["results"]
        by_index = {row["index"]: float(row.get("relevance_score", row.get("score"))) for row in rows}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    if len(rows) != count or set(by_index) != set(range(count)) or not all(map(isfinite, by_index.values())):
        return None
    return [by_index[index] for index in range(count)]
