"""Meaning for a command that loads no model: a running server of the same file embeds the question."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from memory_server.errors import Problem
from memory_server.hook import asking, place
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.meaning import Meaning, Unanswered
from memory_server.where import Where

_NONE = Unanswered(Problem("no running server embedded the question in time"))


def is_running(database: Where) -> bool:
    """True if a server of this file can be asked."""
    return bool(place.sockets(database))


class AskingQueue(EmbeddingQueue):
    """Has no embedder and embeds nothing."""

    def __init__(self, path: Where, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._path = path

    def meaning(self, texts: Sequence[str], anew: bool, seconds: float) -> Meaning | Unanswered:  # noqa: ARG002
        embedded = asking.embed(self._path, texts)
        if embedded is None:
            return _NONE
        with self.database.read() as tx:
            spaces = {stored.id: stored.space for stored in tx.embeddings.spaces()}
        space = spaces.get(embedded.space_id)
        if space is None:
            return _NONE
        vectors = tuple(np.array(vector, np.float32) for vector in embedded.vectors)
        return Meaning(embedded.space_id, space, vectors)
