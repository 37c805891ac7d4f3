"""The services on the file of the settings, for as long as a command runs; and who calls them."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from memory_server import reader
from memory_server.domain.caller import Caller
from memory_server.errors import Invalid
from memory_server.services.search import SearchService
from memory_server.settings import Settings

if TYPE_CHECKING:
    from memory_server.app import Services

CLIENT = "terminal"
"""The name under which what a person types is signed."""


@contextmanager
def opened(settings: Settings, *, makes: bool = False) -> Iterator["Services"]:
    """The services, closed at the end.

    Raises:
        Invalid: there is no such file, and the command makes none.
    """
    from memory_server import app

    if not makes:
        _refuse_missing(settings)
    services = app.build(settings)
    services.database.refuse_empty()
    try:
        yield services
    finally:
        services.close()


@contextmanager
def search_of(settings: Settings, meaning: bool = False) -> Iterator[tuple[SearchService, str]]:
    """The search and its mode, closed at the end. It needs no model and starts in half the time: where a server of the
    file runs, that embeds the question, else words answer. With `meaning` the model is loaded.

    Raises:
        Invalid: there is no such file.
    """
    if meaning:
        with opened(settings) as services:
            services.queue.warm_up()
            yield services.search, "hybrid"
        return
    _refuse_missing(settings)
    search, mode = reader.build(settings), "keyword"
    if not settings.no_socket:
        from memory_server.cli.by_server import AskingQueue, is_running

        if is_running(settings.db):
            search, mode = reader.build(settings, partial(AskingQueue, settings.db)), "hybrid"
    search.database.refuse_empty()
    try:
        yield search, mode
    finally:
        search.database.close()


def _refuse_missing(settings: Settings) -> None:
    if not settings.db.exists():
        raise Invalid(
            f"There is no database {settings.db} yet. The first assistant that starts memory-server creates it. "
            "To use another file, give its path with --db."
        )


def caller(settings: Settings) -> Caller:
    """A person at a terminal, in the project of the folder."""
    return Caller(CLIENT, settings.session, settings.here)
