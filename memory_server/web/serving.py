"""Serves the pages on loopback, to one browser, until it is told to stop."""

import os
import signal
import socket
from collections.abc import Callable
from contextlib import suppress

import uvicorn

from memory_server.app import Services
from memory_server.domain.caller import Caller
from memory_server.web.gate import SECRET, Gate
from memory_server.web.site import site


def serve(
    services: Services,
    caller: Caller,
    listening: socket.socket,
    read_only: bool,
    announce: Callable[[str], None],
) -> None:
    """Serve until SIGINT or SIGTERM, at a socket of loopback. `told` hears the address, which opens once."""
    pages = site(services, lambda _: caller, os.urandom(SECRET), lambda _: read_only)
    host, port = listening.getsockname()
    token, key = os.urandom(SECRET).hex(), os.urandom(SECRET).hex()
    gate = Gate(pages, port, token, key)
    config = uvicorn.Config(
        gate, log_config=None, access_log=False, lifespan="off", server_header=False, date_header=False,
        timeout_graceful_shutdown=1, proxy_headers=False,
    )  # fmt: skip
    with suppress(KeyboardInterrupt):  # the server raises each signal again when it has ended
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        announce(f"http://{host}:{port}/?token={token}")
        uvicorn.Server(config).run(sockets=[listening])
