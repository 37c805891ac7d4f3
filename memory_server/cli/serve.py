"""`memory-server serve`: the server over standard input and output, or over HTTP."""

import sys
import uuid
from collections.abc import Sequence

from memory_server import app
from memory_server.app import Services
from memory_server.cli import garbage
from memory_server.domain.caller import Caller
from memory_server.hook.answering import Answering
from memory_server.hook.asking import PATIENCE
from memory_server.hook.wire import Vectors
from memory_server.mcp.callers import Callers
from memory_server.mcp.early import Early
from memory_server.mcp.observing import counting
from memory_server.mcp.offers import offers
from memory_server.mcp.server import MemoryServer
from memory_server.mcp.stdio import serve as serve_stdio
from memory_server.mcp.toolsets import chosen, toolsets
from memory_server.reader import clock
from memory_server.services.embedding_queue import Unanswered
from memory_server.settings import Settings


def serve(settings: Settings, early: Early | None = None) -> None:
    """Serve until the input ends or a signal asks to stop. Never returns: the process ends here.

    `early` answers the client meanwhile.
    """
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
    services = app.build(settings)
    # If no session id is given, each process is a session of its own.
    session, project = settings.session or f"process-{uuid.uuid4().hex}", settings.here

    def caller(client: str | None, _: object) -> Caller:
        return Caller(client, session, project)

    server = server_of(services, caller)
    garbage.look_from_now()
    services.start()
    hooks = hooks_of(services)

    def close(timeout: float) -> None:
        hooks.close()
        services.close(timeout)

    if not settings.no_socket:
        hooks.start()
    serve_stdio(server, close, Early() if early is None or settings.no_early_answers else early)


def server_of(services: Services, callers: Callers) -> MemoryServer:
    """The server of these services, with the tools that the settings leave."""
    known, settings = toolsets(services), services.settings
    everything = [tool.name for tools in known.values() for tool in tools]
    observers = [counting(services.calls)]
    if settings.audit is not None:
        from memory_server.mcp.audit import auditing

        observers.append(auditing(settings.audit, clock))
    return MemoryServer(
        chosen(known, settings), everything, callers, settings.log_level, offers(services), observers
    )


def hooks_of(services: Services) -> Answering:
    """What answers the hooks of this machine's own user."""

    def embed(texts: Sequence[str]) -> Vectors | None:
        meaning = services.queue.meaning(texts, False, PATIENCE)
        if isinstance(meaning, Unanswered):
            return None
        return Vectors(meaning.space_id, tuple(tuple(map(float, each)) for each in meaning.vectors))

    return Answering(services.settings.db, services.reminding.remind, embed)
