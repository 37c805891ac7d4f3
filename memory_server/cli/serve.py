"""`memory-server serve`: the server over standard input and output, or over HTTP."""

import asyncio
import os
import signal
import socket
import sys
import threading
import time
from functools import partial

import anyio

from memory_server import defaults, installation
from memory_server.engine import arenas
from memory_server.engine.sessions import Sessions
from memory_server.front.main import Front
from memory_server.front.session import Session
from memory_server.mcp import listed, streams
from memory_server.settings import Settings

CLOSING = 0.2
"""Seconds that a call which still runs has when the client has gone."""


def serve(settings: Settings, front: Front | None = None) -> None:
    """Serve in this process, until the input ends or a signal asks to stop. Never returns: the process ends here.

    `front` has answered the client meanwhile.

    Raises:
        OSError: the system does not give what serving needs, such as open files.
    """
    arenas.keep_few()
    if settings.http is not None:
        with installation.needs("http", "Serving over HTTP"):
            from memory_server.cli.serve_http import serve_http

        serve_http(settings)
        return
    if sys.stdin.isatty():
        from memory_server.cli.terminal import translated

        line = translated(
            "memory-server: a memory for AI assistants, which start it themselves. "
            "To connect one, type: memory-server install CLIENT"
        )
        print(line, file=sys.stderr)
    listed.chosen(settings)
    sessions = Sessions(settings)
    if front is None:
        # Only now: on Windows a library that is imported beside a blocked read of standard input can wait for ever.
        front = Front(Session(None, frozenset()))
        front.start()
    front.leave = partial(_leave, sessions)
    try:
        anyio.run(_serve, settings, sessions, front)
    except OSError:
        sys.unraisablehook = lambda _: None  # an event loop that is half made complains when it is taken down
        raise


async def _serve(settings: Settings, sessions: Sessions, front: Front) -> None:
    ours, fronts = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=ours, limit=streams.LONGEST)
    threading.Thread(target=front.relay_over, args=[fronts], name="server", daemon=True).start()
    async with anyio.create_task_group() as tasks:
        if os.name != "nt":
            tasks.start_soon(_leave_on_signal, front)
        await sessions.serve(settings, defaults.folder(), reader, writer)
        writer.close()
        await anyio.sleep_forever()  # the front ends the process when the client has got all


async def _leave_on_signal(front: Front) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            threading.Thread(target=front.leave, name="leave", daemon=True).start()


def _leave(sessions: Sessions) -> None:
    """Close the database and end the process, soon, even if a call is blocked."""
    threading.Thread(target=_end_soon, name="end", daemon=True).start()
    sessions.close(CLOSING)
    sys.stderr.flush()
    os._exit(0)


def _end_soon() -> None:
    time.sleep(2 * CLOSING)
    os._exit(0)
