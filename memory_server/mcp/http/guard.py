"""Checks each request before the protocol sees it: host and origin, token, rate, and the time that a body may take."""

import logging
import math
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import anyio
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memory_server.errors import MemoryServerError
from memory_server.mcp.callers import ARRIVED
from memory_server.mcp.http.callers import TokenUser
from memory_server.mcp.http.rates import Rates
from memory_server.mcp.http.refused import refused, unauthorized

logger = logging.getLogger(__name__)

LOCAL = ("127.0.0.1", "localhost", "[::1]")
"""How a client on this machine names it."""

BODY = 30.0
"""Seconds that the body of a request may take to arrive. It holds no place of a call meanwhile."""

AGAIN = 5
"""Seconds after which to try again where the server ends, or cannot read its file."""

LOG_AGAIN = 60.0
"""Seconds after which the same problem is logged again."""

Find = Callable[[str], Awaitable[TokenUser | None]]
"""Whom a token stands for; None where it is not valid."""

Refused = Callable[[Scope, str], Awaitable[None]]
"""Hears of a request whose token was refused, and of the token."""


@dataclass(slots=True)
class Traffic:
    """Counts the requests and connections under way, and decides if the server takes more."""

    closing: bool = False
    running: int = 0
    """Requests that are being answered, streams aside: those end when the server ends."""

    @contextmanager
    def one(self) -> Iterator[Callable[[], None]]:
        """A request is being answered; what is yielded says that it has become a stream."""
        counts = True
        self.running += 1

        def stop() -> None:
            nonlocal counts
            if counts:
                counts = False
                self.running -= 1

        try:
            yield stop
        finally:
            stop()


class Guard:
    """Lets a request through to the app with its person in the scope, or answers why not."""

    def __init__(
        self,
        app: ASGIApp,
        find: Find,
        is_open: Callable[[], Awaitable[bool]],
        rates: Rates,
        traffic: Traffic,
        metadata: str | None = None,
        on_refused: Refused | None = None,
    ) -> None:
        """`is_open` tells whether who shows no token is let in too; `on_refused` hears of tokens that are refused."""
        self._on_refused = on_refused
        self._app = app
        self._find = find
        self._is_open = is_open
        self._rates = rates
        self._traffic = traffic
        self._metadata = metadata
        self._logged: set[str] = set()
        self._logged_since = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope[ARRIVED] = time.monotonic()
        answer = await self.refusal(scope)
        if answer is not None:
            await answer(scope, receive, send)
            return
        if scope["method"] == "GET":  # a stream, which has no end of its own
            await self._app(scope, receive, send)
            return
        with self._traffic.one() as stream:

            async def sent(message: Message) -> None:
                if message["type"] == "http.response.start" and _is_stream(message):
                    stream()
                await send(message)

            await in_time(self._app, scope, receive, sent)

    async def refusal(self, scope: Scope) -> Response | None:
        """Return why a request is refused; None where it is let through."""
        if self._traffic.closing:
            return refused(
                503,
                "closing",
                f"The server is stopping. Call again in {AGAIN} s.",
                {"Retry-After": str(AGAIN), "Connection": "close"},
            )
        token = bearer(scope)
        try:
            user = await self._find(token) if token else None
            if token and user is None:
                if self._on_refused is not None:
                    await self._on_refused(scope, token)
                return unauthorized(
                    "The token is unknown, has expired or was revoked.", self._metadata, "invalid_token"
                )
            if user is None and not await self._is_open():
                return unauthorized("A token is needed: Authorization: Bearer TOKEN.", self._metadata)
        except MemoryServerError as error:
            self._log(f"a token could not be checked: {error}")
            problem = f"Tokens cannot be checked now. Call again in {AGAIN} s."
            return refused(503, "unavailable", problem, {"Retry-After": str(AGAIN)})
        scope.pop("user", None)
        if user is not None:
            scope["user"] = user
        wait = self._rates.take(user.access_token.client_id) if user else 0.0
        if wait:
            seconds = str(math.ceil(wait))
            problem = f"Too many requests with this token. Call again in {seconds} s."
            return refused(429, "too_many_requests", problem, {"Retry-After": seconds})
        return None

    def _log(self, problem: str) -> None:
        """Log a problem at most once in LOG_AGAIN seconds: while a database is away, each request has the same."""
        now = time.monotonic()
        if now - self._logged_since > LOG_AGAIN:
            self._logged, self._logged_since = set(), now
        if problem not in self._logged:
            self._logged.add(problem)
            logger.error("%s", problem)


class RequestCheck:
    """Refuses a foreign host (421) and a foreign origin (403): a page of another site must reach nothing here.

    A request that says its length in two ways gets 400, and its connection ends: a proxy may go by the other one, and
    not see that what follows is a request (RFC 9112, 6.1).
    """

    def __init__(self, app: ASGIApp, settings: TransportSecuritySettings, but: frozenset[str]) -> None:
        """`but` are the paths that anybody may ask for under any name."""
        self._app = app
        self._check = TransportSecurityMiddleware(settings)
        self._but = but

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_http = scope["type"] == "http"
        if is_http and {b"content-length", b"transfer-encoding"} <= dict(scope["headers"]).keys():
            problem = "A request has Content-Length or Transfer-Encoding, not both."
            await refused(400, "invalid_request", problem, {"Connection": "close"})(scope, receive, send)
            return
        if is_http and scope["path"] not in self._but:
            refusal = await self._check.validate_request(Request(scope))
            if refusal is not None:
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)


def security(hosts: tuple[str, ...]) -> TransportSecuritySettings:
    """The checks of the SDK for these names of the server, with any port and without one."""
    names = dict.fromkeys((*LOCAL, *hosts))
    return TransportSecuritySettings(
        allowed_hosts=[form for name in names for form in (name, f"{name}:*")],
        allowed_origins=[
            form
            for name in names
            for scheme in ("http", "https")
            for form in (f"{scheme}://{name}", f"{scheme}://{name}:*")
        ],
    )


def bearer(scope: Scope) -> str | None:
    """The token of a request; None where it shows none. An authorization of another kind is a token that is unknown."""
    for name, value in scope["headers"]:
        if name == b"authorization":
            kind, _, token = value.decode("latin-1").partition(" ")
            return (
                token.strip()
                if kind.lower() == "bearer" and token.strip()
                else value.decode("latin-1") or None
            )
    return None


def _is_stream(start: Message) -> bool:
    return any(
        name == b"content-type" and value.startswith(b"text/event-stream") for name, value in start["headers"]
    )


class _GoneError(Exception):
    """The client went away before its request was whole: there is nobody to answer."""


async def in_time(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Run an app whose request must have arrived within BODY seconds; else the answer is 408."""
    until, is_whole, begun = time.monotonic() + BODY, False, False

    async def received() -> Message:
        nonlocal is_whole
        if is_whole:
            return await receive()
        with anyio.fail_after(max(0.0, until - time.monotonic())):
            message = await receive()
        if message["type"] == "http.disconnect":
            raise _GoneError
        is_whole = not message.get("more_body", False)
        return message

    async def sent(message: Message) -> None:
        nonlocal begun
        begun = True
        await send(message)

    try:
        await app(scope, received, sent)
    except _GoneError:
        return
    except TimeoutError:
        if is_whole or begun:
            raise
        slow = refused(
            408, "too_slow", f"The request took longer than {BODY:.0f} s.", {"Connection": "close"}
        )
        await slow(scope, receive, send)
