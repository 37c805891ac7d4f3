"""Measures how near two texts are in meaning, for the conditions that ask for it."""

import threading
from collections import OrderedDict
from dataclasses import dataclass, field

import numpy as np

from memory_server.domain.embedding import Vector
from memory_server.embedding import Embedder
from memory_server.errors import Problem
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.meaning import Unanswered

KEPT = 4096
"""Vectors that are kept: the texts of conditions are the same in each search."""

PART = 250
"""Characters of the beginning and of the end of a longer text: whole, 60,000 of them took 28 s to embed, to become an
average that is near to nothing."""


@dataclass(frozen=True, slots=True)
class Nearness:
    """Compares with the embedder that answers searches."""

    queue: EmbeddingQueue
    _vectors: OrderedDict[tuple[str, str], Vector] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, first_text: str, second_text: str) -> float | None:
        """Return the cosine of two texts, both embedded as questions; None while no embedder answers."""
        answering = self.queue.answering()
        if isinstance(answering, Unanswered):
            return None
        a = self._vector(answering.embedder, first_text)
        b = None if a is None else self._vector(answering.embedder, second_text)
        return None if a is None or b is None else float(np.dot(a, b))

    def _vector(self, embedder: Embedder, text: str) -> Vector | None:
        if len(text) > 2 * PART:
            text = f"{text[:PART]}\n{text[-PART:]}"
        key = (embedder.space.fingerprint, text)
        with self._lock:
            if key in self._vectors:
                self._vectors.move_to_end(key)
                return self._vectors[key]
        vector = self.queue.embed_in_time(embedder, lambda: embedder.embed_questions([text])[0])
        if isinstance(vector, Problem):
            return None
        with self._lock:
            self._vectors[key] = vector
            if len(self._vectors) > KEPT:
                self._vectors.popitem(last=False)
        return vector
