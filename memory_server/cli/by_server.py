"""Meaning for a command that loads no model: a running server of the same file embeds the question."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from memory_server.errors import Problem
from memory_server.hook import asking, place
from memory_server.services.embedding_queue import EmbeddingQueue, Meaning, Unanswered
from memory_server.where import Where

_NONE = Unanswered(Problem("no running server has embedded the question in time"))


def is_running(database: Where) -> bool:
    """Whether a server of this file may be asked."""
    return bool(place.sockets(database))


class AskingQueue(EmbeddingQueue):
    """Has no embedder and embeds nothing."""

    def __init__(self, path: Where, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._path = path

    def meaning(self, texts: Sequence[str], anew: bool, seconds: float) -> Meaning | Unanswered:  # noqa: ARG002
        found = asking.embed(self._path, texts)
        if found is None:
            return _NONE
        with self._database.read() as tx:
            spaces = {each.id: each.space for each in tx.embeddings.spaces()}
        space = spaces.get(found.space_id)
        if space is None:
            return _NONE
        return Meaning(found.space_id, space, tuple(np.array(each, np.float32) for each in found.vectors))
