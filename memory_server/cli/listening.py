"""The socket at which a server of this program listens."""

import socket

from memory_server.errors import Mend, Unavailable


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens at an address; port 0 is any that is free.

    Raises:
        Unavailable: it is taken, or not one of this machine.
    """
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        raise Unavailable(
            f"Nothing can listen at {host}:{port}: {error.strerror}.", Mend.USE_ANOTHER_PORT
        ) from error
    # An answer is written in pieces; a connection inherits that none waits .04 s for the client to confirm the last.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
    listening.setblocking(False)
    return listening
