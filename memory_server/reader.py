"""Composition root without model and triggers: each service is imported at its first use.

The other root, `app`, imports all of them, which takes twice as long as most commands.
"""

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NoReturn

from memory_server import stores
from memory_server.errors import Unavailable
from memory_server.settings import Settings

if TYPE_CHECKING:
    from memory_server.services.calls import CallService
    from memory_server.services.changes import ChangeService
    from memory_server.services.facts import FactService
    from memory_server.services.projects import ProjectService
    from memory_server.services.search import SearchService
    from memory_server.services.tokens import TokenService
    from memory_server.storage.database import Database


@dataclass(frozen=True, slots=True)
class RowServices:
    """Services that list and change rows without a model. New texts wait for a server to embed them."""

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
    def search(self) -> "SearchService":
        from memory_server.services.embedding_queue import EmbeddingQueue
        from memory_server.services.learning import Learning
        from memory_server.services.search import SearchService

        queue = EmbeddingQueue(self.database, _none, _none, clock)
        return SearchService(
            self.database, queue, not self.settings.read_only, Learning(not self.settings.no_learning)
        )

    @property
    def tokens(self) -> "TokenService":
        from memory_server.services.tokens import TokenService

        return TokenService(self.database, os.urandom)


def rows(settings: Settings) -> RowServices:
    """Return the services that need neither words nor meaning; nothing is opened yet. The caller closes the
    database.
    """
    return RowServices(settings, database(settings))


def clock() -> datetime:
    """Return the time now, in UTC."""
    return datetime.now(UTC)


def database(settings: Settings) -> "Database":
    """Return the database of the settings; nothing is opened yet."""
    return stores.at(settings.db, clock, make_folders="db" not in settings.model_fields_set)


def _nobody_waits() -> None:
    """No-op: this process has no embedding queue."""


def _none(_: object) -> NoReturn:
    raise Unavailable("Here is no embedder.")
