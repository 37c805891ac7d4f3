"""Serves the people of several memories at one address: the token of a request says which of them it is for.

A memory is opened by its first request, and closed when nobody has asked for half an hour. What is wrong with the
database of one is told to its own people alone.
"""

import logging
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup, TaskStatus
from starlette.types import ASGIApp, Receive, Scope, Send

from memory_server.app import Services
from memory_server.call.deadline import CALL
from memory_server.domain.calls import Calls
from memory_server.domain.token import State, Token
from memory_server.errors import Invalid, MemoryServerError
from memory_server.mcp.http.app import ProtocolApp
from memory_server.mcp.http.callers import IDLE, TokenUser
from memory_server.mcp.http.metrics import TenantLoad
from memory_server.mcp.http.refused import unauthorized
from memory_server.mcp.server import CALLS_AT_ONCE, MemoryServer
from memory_server.where import DEFAULT_TENANT, Where, tenants_in

logger = logging.getLogger(__name__)

MOST = 64
"""Memories that are open at the same time, unless more are in use: each has some twenty threads."""

LOOK = 1.0
"""Seconds between two looks whether the file has changed, and what can be closed."""


@dataclass(frozen=True, slots=True)
class Faces:
    """Answer for one memory."""

    services: Services
    server: MemoryServer
    endpoint: ProtocolApp
    pages: ASGIApp


@dataclass(eq=False, slots=True)
class _Open:
    """A memory that is open. `requests` and `streams` are under way; streams end when it closes."""

    place: Where
    faces: Faces
    used_at: float
    requests: int = 0
    streams: int = 0
    starting: anyio.Lock = field(default_factory=anyio.Lock)
    ending: anyio.Event | None = None
    """Is set to end what answers at /mcp; None before it has begun."""


class TenantFile:
    """The places by name, read again when the file has changed. A wrong file is told once, and the last right one
    stays.
    """

    def __init__(self, path: Path) -> None:
        """Raises Invalid where the file is wrong or cannot be read."""
        self._path = path
        self._state = self._stat()
        try:
            self.places: Mapping[str, Where] = tenants_in(path)
        except ValueError as error:
            raise Invalid(f"The tenants of --tenants cannot be read: {error}.") from error
        if not self.places:
            raise Invalid(f"{path} names no tenant.")

    def look(self) -> None:
        """Read the file again if it has changed."""
        state = self._stat()
        if state == self._state:
            return
        self._state = state
        try:
            self.places = tenants_in(self._path)
        except ValueError as error:
            logger.error("the tenants stay as they were: %s", error)

    def _stat(self) -> tuple[int, int, int] | None:
        with suppress(OSError):
            stat = self._path.stat()
            return stat.st_mtime_ns, stat.st_size, stat.st_ino
        return None


