"""`memory-server serve`: the server over standard input and output, or over HTTP."""

import os
import sys
import threading
import uuid
from contextlib import suppress
from typing import TYPE_CHECKING

from memory_server.cli import arenas
from memory_server.domain.caller import Caller
from memory_server.errors import MemoryServerError
from memory_server.mcp import listed
from memory_server.mcp.early import Early
from memory_server.mcp.server import MemoryServer
from memory_server.mcp.stdio import serve as serve_stdio
from memory_server.settings import Settings

if TYPE_CHECKING:
    from memory_server.app import Services
    from memory_server.hook.answering import Answering
    from memory_server.mcp.work import Work

OPENING = 0.5
"""Seconds that the file has to be opened before the first call begins, so that a call which comes with the end of the
input is answered. A file that is locked or migrated takes longer, and keeps nothing else waiting."""


def serve(settings: Settings, early: Early | None = None) -> None:
    """Serve until the input ends or a signal asks to stop. Never returns: the process ends here.

    `early` has answered the client meanwhile.
    """
    arenas.keep_few()
    if settings.http is not None:
        from memory_server.cli.serve_http import serve_http

        serve_http(settings)
        return
    if sys.stdin.isatty():
        print(
            "memory-server: a memory for AI assistants, which start it themselves. "
            "To connect one, type: memory-server install CLIENT",
            file=sys.stderr,
        )
    # If no session id is given, each process is a session of its own.
    session, project = settings.session or f"process-{uuid.uuid4().hex}", settings.here

    def caller(client: str | None, _: object) -> Caller:
        return Caller(client, session, project)

    later = Later(settings)
    server = MemoryServer(listed.chosen(settings), later.work, caller, settings.log_level)
    # On Windows what is imported later could wait for ever beside a blocked read of standard input; an audit log that
    # cannot be written keeps the server from starting.
    if os.name == "nt" or settings.audit is not None:
        later.work()
    serve_stdio(server, later.close, early or Early())


class Later:
    """The services and all that works with them. To import them takes half as long as the SDK, so they are made by the
    first call that needs them, or when the client is quiet."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._making = threading.Lock()
        self._services: Services | None = None
        self._hooks: Answering | None = None
        self._work: Work | None = None

    def work(self) -> "Work":
        """Make what carries out the calls, once, in whichever thread asks first."""
        with self._making:
            if self._work is None:
                self._work = self._make()
            return self._work

    def close(self, timeout: float) -> None:
        """Close all. What is being made just now has written nothing yet: the process may end."""
        if self._making.acquire(timeout=timeout):
            try:
                if self._hooks is not None:
                    self._hooks.close()
                if self._services is not None:
                    self._services.close(timeout)
            finally:
                self._making.release()

    def _make(self) -> "Work":
        from memory_server import app
        from memory_server.cli.served import audit_of, hooks_of, start, work_of

        services = app.build(self._settings)
        work = work_of(services, audit_of(self._settings))
        start(services)
        self._services = services
        opening = threading.Thread(target=_open, args=(services,), name="opening", daemon=True)
        opening.start()
        opening.join(OPENING)
        if not self._settings.no_socket:
            self._hooks = hooks_of(services)
            self._hooks.start()
        return work


def _open(services: "Services") -> None:
    with suppress(MemoryServerError):  # each call tells it
        services.database.open()
