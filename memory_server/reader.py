"""The composition root of what only searches by words: no model, no triggers, half the imports of `app`."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import NoReturn

from memory_server.errors import Unavailable
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.learning import Learning
from memory_server.services.search import SearchService
from memory_server.settings import Settings
from memory_server.sqlite.database import Database

Make = Callable[..., EmbeddingQueue]


def build(settings: Settings, make: Make = EmbeddingQueue) -> SearchService:
    """A search that has no embedder; nothing is opened yet. Its database is to be closed.

    `make` makes the queue that says what a question means.
    """
    database = Database(settings.db, clock)
    queue = make(database, _none, _none, clock)
    return SearchService(database, queue, not settings.read_only, Learning(not settings.no_learning))


def clock() -> datetime:
    """The moment, in UTC."""
    return datetime.now(UTC)


def _none(_: object) -> NoReturn:
    raise Unavailable("Here is no embedder.")