class Tenants:
    """The memories of a server. Also their tokens, of which each says its tenant: `TOKEN.NAME`."""

    def __init__(
        self, file: TenantFile, make: Callable[[str, Where], Faces], now: Callable[[], float] = time.monotonic
    ) -> None:
        self._file = file
        self._make = make
        self._now = now
        self._open: dict[str, _Open] = {}
        self._leaving: list[_Open] = []
        self._lock = threading.Lock()
        self._group: TaskGroup

    # Tokens

    def tenant_of(self, token: str) -> str | None:
        """Return the name of the tenant of a token; None where there is no such tenant."""
        name = token.partition(".")[2] or DEFAULT_TENANT
        return name if name in self._file.places else None

    def check(self, token: str) -> Token | None:
        memory = self._opened(self.tenant_of(token))
        return None if memory is None else memory.faces.services.tokens.check(token.partition(".")[0])

    def find(self, token: str) -> tuple[Token, State] | None:
        memory = self._opened(self.tenant_of(token))
        return None if memory is None else memory.faces.services.tokens.find(token.partition(".")[0])

    def are_needed(self) -> bool:
        """True: a request without a token says no tenant."""
        return True

    # Requests

    @property
    def asgi_app(self) -> ASGIApp:
        """Answer at /mcp for the tenant of the person."""
        return self._for(lambda faces: faces.endpoint.asgi_app)

    @property
    def pages(self) -> ASGIApp:
        return self._for(lambda faces: faces.pages)

    def servers(self) -> list[MemoryServer]:
        return [memory.faces.server for memory in self._all()]

    def loads(self) -> list[TenantLoad]:
        """Return the load of each memory that is open; where its database does not answer, none of its texts waits."""
        return [_load(name, memory.faces.services) for name, memory in sorted(self._open.copy().items())]

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        async with anyio.create_task_group() as self._group:
            self._group.start_soon(self._tidy)
            yield
            self._group.cancel_scope.cancel()

    def close(self) -> None:
        """Close all databases, those that do not answer at the same time as the others."""
        threads = [
            threading.Thread(target=memory.faces.services.close, name="closing") for memory in self._all()
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(CALL)

    def _for(self, part: Callable[[Faces], ASGIApp]) -> ASGIApp:
        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            user = scope.get("user")
            name = user.tenant if isinstance(user, TokenUser) else None
            memory = await self._in_use(name)
            if memory is None:
                await unauthorized("The token names no tenant of this server.", None)(scope, receive, send)
                return
            is_stream = scope["method"] == "GET"
            memory.requests += not is_stream
            memory.streams += is_stream
            try:
                await self._started(memory)
                await part(memory.faces)(scope, receive, send)
            finally:
                memory.requests -= not is_stream
                memory.streams -= is_stream
                memory.used_at = self._now()

        return answer

    async def _in_use(self, name: str | None) -> _Open | None:
        memory = self._open.get(name or "")
        if memory is None or name not in self._file.places:
            memory = await anyio.to_thread.run_sync(self._opened, name)
        return memory

    async def _started(self, memory: _Open) -> None:
        async with memory.starting:
            if memory.ending is None:
                memory.ending = anyio.Event()
                await self._group.start(self._answering, memory, memory.ending)

    async def _answering(
        self, memory: _Open, ending: anyio.Event, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
    ) -> None:
        """Answer for a memory until it is to end, then close its database. Its calls have threads of their own."""
        limiter = anyio.to_thread.current_default_thread_limiter()
        limiter.total_tokens += CALLS_AT_ONCE
        try:
            async with memory.faces.endpoint.run():
                task_status.started()
                await ending.wait()
        finally:
            limiter.total_tokens -= CALLS_AT_ONCE
        await self._closed(memory)

    async def _closed(self, memory: _Open) -> None:
        await anyio.to_thread.run_sync(memory.faces.services.close)
        self._leaving.remove(memory)

    # Opening and closing

    def _all(self) -> Sequence[_Open]:
        with self._lock:
            return [*self._open.values(), *self._leaving]

    def _opened(self, name: str | None) -> _Open | None:
        """Return the memory of a tenant; opened if it is not. Its database is not asked yet."""
        with self._lock:
            place = self._file.places.get(name or "")
            if name is None or place is None:
                return None
            if name not in self._open:
                self._open[name] = _Open(place, self._make(name, place), self._now())
                self._make_room()
            return self._open[name]

    def _make_room(self) -> None:
        idle = sorted(
            (memory.used_at, name)
            for name, memory in self._open.items()
            if not (memory.requests or memory.streams)
        )
        for _, name in idle[: max(0, len(self._open) - MOST)]:
            self._leaving.append(self._open.pop(name))

    async def _tidy(self) -> None:
        """Look for changes of the file, and close what nobody uses or the file names no more."""
        while True:
            await anyio.sleep(LOOK)
            await anyio.to_thread.run_sync(self._file.look)
            with self._lock:
                for name, memory in list(self._open.items()):
                    is_unused = not (memory.requests or memory.streams)
                    is_idle = is_unused and self._now() - memory.used_at > IDLE
                    if is_idle or self._file.places.get(name) != memory.place:
                        self._leaving.append(self._open.pop(name))
                at_rest = [memory for memory in self._leaving if not memory.requests]
            for memory in at_rest:
                if memory.ending is None:
                    memory.ending = anyio.Event()
                    self._group.start_soon(self._closed, memory)
                else:
                    memory.ending.set()


def _load(name: str, services: Services) -> TenantLoad:
    waiting = 0
    with suppress(MemoryServerError):
        waiting = services.waiting()
    return TenantLoad(name, sum(services.calls.counted.calls().values(), Calls()), waiting)
