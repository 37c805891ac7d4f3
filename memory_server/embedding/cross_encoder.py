"""The re-ranker for a cross-encoder that the user names, run by sentence-transformers (an extra of this package)."""

from collections.abc import Sequence
from threading import Lock

import numpy as np

from memory_server.call import deadline
from memory_server.embedding.sentence_transformers import PromptUse, load
from memory_server.embedding.unicode import well_formed
from memory_server.errors import Mend, Unavailable, Unreachable

BATCH = 8
"""Texts that are judged at once: a call ends at most so much work after its deadline."""

_USE = PromptUse("CrossEncoder", "re-ranker", Mend.CHECK_RERANKER)


class CrossEncoderReranker:
    """Any model that sentence-transformers loads as a cross-encoder with one score, on the CPU."""

    def __init__(self, name_or_path: str, revision: str | None = None) -> None:
        """Import and load, which takes 6 to 10 s."""
        self._lock = Lock()
        self._name = name_or_path
        self._model = load(name_or_path, revision, False, _USE)
        if self._model.num_labels != 1:
            raise Unavailable(
                f"The re-ranker {name_or_path!r} gives {self._model.num_labels} numbers for a text, not one score.",
                Mend.CHECK_RERANKER,
            )

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        pairs = [(well_formed(question), well_formed(text)) for text in texts]
        scores = np.zeros(len(pairs))
        order = sorted(range(len(pairs)), key=lambda place: len(pairs[place][1]))  # less padding
        for start in range(0, len(order), BATCH):
            places = order[start : start + BATCH]
            scores[places] = self._judge([pairs[place] for place in places])
        return list(map(float, scores))

    def _judge(self, pairs: list[tuple[str, str]]) -> Sequence[float]:
        seconds = deadline.left()
        # The tokenizers of transformers raise an error if two threads use them at once.
        if not (seconds and self._lock.acquire(timeout=seconds)):
            raise Unreachable(
                f"The re-ranker {self._name!r} has not judged all texts in time.", Mend.CHECK_RERANKER
            )
        try:
            judged: Sequence[float] = self._model.predict(pairs, show_progress_bar=False)
        except (RuntimeError, ValueError, IndexError) as error:
            line = str(error).partition("\n")[0]
            raise Unreachable(
                f"The re-ranker {self._name!r} failed ({line}).", Mend.CHECK_RERANKER
            ) from error
        finally:
            self._lock.release()
        return judged
