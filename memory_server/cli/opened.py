"""The services on the file of the settings, for as long as a command runs; and who calls them."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memory_server.cli import heard, output, terminal
from memory_server.cli.guard import complain
from memory_server.cli.refusals import refused
from memory_server.domain import trust
from memory_server.domain.caller import Caller
from memory_server.errors import Invalid
from memory_server.flags import HERE
from memory_server.front import finding
from memory_server.settings import Settings
from memory_server.sqlite import temporary

if TYPE_CHECKING:
    from memory_server.app import Services
    from memory_server.services.erasure import ErasureService

CLIENT = "terminal"
"""The name under which what a person types is signed."""


@contextmanager
def opened(settings: Settings, *, makes: bool = False) -> Iterator["Services"]:
    """Open the services; closed at the end.

    Raises:
        Invalid: there is no such file, and the command makes none.
    """
    if (client := terminal.client()) is not None:
        yield client.services
        return
    from memory_server import app

    temporary.remove_stale()  # what a killed command has left
    if not makes and isinstance(settings.db, Path) and not settings.db.exists():
        raise Invalid(
            f"There is no database {settings.db} yet. `memory-server add` creates it, and so does the first assistant "
            "that starts memory-server. To use another file, give its path with --db."
        )
    services = app.build(settings)
    if not makes:
        services.database.refuse_new()
    try:
        services.database.files.refuse_empty()
        yield services
        services.ground.observe()
        _write_back(services)
    finally:
        services.close()


def _write_back(services: "Services") -> None:
    """Write what the command has corrected back into the files of clients, and tell what could not be written."""
    db = services.settings.db
    if services.writes_back and isinstance(db, Path) and db.exists():  # a trial makes no file
        for refusal in services.corrections.write_back():
            complain(f"{refused(refusal.where, refusal.why)}.")


@contextmanager
def embedding(settings: Settings, *, makes: bool = False) -> Iterator["Services"]:
    """Open the services with an embedder that is loaded: an engine has one.

    Raises:
        Invalid: there is no such file, and the command makes none.
    """
    with opened(settings, makes=makes) as services:
        if terminal.client() is None:
            services.database.open()  # if it cannot be opened, the error is told once, and no model is loaded
            services.queue.warm_up()
            if not makes:  # the command asks
                services.reranking.load()
        services.queue.answering()  # an engine that has just started loads it still
        yield services


def embed_soon() -> None:
    """Start an engine for what this process has stored and not embedded: one that runs looks for it by itself."""
    server_flags = click.get_current_context().find_root().obj
    if finding.may_be_used(server_flags, HERE):
        with suppress(OSError):  # there can be none: the next server embeds it
            finding.reach(finding.wanted(server_flags, HERE)).close()


def file_of(settings: Settings, instead: str) -> Path:
    """The file of SQLite in which the memory is.

    Raises:
        Invalid: it is on PostgreSQL; `instead` says what does the same there.
    """
    if isinstance(settings.db, Path):
        return settings.db
    raise Invalid(f"This command needs a file, but the memory is in {settings.db}. {instead}")


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
    """A person at a terminal, or a program, in the project of the folder."""
    folder = terminal.folder()
    project = settings.project_in(folder)
    stamp = trust.typed if output.on_terminal() else heard.stamp(settings, project)
    return Caller(CLIENT, settings.session, project, stamp=stamp, folder=folder)
