"""Listens for HTTP, and ends without breaking off a call."""

import asyncio
import logging
import socket
from contextlib import suppress
from ipaddress import IPv4Address, ip_address
from types import FrameType
from typing import ClassVar

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from memory_server.call.deadline import CALL
from memory_server.mcp.http.guard import Traffic

HEAD = 10.0
"""Seconds in which the line and the headers of a request must have arrived, from its first byte; so long may a body go
on behind its answer."""

UNREAD = 60.0
"""Seconds that a client may read nothing of an answer that is ready for it."""

IDLE = 60.0
"""Seconds that a connection may stay without a request."""

CONNECTIONS = 2_000
"""Connections at the same time, where the system allows so many; whoever comes then is told to try again (503)."""

ROOM = 0.75
"""The share of these from which on a new connection takes the place of one without a request."""

AT_ONCE = 1024
"""Connections that the event loop takes before it looks at what they send."""

OTHER_FILES = 200 + AT_ONCE
"""Open files that are kept for all else: the database, the model, the worker of triggers, connections that end."""

LEAVING = CALL + 2
"""Seconds that running calls may take when the server is to end: none takes longer than a call may."""

CUTTING = 1
"""Seconds in which answers are sent still, then streams are cut."""

QUIET = ("uvicorn", "uvicorn.error", "sse_starlette", "asyncio", "h11", "mcp.server.transport_security")
"""What these log below ERROR repeats what clients send and get, or says that a client sends what is no HTTP."""


class _Connection(H11Protocol):
    """Closes a connection whose client is slow to say what it wants, or to read the answer.

    When there are many connections, a new one takes the place of one without a request: the address with the most of
    these loses the one that has waited longest. A request that is being answered keeps its connection, because a proxy
    brings those of many clients from its one address.
    """

    _waiting: ClassVar[dict[object, dict["_Connection", None]]] = {}
    """By address, the connections that wait for a request, the one that has waited longest first."""

    _slow: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None
    _address: object = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._address = _address(self.client)
        if len(self.connections) >= (self.config.limit_concurrency or CONNECTIONS) * ROOM:
            self._make_room()
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def timeout_keep_alive_handler(self) -> None:
        self.transport.abort()  # to close it would wait for a client that does not read

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(UNREAD, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()

    def send_400_response(self, msg: str) -> None:
        """End a connection on which a request is followed by bytes that are no HTTP."""
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            with suppress(
                h11.LocalProtocolError
            ):  # uvicorn answers a HEAD with a body, which h11 does not send
                super().send_400_response(msg)
        self.transport.close()
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._rest()
        self._wait_no_more()
        if self._unread is not None:
            self._unread.cancel()
        super().connection_lost(exc)

    def _make_room(self) -> None:
        if self._waiting:
            most = max(self._waiting, key=lambda address: len(self._waiting[address]))
            longest = next(iter(self._waiting[most]))
            longest._wait_no_more()
            longest.transport.abort()

    def _watch(self) -> None:
        """Limits the time if the client has something to do: a head to send, the rest of a body, an answer to read."""
        state, is_closing = self.conn.their_state, self.transport.is_closing()
        waits = state is h11.IDLE or (state is h11.SEND_BODY and self.cycle.response_complete)
        if waits and not is_closing:
            self._waiting.setdefault(self._address, {})[self] = None
        else:
            self._wait_no_more()
        if not (waits or is_closing):
            self._rest()
        elif self._slow is None and self.timeout_keep_alive_task is None:
            self._slow = self.loop.call_later(HEAD, self.transport.abort)

    def _wait_no_more(self) -> None:
        connections = self._waiting.get(self._address, {})
        connections.pop(self, None)
        if not connections:
            self._waiting.pop(self._address, None)

    def _rest(self) -> None:
        if self._slow is not None:
            self._slow.cancel()
            self._slow = None


class _Server(uvicorn.Server):
    """At the first signal it takes no new calls, and ends when the running ones have; at the second at once."""

    def __init__(self, config: uvicorn.Config, traffic: Traffic) -> None:
        super().__init__(config)
        self._traffic = traffic
        self._ending: asyncio.Task[None] | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002
        if self._traffic.closing:
            self.should_exit = self.force_exit = True
        self._traffic.closing = True

    async def on_tick(self, counter: int) -> bool:
        if self._traffic.closing and self._ending is None:
            self._ending = asyncio.create_task(self._end())
        return await super().on_tick(counter)

    async def _end(self) -> None:
        until = asyncio.get_running_loop().time() + LEAVING
        while self._traffic.running and asyncio.get_running_loop().time() < until:
            await asyncio.sleep(0.02)
        self.should_exit = True


def serve(app: ASGIApp, listening: socket.socket, traffic: Traffic) -> None:
    """Serve until a signal asks to stop. Returns when the running calls have ended."""
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.ERROR)
    config = uvicorn.Config(
        app,
        http=_Connection,
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=_allowed(),
        backlog=AT_ONCE,
        timeout_keep_alive=int(IDLE),
        timeout_graceful_shutdown=CUTTING,
    )
    _Server(config, traffic).run([listening])


def _address(client: tuple[str, int] | None) -> object:
    """Whose connections are counted together: an address, or a network of IPv6, which is one customer's."""
    address = ip_address(client[0] if client else "::")
    return address if isinstance(address, IPv4Address) else int(address) >> 64


def _allowed() -> int:
    """Return the number of connections that the system allows, after raising its soft limit, often 1,024 files, as
    needed.
    """
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return CONNECTIONS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = CONNECTIONS + OTHER_FILES
    if soft == resource.RLIM_INFINITY:
        return CONNECTIONS
    if soft < files:
        soft = files if hard == resource.RLIM_INFINITY else min(files, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return min(CONNECTIONS, max(soft // 2, soft - OTHER_FILES))
