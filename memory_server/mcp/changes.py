"""Tells clients when the list of resources has changed, or the text of a resource that they watch.

In the era of `initialize` each client is told of the list. In the newer one a client opens a stream with
`subscriptions/listen` and says what it wants to be told. What another program writes into the file is told with the
next write of this server.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

import anyio.to_thread
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context
from mcp.server.subscriptions import ResourcesListChanged, ResourceUpdated, ServerEvent
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from memory_server.domain.caller import Caller
from memory_server.errors import MemoryServerError
from memory_server.mcp.callers import Callers, caller_of
from memory_server.mcp.resources import Resources

logger = logging.getLogger(__name__)

LISTEN = "subscriptions/listen"

WATCHED = 100
"""Resources of one stream that are watched: each is read again after each write."""

_Texts = dict[str, str | None]
"""The texts of what a stream watches, as they were told last; None: it could not be read."""

_stream: ContextVar[object] = ContextVar("stream", default=None)
"""The stream that a request of the newer era opens."""

_Who = str | None
"""The name of a person: each sees other resources. None is the one whose file it is."""


class Bus:
    """Brings each stream its own events alone: what a person is told must not tell another that it is there."""

    def __init__(self) -> None:
        self._listeners: dict[object, Callable[[ServerEvent], None]] = {}

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """The SDK's handler listens for the stream that `watch` has begun."""
        stream = _stream.get()
        self._listeners[stream] = listener

        def unsubscribe() -> None:
            self._listeners.pop(stream, None)

        return unsubscribe

    async def publish(self, event: ServerEvent) -> None:
        """To all streams: events that say nothing of what is stored."""
        for stream in list(self._listeners):
            self.tell(stream, event)

    def tell(self, stream: object, event: ServerEvent) -> None:
        if stream in self._listeners:
            self._listeners[stream](event)


class Changes:
    """Compares after each write what clients know with what there is now, each with what its person may see."""

    def __init__(self, resources: Resources, callers: Callers) -> None:
        self._resources = resources
        self._callers = callers
        self._known: dict[_Who, list[str]] = {}
        self._streams: dict[object, tuple[Caller, _Texts]] = {}
        self.bus = Bus()

    def listed(self, addresses: Sequence[str], caller: Caller) -> None:
        """The clients of a person know this list from now on."""
        self._known[_who(caller)] = list(addresses)

    async def watch(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Middleware: while a client listens, what it watches is compared."""
        if ctx.method != LISTEN:
            return await call_next(ctx)
        stream, caller = object(), caller_of(self._callers, ctx)
        if _who(caller) not in self._known:
            self._known[_who(caller)] = await anyio.to_thread.run_sync(self._addresses, caller)
        texts = await anyio.to_thread.run_sync(self._read, _watched(ctx.params), caller)
        self._streams[stream] = caller, texts
        token = _stream.set(stream)
        try:
            return await call_next(ctx)
        finally:
            _stream.reset(token)
            del self._streams[stream]

    async def written(self, context: Context[Any, Any], caller: Caller) -> None:
        """A caller has written something, perhaps."""
        if not self._known and not self._streams:
            return
        listening = {_who(each): each for each, _ in self._streams.values()}
        others = await anyio.to_thread.run_sync(self._other_lists, {_who(caller): caller, **listening})
        if _who(caller) in others and context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            await context.session.send_resource_list_changed()
        for stream, changed in (await anyio.to_thread.run_sync(self._changed)).items():
            if stream in self._streams and _who(self._streams[stream][0]) in others:
                self.bus.tell(stream, ResourcesListChanged())
            for address in changed:
                self.bus.tell(stream, ResourceUpdated(uri=address))

    def _other_lists(self, callers: Mapping[_Who, Caller]) -> set[_Who]:
        """The people whose list is another one than their clients know; they are told now."""
        changed = set()
        for who, caller in callers.items():
            before, now = self._known.get(who), self._addresses(caller)
            if before is not None and now != before:
                self._known[who] = now
                changed.add(who)
        return changed

    def _changed(self) -> dict[object, list[str]]:
        """The addresses that each stream watches whose text is another one now for its person."""
        found: dict[object, list[str]] = {}
        for stream, (caller, texts) in list(self._streams.items()):
            now = self._read(list(texts), caller)
            found[stream] = [address for address, text in now.items() if text != texts[address]]
            texts.update(now)
        return found

    def _read(self, addresses: Sequence[str], caller: Caller) -> _Texts:
        return {address: self._text(address, caller) for address in addresses}

    def _text(self, address: str, caller: Caller) -> str | None:
        try:
            return self._resources.read(address, caller)
        except MemoryServerError:  # it is told when it can be read
            return None

    def _addresses(self, caller: Caller) -> list[str]:
        """Nothing new where the file cannot be read now: what was written told the client why."""
        try:
            return [each.uri for each in self._resources.listed(caller)]
        except MemoryServerError as error:
            logger.info("the resources cannot be listed now: %s", type(error).__name__)
            return self._known.get(_who(caller), [])


def _who(caller: Caller) -> _Who:
    return caller.person.name if caller.person else None


def _watched(params: Any) -> list[str]:
    """What a client asks for, as far as it is well formed: the SDK refuses the rest."""
    wanted = params.get("notifications") if isinstance(params, dict) else None
    found = wanted.get("resourceSubscriptions") if isinstance(wanted, dict) else None
    return [each for each in found if isinstance(each, str)][:WATCHED] if isinstance(found, list) else []
