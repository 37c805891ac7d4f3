"""Tells clients when the list of resources has changed, or the text of a resource that they watch.

In the era of `initialize` each client is told of the list. In the newer one a client opens a stream with
`subscriptions/listen` and says what it wants to be told. What another program writes into the file is told with the
next write of this server.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio.to_thread
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context
from mcp.server.subscriptions import InMemorySubscriptionBus, ServerEvent
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from memory_server.call import acting
from memory_server.domain.caller import Caller, Person
from memory_server.errors import MemoryServerError
from memory_server.mcp.callers import Callers, caller_of
from memory_server.mcp.first_answers import LISTEN

if TYPE_CHECKING:
    from memory_server.mcp.resources import Resources

logger = logging.getLogger(__name__)

WATCHED = 100
"""Resources of one stream that are watched: each is read again after each write."""

_Texts = dict[str, str | None]
"""The texts of the watched resources as the client knows them; None: it could not be read."""


class PersonalBus(InMemorySubscriptionBus):
    """Passes events of a person to the streams of the same person."""

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        person = acting.person()

        def heard(event: ServerEvent) -> None:
            if acting.person() == person:
                listener(event)

        return super().subscribe(heard)


@dataclass(frozen=True, slots=True)
class _Stream:
    """A client that listens, and the texts that it was told last."""

    caller: Caller
    texts: _Texts


class ResourceChanges:
    """Compares after each write what clients know with what there is now, as each person sees it."""

    def __init__(self, resources: "Resources", callers: Callers) -> None:
        self._resources = resources
        self._callers = callers
        self._known: dict[Person | None, list[str]] = {}
        self._streams: dict[object, _Stream] = {}

    def listed(self, addresses: Sequence[str]) -> None:
        """Note the list that a client has now."""
        self._known[acting.person()] = list(addresses)

    async def watch(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Middleware: while a client listens, the resources that it watches are compared after each write."""
        if ctx.method != LISTEN:
            return await call_next(ctx)
        stream, caller = object(), caller_of(self._callers, ctx)
        if caller.person not in self._known:
            self._known[caller.person] = await anyio.to_thread.run_sync(self._addresses)
        texts = await anyio.to_thread.run_sync(self._read, _watched(ctx.params), caller)
        self._streams[stream] = _Stream(caller, texts)
        try:
            return await call_next(ctx)
        finally:
            del self._streams[stream]

    async def written(self, context: Context[Any, Any]) -> None:
        """Tell the clients what has changed after a call that may have written."""
        writer = acting.person()
        for person in dict.fromkeys((writer, *(stream.caller.person for stream in self._streams.values()))):
            with acting.as_(person):
                await self._tell(context, person, is_writer=person == writer)

    async def _tell(self, context: Context[Any, Any], person: Person | None, *, is_writer: bool) -> None:
        """Tell one person's clients what has changed for this person."""
        before = self._known.get(person)
        now = before if before is None else await anyio.to_thread.run_sync(self._addresses)
        if now is not None and now != before:
            self._known[person] = now
            if context.protocol_version in MODERN_PROTOCOL_VERSIONS or not is_writer:
                await context.notify_resources_changed()
            else:
                await context.session.send_resource_list_changed()
        for address in await anyio.to_thread.run_sync(self._changed, person):
            await context.notify_resource_updated(address)

    def _changed(self, person: Person | None) -> list[str]:
        """Return the addresses that a person watches and whose text has changed."""
        changed: set[str] = set()
        for stream in list(self._streams.values()):
            if stream.caller.person == person:
                now = self._read(list(stream.texts), stream.caller)
                changed |= {address for address, text in now.items() if text != stream.texts[address]}
                stream.texts.update(now)
        return sorted(changed)

    def _read(self, addresses: Sequence[str], caller: Caller) -> _Texts:
        return {address: self._text(address, caller) for address in addresses}

    def _text(self, address: str, caller: Caller) -> str | None:
        try:
            return self._resources.read(address, caller)
        except MemoryServerError:  # it is told when it can be read
            return None

    def _addresses(self) -> list[str]:
        """Return the addresses of the list; the previous ones where the file cannot be read now, which the call
        reports.
        """
        try:
            return [resource.uri for resource in self._resources.listed(Caller(person=acting.person()))]
        except MemoryServerError as error:
            logger.info("the resources cannot be listed now: %s", type(error).__name__)
            return self._known.get(acting.person()) or []


def _watched(params: Any) -> list[str]:
    """Return the addresses that a client asks to watch, as far as they are well formed: the SDK refuses the others."""
    notifications = params.get("notifications") if isinstance(params, dict) else None
    addresses = notifications.get("resourceSubscriptions") if isinstance(notifications, dict) else None
    return (
        [address for address in addresses if isinstance(address, str)][:WATCHED]
        if isinstance(addresses, list)
        else []
    )
