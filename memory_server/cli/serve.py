"""`memory-server serve`: the server over standard input and output, or over HTTP."""

import sys
import uuid

from memory_server import app
from memory_server.cli import garbage
from memory_server.cli.served import audit_of, hooks_of, server_of
from memory_server.domain.caller import Caller
from memory_server.mcp.early import Early
from memory_server.mcp.stdio import serve as serve_stdio
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

    server = server_of(services, caller, audit_of(settings))
    garbage.look_from_now()
    services.start()
    hooks = hooks_of(services)

    def close(timeout: float) -> None:
        hooks.close()
        services.close(timeout)

    if not settings.no_socket:
        hooks.start()
    serve_stdio(server, close, Early() if early is None or settings.no_early_answers else early)
