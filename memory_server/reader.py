"""The composition root of what needs no model and no trigger: each service is imported when it is asked for.

The other root, `app`, imports all of them, which takes twice as long as most commands.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NoReturn

from memory_server import stores
from memory_server.errors import Unavailable
from memory_server.settings import Settings

if TYPE_CHECKING:
    from memory_server.services.calls import CallService
    from memory_server.services.changes import ChangeService
    from memory_server.services.embedding_queue import EmbeddingQueue
    from memory_server.services.facts import FactService
    from memory_server.services.projects import ProjectService
    from memory_server.services.recall import RecallService
    from memory_server.services.search import SearchService
    from memory_server.services.tokens import TokenService
    from memory_server.storage.database import Database

Make = Callable[..., "EmbeddingQueue"]


@dataclass(frozen=True, slots=True)
class Reader:
    """What lists and changes rows that no model has to see first. What is written waits for a server to embed it."""

    settings: Settings
    database: "Database"

    @property
    def facts(self) -> "FactService":
        from memory_server.services.facts import FactService

        return FactService(
            self.database, self.settings.allow_secrets, not self.settings.read_only, _nobody_waits
        )

    @property
    def changes(self) -> "ChangeService":
        from memory_server.services.changes import ChangeService

        return ChangeService(self.database, _nobody_waits)

    @property
    def projects(self) -> "ProjectService":
        from memory_server.services.projects import ProjectService

        return ProjectService(self.database)

    @property
    def calls(self) -> "CallService":
        from memory_server.services.calls import CallService

        return CallService(self.database)

    @property
    def tokens(self) -> "TokenService":
        from memory_server.services.tokens import TokenService

        return TokenService(self.database, os.urandom)


def rows(settings: Settings) -> Reader:
    """What needs neither words nor meaning; nothing is opened yet. Its database is to be closed."""
    return Reader(settings, database(settings))


def build(settings: Settings, make: Make | None = None) -> "SearchService":
    """A search that has no embedder; nothing is opened yet. Its database is to be closed.

    `make` makes the queue that says what a question means.
    """
    from memory_server.services.embedding_queue import EmbeddingQueue
    from memory_server.services.learning import Learning
    from memory_server.services.search import SearchService

    found = database(settings)
    queue = (make or EmbeddingQueue)(found, _none, _none, clock)
    return SearchService(found, queue, not settings.read_only, Learning(not settings.no_learning))


def recalling(settings: Settings, make: Make | None = None) -> "RecallService":
    """The same for one question to everything: no prompt wakes."""
    from memory_server.services.recall import RecallService

    search = build(settings, make)
    return RecallService(search.database, search.queue, None, search.count_access, search.learning)


def clock() -> datetime:
    """The moment, in UTC."""
    return datetime.now(UTC)


def database(settings: Settings) -> "Database":
    """The database of the settings; nothing is opened yet."""
    return stores.at(settings.db, clock, make_folders="db" not in settings.model_fields_set)


def _nobody_waits() -> None:
    """Here is no queue to be told that there is something to embed."""


def _none(_: object) -> NoReturn:
    raise Unavailable("Here is no embedder.")
