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

if TYPE_CHECKING:
    from memory_server.mcp.resources import Resources

logger = logging.getLogger(__name__)

LISTEN = "subscriptions/listen"

WATCHED = 100
"""Resources of one stream that are watched: each is read again after each write."""

_Texts = dict[str, str | None]
"""The texts of what a stream watches, as they were told last; None: it could not be read."""


class PersonalBus(InMemorySubscriptionBus):
    """Tells what happened to those who listen for the same person as it is told for."""

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        person = acting.person()

        def heard(event: ServerEvent) -> None:
            if acting.person() == person:
                listener(event)

        return super().subscribe(heard)


@dataclass(frozen=True, slots=True)
class _Stream:
    """Who listens, and what was told."""

    caller: Caller
    texts: _Texts


class Changes:
    """Compares after each write what clients know with what there is now, as each person sees it."""

    def __init__(self, resources: "Callable[[], Resources]", callers: Callers) -> None:
        self._resources = resources
        self._callers = callers
        self._known: dict[Person | None, list[str]] = {}
        self._streams: dict[object, _Stream] = {}

    def listed(self, addresses: Sequence[str]) -> None:
        """A client knows this list from now on."""
        self._known[acting.person()] = list(addresses)

    async def watch(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Middleware: while a client listens, what it watches is compared."""
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
        """Something was written, perhaps."""
        writer = acting.person()
        for person in dict.fromkeys((writer, *(each.caller.person for each in self._streams.values()))):
            with acting.as_(person):
                await self._tell(context, person, is_writer=person == writer)

    async def _tell(self, context: Context[Any, Any], person: Person | None, *, is_writer: bool) -> None:
        """Tell one person's clients what has changed for this person."""
        known = self._known.get(person)
        now = known if known is None else await anyio.to_thread.run_sync(self._addresses)
        if now is not None and now != known:
            self._known[person] = now
            if context.protocol_version in MODERN_PROTOCOL_VERSIONS or not is_writer:
                await context.notify_resources_changed()
            else:
                await context.session.send_resource_list_changed()
        for address in await anyio.to_thread.run_sync(self._changed, person):
            await context.notify_resource_updated(address)

    def _changed(self, person: Person | None) -> list[str]:
        """The addresses that a person watches whose text is another one now."""
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
            return self._resources().read(address, caller)
        except MemoryServerError:  # it is told when it can be read
            return None

    def _addresses(self) -> list[str]:
        """Nothing new where the file cannot be read now: what was written told the client why."""
        try:
            return [each.uri for each in self._resources().listed(Caller(person=acting.person()))]
        except MemoryServerError as error:
            logger.info("the resources cannot be listed now: %s", type(error).__name__)
            return self._known.get(acting.person()) or []


def _watched(params: Any) -> list[str]:
    """What a client asks for, as far as it is well formed: the SDK refuses the rest."""
    wanted = params.get("notifications") if isinstance(params, dict) else None
    found = wanted.get("resourceSubscriptions") if isinstance(wanted, dict) else None
    return [each for each in found if isinstance(each, str)][:WATCHED] if isinstance(found, list) else []
