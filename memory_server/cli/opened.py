"""The services on the file of the settings, for as long as a command runs; and who calls them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from memory_server import reader
from memory_server.cli.guard import complain
from memory_server.domain.caller import Caller
from memory_server.errors import Invalid
from memory_server.settings import Settings
from memory_server.sqlite import temporary

if TYPE_CHECKING:
    from memory_server.app import Services
    from memory_server.reader import RowServices
    from memory_server.services.erasure import ErasureService
    from memory_server.services.recall import RecallService
    from memory_server.services.search import SearchService
    from memory_server.sqlite.database import Database as File
    from memory_server.storage.database import Database

Asks = TypeVar("Asks", "SearchService", "RecallService")

CLIENT = "terminal"
"""The name under which what a person types is signed."""


@contextmanager
def opened(settings: Settings, *, makes: bool = False) -> Iterator["Services"]:
    """Open the services; closed at the end.

    Raises:
        Invalid: there is no such file, and the command makes none.
    """
    from memory_server import app

    _prepare(settings, makes)
    services = app.build(settings)
    if not makes:
        services.database.refuse_new()
    try:
        services.database.files.refuse_empty()
        yield services
    finally:
        services.close()


@contextmanager
def rows(settings: Settings, *, makes: bool = False) -> Iterator["RowServices"]:
    """Open the services that need no model, which start in half the time; closed at the end.

    Raises:
        Invalid: there is no such file, and the command makes none.
    """
    _prepare(settings, makes)
    services = reader.rows(settings)
    if not makes:
        services.database.refuse_new()
    with _used(services.database):
        yield services


@contextmanager
def search_of(settings: Settings, meaning: bool = False) -> Iterator[tuple["SearchService", str]]:
    """Open the search, with its mode. It needs no model and starts in half the time: where a server of the file runs,
    that embeds the question, else words answer. With `meaning` the model is loaded.

    Raises:
        Invalid: there is no such file.
    """
    with _asking(settings, meaning, reader.build, attrgetter("search")) as (search, knows_meaning):
        yield search, "hybrid" if knows_meaning else "keyword"


@contextmanager
def recall_of(settings: Settings, meaning: bool = False) -> Iterator["RecallService"]:
    """Open recall, as `search_of` opens the search.

    Raises:
        Invalid: there is no such file.
    """
    with _asking(settings, meaning, reader.recalling, attrgetter("recall")) as (recall, knows_meaning):
        if not knows_meaning:
            recall.queue.go_without()
        yield recall


@contextmanager
def _asking(
    settings: Settings, meaning: bool, build: Callable[..., Asks], of: Callable[["Services"], Asks]
) -> Iterator[tuple[Asks, bool]]:
    """Open a service that answers questions; true beside it if it learns what a question means."""
    if meaning:
        with opened(settings) as services:
            services.queue.warm_up()
            services.reranking.load()
            yield of(services), True
        return
    _prepare(settings)
    queue = None
    if not settings.no_socket:
        from memory_server.cli.by_server import AskingQueue, is_running

        if is_running(settings.db):
            queue = partial(AskingQueue, settings.db)
    service = build(settings, queue)
    service.database.refuse_new()
    with _used(service.database):
        yield service, queue is not None


@contextmanager
def _used(database: "Database") -> Iterator[None]:
    """Close the database at the end."""
    try:
        database.files.refuse_empty()
        yield
    finally:
        database.close()


def _prepare(settings: Settings, makes: bool = False) -> None:
    """Remove what a killed command has left. Raises Invalid where there is no file, unless the command makes one."""
    temporary.remove_stale()
    if not makes and isinstance(settings.db, Path) and not settings.db.exists():
        raise Invalid(
            f"There is no database {settings.db} yet. `memory-server add` creates it, and so does the first assistant "
            "that starts memory-server. To use another file, give its path with --db."
        )


def file_of(settings: Settings, instead: str) -> Path:
    """The file of SQLite in which the memory is.

    Raises:
        Invalid: it is on PostgreSQL; `instead` says what does the same there.
    """
    if isinstance(settings.db, Path):
        return settings.db
    raise Invalid(f"This command needs a file, but the memory is in {settings.db}. {instead}")


@contextmanager
def file_database(settings: Settings, instead: str) -> Iterator["File"]:
    """The database of such a file, closed at the end.

    Raises:
        Invalid: there is no such file, or the memory is on PostgreSQL; `instead` says what does the same there.
    """
    file_of(settings, instead)
    with rows(settings) as services:
        yield cast("File", services.database)


def erased(erasure: "ErasureService", copied: str = "") -> bool:
    """Overwrite what was purged, before a command says that it is gone. False where that failed, which is told.

    `copied` tells which copy then holds the bytes too.
    """
    problem = erasure.erase_now()
    if problem is not None:
        complain(
            f"Purged bytes are left in the database{copied}: {problem.text} The next server "
            "overwrites them, and so does `memory-server compact`."
        )
    return problem is None


def caller(settings: Settings) -> Caller:
    """A person at a terminal, in the project of the folder."""
    return Caller(CLIENT, settings.session, settings.here)
