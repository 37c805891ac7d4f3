"""Serves the pages on loopback, to one browser, until it is told to stop."""

import os
import signal
import socket
from collections.abc import Callable
from contextlib import suppress

import uvicorn

from memory_server.app import Services
from memory_server.domain.caller import Caller
from memory_server.errors import Unavailable
from memory_server.web.gate import SECRET, Gate
from memory_server.web.site import site

HOST = "127.0.0.1"


def listen(port: int) -> socket.socket:
    """A socket of this machine alone; port 0 is any that is free.

    Raises:
        Unavailable: the port is taken.
    """
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, os.name != "nt")
        # A page is written in pieces; a connection inherits that none waits .04 s for the browser to confirm the last.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
        listening.bind((HOST, port))
    except OSError as error:
        listening.close()
        raise Unavailable(
            f"The port {port} of {HOST} cannot be used: {error.strerror}. Name another with --port."
        ) from error
    return listening


def serve(
    services: Services, caller: Caller, port: int, read_only: bool, told: Callable[[str], None]
) -> None:
    """Serve until SIGINT or SIGTERM. `told` hears the address, which opens once.

    Raises:
        Unavailable: the port is taken.
    """
    listening = listen(port)
    pages = site(services, lambda _: caller, os.urandom(SECRET), lambda _: read_only)
    chosen = listening.getsockname()[1]
    token, key = os.urandom(SECRET).hex(), os.urandom(SECRET).hex()
    gate = Gate(pages, chosen, token, key)
    config = uvicorn.Config(
        gate, log_config=None, access_log=False, lifespan="off", server_header=False, date_header=False,
        timeout_graceful_shutdown=1, proxy_headers=False,
    )  # fmt: skip
    told(f"http://{HOST}:{chosen}/?token={token}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt):  # the server raises each signal again when it has ended
        uvicorn.Server(config).run(sockets=[listening])
