"""Makes the Caller of a request, for each face, and says until when the request is answered."""

import time
from collections.abc import Callable
from typing import Any, Final

from mcp.server.context import ServerRequestContext

from memory_server.call.deadline import CALL
from memory_server.domain.caller import Caller
from memory_server.language.text import clean

CLIENT_NAME = 100
"""Characters of a client's name that are stored, once for each row that it writes."""

ARRIVED: Final = "memory_server.arrived"
"""The key in the scope of a request over HTTP under which stands when it came, before its token was checked."""

Callers = Callable[[str | None, Any], Caller]
"""Makes a Caller of the client's own name and of the request that carried the call: starlette's, or None on stdio."""


def name_of(ctx: ServerRequestContext[Any, Any]) -> str | None:
    """The client's own name, from the handshake or from the request itself in the newer protocol."""
    params = ctx.session.client_params
    return clean(params.client_info.name)[:CLIENT_NAME] if params else None


def caller_of(callers: Callers, ctx: ServerRequestContext[Any, Any] | None) -> Caller:
    return callers(None, None) if ctx is None else callers(name_of(ctx), ctx.request)


def seconds_of(ctx: ServerRequestContext[Any, Any]) -> float:
    """Return how long a request may take from now on; the check of its token has taken a part."""
    arrived = None if ctx.request is None else ctx.request.scope.get(ARRIVED)
    return CALL if arrived is None else CALL - (time.monotonic() - arrived)
