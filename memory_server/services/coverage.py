"""Counts how many texts are embedded, and how many wait."""

from dataclasses import dataclass

from memory_server.domain.embedding import Embedded, Space
from memory_server.errors import Problem
from memory_server.services.meaning import Answering, Unanswered, name
from memory_server.storage.database import Database
from memory_server.storage.tx import Tx


@dataclass(frozen=True, slots=True)
class Coverage:
    """The progress of the embeddings; `problem` says why meaning does not (fully) answer."""

    embedder: str
    embedded: int
    waiting: int
    problem: Problem | None


def coverage_in(tx: Tx, answering: Answering | Unanswered, project: str | None = None) -> Coverage:
    """Return the progress of the embeddings in the space that answers."""
    if isinstance(answering, Unanswered):
        return Coverage("none", 0, 0, answering.problem)
    return _coverage(tx, answering.space_id, answering.embedder.space, project)


def stored_coverage(database: Database) -> Coverage:
    """Return the progress of the embeddings that the file has, without loading the model that made them.

    Before a model has made any, all memories wait.
    """
    with database.read() as tx:
        spaces = tx.spaces.select()
        if not spaces:
            return Coverage("none", 0, tx.memory_counts.total(), None)
        return _coverage(tx, spaces[0].id, spaces[0].space, None)


def _coverage(tx: Tx, space_id: int, space: Space, project: str | None) -> Coverage:
    embedded = tx.spaces.count_embedded(space_id, project)
    return Coverage(name(space), embedded, tx.spaces.count_waiting(space_id, Embedded.MEMORIES), None)
