"""Serves the sessions of clients with one set of services."""

import asyncio
import logging
import os
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio.to_thread

from memory_server import app
from memory_server.app import Services
from memory_server.domain import trust
from memory_server.domain.caller import Caller
from memory_server.engine import hooks
from memory_server.engine.served import audit_of, start, work_of
from memory_server.engine.witness import Witness
from memory_server.errors import MemoryServerError
from memory_server.mcp import listed, streams
from memory_server.mcp.server import MemoryServer
from memory_server.project import Project
from memory_server.settings import Settings

logger = logging.getLogger(__name__)

OPENING = 0.5
"""Seconds that the file has to be opened before the first call begins, so that a call which comes with the end of the
input is answered. A file that is locked or migrated takes longer, and keeps nothing else waiting."""

THREADS = 16
"""Threads for the calls of each further session."""


Command = Callable[[Services, Sequence[str], Mapping[str, object], dict[str, Any]], dict[str, Any] | None]
"""Runs a command for a client in a session; returns what it prints."""


class Sessions:
    """Has the services from the start to `close`."""

    def __init__(self, settings: Settings) -> None:
        """Raises OSError: the audit log cannot be written."""
        self._settings = settings
        self._services = app.build(settings)
        self._was_open = False
        self._witness = Witness(time.monotonic, int.from_bytes(os.urandom(8)))
        work = work_of(self._services, audit_of(settings))
        self._work = replace(work, observers=(*work.observers, lambda call: self._witness.tell(call.answer)))
        start(self._services)
        opening = threading.Thread(target=self._open, name="opening", daemon=True)
        opening.start()
        opening.join(OPENING)

    @property
    def has_lost_file(self) -> bool:
        """True where the database was a file that has been moved or deleted since."""
        path = self._settings.db
        return self._was_open and isinstance(path, Path) and not path.exists()

    def close(self, timeout: float) -> None:
        self._services.close(timeout)

    async def serve(
        self, settings: Settings, folder: Path, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Serve one client until it closes its end. `settings` and `folder` are its own."""
        # If no session id is given, each connection is a session of its own.
        session, project = settings.session or f"process-{uuid.uuid4().hex}", settings.project_in(folder)

        stamp = self.stamp_of(session, project)

        def caller(client: str | None, _: object) -> Caller:
            return Caller(client, session, project, stamp=stamp, folder=folder)

        tools = listed.chosen(settings)
        names = listed.callable_names(settings)
        work = replace(
            self._work, tools={name: tool for name, tool in self._work.tools.items() if name in names}
        )
        server = MemoryServer(tools, work, caller, settings.log_level)
        threads = anyio.to_thread.current_default_thread_limiter()
        threads.total_tokens += THREADS
        try:
            await streams.serve(server, reader, writer)
        finally:
            threads.total_tokens -= THREADS

    def stamp_of(self, session: str, project: Project) -> trust.Stamp:
        """Return what stamps the texts of a session."""
        return trust.unknown if self._settings.trust == "off" else self._witness.stamp(session, project)

    async def hook(
        self, arguments: Sequence[str], environment: Mapping[str, str], text: str, folder: Path
    ) -> str:
        """Return what a hook prints."""
        return await anyio.to_thread.run_sync(
            hooks.answer, self._services, self._witness, arguments, environment, text.encode(), folder
        )

    async def hear(
        self, arguments: Sequence[str], environment: Mapping[str, str], text: str, folder: Path
    ) -> None:
        """Take in what a hook tells that another engine answers."""
        await anyio.to_thread.run_sync(
            hooks.hear, self._witness, arguments, environment, text.encode(), folder
        )

    async def command(
        self, run: Command, words: Sequence[str], session: Mapping[str, object], client: dict[str, Any]
    ) -> dict[str, Any] | None:
        """Return what a command prints."""
        return await anyio.to_thread.run_sync(run, self._services, words, session, client)

    async def settle(self, settings: Settings, folder: Path) -> None:
        """Enter what is new of a client's project."""
        if not settings.read_only:
            with suppress(MemoryServerError):  # the next session tries again
                await anyio.to_thread.run_sync(self._services.projects.settle, settings.project_in(folder))

    def _open(self) -> None:
        with suppress(MemoryServerError):  # each call tells it
            self._services.database.open()
            self._was_open = True
