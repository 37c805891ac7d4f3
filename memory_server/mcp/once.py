"""Makes the list of tools once: no session changes it, and to make it checks and writes 29 schemas.

Who may only read sees only the tools that read.
"""

from collections.abc import Mapping
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

from memory_server.mcp.callers import Callers, caller_of

LIST = "tools/list"


class ListedOnce:
    """Middleware that keeps the list of tools in the form of each version of the protocol."""

    def __init__(self, callers: Callers) -> None:
        self._callers = callers
        self._listed: dict[str, HandlerResult] = {}

    async def answer(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """A request that says more than who asks is left to the SDK, and so is each before the handshake."""
        if ctx.method != LIST:
            return await call_next(ctx)
        listed = await self._list(ctx, call_next)
        person = caller_of(self._callers, ctx).person
        return _reading(listed) if person is not None and person.reads_only else listed

    async def _list(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        if not _plain(ctx):
            return await call_next(ctx)
        if ctx.protocol_version not in self._listed:
            self._listed[ctx.protocol_version] = await call_next(ctx)
        return self._listed[ctx.protocol_version]


def _plain(ctx: ServerRequestContext[Any, Any]) -> bool:
    params = ctx.params or {}
    return ctx.session.client_params is not None and (
        not params or (params.keys() == {"_meta"} and ctx.meta is not None)
    )


def _reading(listed: HandlerResult) -> HandlerResult:
    """The tools that read alone."""
    if not isinstance(listed, Mapping):
        return listed
    reads = [tool for tool in listed["tools"] if tool["annotations"]["readOnlyHint"]]
    return {**listed, "tools": reads}
