"""The application that answers over HTTP: the protocol at /mcp, and what is asked about the server itself."""

import re
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Protocol

import anyio.to_thread
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from memory_server.call import deadline
from memory_server.mcp.compat import over_http
from memory_server.mcp.http.guard import Guard, Refused, RequestCheck, Traffic, security
from memory_server.mcp.http.keys import PATIENCE, Keys
from memory_server.mcp.http.metrics import KIND
from memory_server.mcp.http.rates import Rates
from memory_server.mcp.server import MemoryServer

PATH = "/mcp"

HEALTH = "/health"

METRICS = "/metrics"

LARGEST = 4 << 20
"""Bytes of a request: 4 MB, more than the largest call of any tool takes."""

SESSIONS = 1_000
"""Sessions of the older protocol at the same time; one ends half an hour after its last request."""


SESSIONS_OF_ONE = 200
"""The most of these that one person can have, so that nobody uses up all."""

_BY_A_PROXY = re.compile("forwarded|real-ip|connecting-ip|client-?ip|proxy|^via$|^cdn-loop$|^x-envoy-")
"""Parts of the names of the headers by which proxies say for whom they ask."""


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """`hosts` are the names by which clients reach the server, besides those of this machine for itself.

    A token may send `rate` requests a minute.
    """

    hosts: tuple[str, ...] = ()
    rate: int = 600
    metrics: Callable[[bool], str] | None = None
    """Writes the metrics for this machine, or for somebody with a token; it may read the file."""
    refused: Refused | None = None
    """Hears of tokens that are refused."""
    routes: Sequence[BaseRoute] = ()
    """What the application answers besides. The host and the origin are checked; who asks, is not."""
    traffic: Traffic = field(default_factory=Traffic)


class ProtocolApp(Protocol):
    """Answers at /mcp while it runs."""

    @property
    def asgi_app(self) -> ASGIApp: ...

    def run(self) -> AbstractAsyncContextManager[None]: ...


def endpoint(server: MemoryServer, hosts: tuple[str, ...]) -> ProtocolApp:
    """Return what speaks the protocol for a server. It runs once: it cannot be started again."""
    return over_http(
        server,
        json_response=True,
        security_settings=security(hosts),
        max_request_body_size=LARGEST,
        max_sessions=SESSIONS,
        most_of_person=SESSIONS_OF_ONE,
    )


def guarded(app: ASGIApp, keys: Keys, options: HttpOptions) -> Guard:
    """Return the guard of an app, which counts the requests of each token anew."""
    rates = Rates(options.rate, time.monotonic)
    return Guard(app, keys.find, keys.are_open, rates, options.traffic, keys.metadata, options.refused)


def http_app(answers: ProtocolApp, keys: Keys, options: HttpOptions) -> Starlette:
    """The application. It runs once: when it has ended, it cannot be started again."""
    guard = guarded(answers.asgi_app, keys, options)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with answers.run():
            yield

    return Starlette(
        routes=[
            Route(PATH, guard),
            Route(HEALTH, _healthy, methods=["GET"]),
            *([Route(METRICS, Inquiry(guard, options.metrics), methods=["GET"])] if options.metrics else []),
            *keys.routes,
            *options.routes,
        ],
        middleware=[Middleware(RequestCheck, security(options.hosts), frozenset([HEALTH]))],
        lifespan=lifespan,
    )


class Inquiry:
    """Answers a text to this machine, and to others with a token. A proxy is known by the headers that it adds."""

    def __init__(self, guard: Guard, text: Callable[[bool], str]) -> None:
        """`text` is told if this machine asks."""
        self._guard = guard
        self._text = text

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_from_here = _is_from_here(Request(scope))
        answer = None if is_from_here else await self._guard.refusal(scope)
        if answer is None:
            with deadline.within(PATIENCE):
                answer = Response(await anyio.to_thread.run_sync(self._text, is_from_here), media_type=KIND)
        await answer(scope, receive, send)


def _is_from_here(request: Request) -> bool:
    """True for a request of this machine to itself. A proxy on it adds a header, or passes on another host."""
    if request.client is None or not ip_address(request.client.host).is_loopback:
        return False
    host = re.sub(r":\d+$", "", request.headers.get("host", "")).strip("[]")
    is_proxied = any(_BY_A_PROXY.search(name) for name in request.headers)
    return not is_proxied and host in ("localhost", request.scope["server"][0])


async def _healthy(_: Request) -> Response:
    """Nothing of what is stored, and not who asks."""
    return Response(status_code=200)
