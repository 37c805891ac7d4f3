"""The port that judges how well texts answer a question."""

from collections.abc import Sequence
from typing import Protocol


class Reranker(Protocol):
    """Judges texts by a model that reads each of them together with the question. Safe to call from several threads."""

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return a number for each text, in order: the higher, the better it answers. Keeps the call's deadline.

        Raises:
            Unreachable: there are no such numbers in time.
        """
        ...
