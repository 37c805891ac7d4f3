"""Serves over standard input and output, and ends quickly and cleanly when it is asked to."""

import io
import logging
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import anyio.to_thread
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from memory_server.language.text import without_lone_surrogates
from memory_server.mcp import first_answers
from memory_server.mcp.compat import WriteStream, run_over, stdio_streams
from memory_server.mcp.early import Early
from memory_server.mcp.first_answers import LISTEN, SUBSCRIPTION, Json
from memory_server.mcp.messages import NoMessageError, parse, readable
from memory_server.mcp.server import MemoryServer

logger = logging.getLogger(__name__)

GRACE = 0.4
"""Seconds from the end of the input, or a signal, to the end of the process, whatever still runs. We promise 0.5."""

STEPS = 10
"""The waits for GRACE consist of so many sleeps. While the system stops this process, only one of them ends."""

QUIET = 0.5
"""Seconds. If the client sends nothing for so long, the server makes what carries out calls, before any call needs it.
The first answers are sent by then."""

LIGHT = ("initialize", "server/discover", "tools/list", "ping")
"""Requests that are answered without what carries out calls."""


def serve(server: MemoryServer, close: Callable[[float], None], early: Early) -> None:
    """Serve until the input ends or a signal asks to stop; `close(timeout)` closes the database.

    What was answered early is heard first. Never returns: threads may still be blocked on the client's pipes, so the
    process ends here.

    Raises:
        OSError: the system does not give what serving needs, such as open files.
    """
    failures: list[OSError] = []
    try:
        anyio.run(_serve, server, close, early)
    except* (BrokenPipeError, ConnectionResetError):
        logger.info("the client has closed its end")
    except* OSError as group:
        failures = list(_each(group))
    if failures:
        sys.unraisablehook = _say_nothing  # an event loop that is half made complains when it is taken down
        raise failures[0]
    _leave(close, GRACE / 2)


def _each(group: BaseExceptionGroup[OSError]) -> Iterator[OSError]:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _each(error)
        else:
            yield error


def _say_nothing(_: object) -> None:
    pass


def _leave(close: Callable[[float], None], timeout: float) -> None:
    close(timeout)
    sys.stderr.flush()
    os._exit(0)


def _leave_soon(close: Callable[[float], None]) -> None:
    """End the process after GRACE, even if a client that does not read, or a long call, blocks the event loop."""

    def wait() -> None:
        _wait_grace()
        _leave(close, 0.05)

    threading.Thread(target=wait, name="leave", daemon=True).start()


def _wait_grace() -> None:
    for _ in range(STEPS):
        time.sleep(GRACE / STEPS)


async def _serve(server: MemoryServer, close: Callable[[float], None], early: Early) -> None:
    lines = _InputLines(server, close, early)
    async with anyio.create_task_group() as tasks:
        if os.name != "nt":
            tasks.start_soon(_stop_on_signal, tasks.cancel_scope, close)
        async with stdio_streams(lines) as (incoming, outgoing):
            lines.answers = _Answers(outgoing, early)
            tasks.start_soon(_prepare_when_quiet, server, lines)
            await run_over(server, incoming, lines.answers)
        tasks.cancel_scope.cancel()


async def _prepare_when_quiet(server: MemoryServer, lines: "_InputLines") -> None:
    lines_read = -1
    while lines_read != lines.read:
        lines_read = lines.read
        await anyio.sleep(QUIET)
    await server.prepare()


async def _stop_on_signal(scope: anyio.CancelScope, close: Callable[[float], None]) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            _leave_soon(close)
            scope.cancel()
            return


class _Answers:
    """The messages to the client; `awaited` has the ids of the requests without an answer yet."""

    def __init__(self, outgoing: WriteStream[SessionMessage], early: Early) -> None:
        self._outgoing = outgoing
        self._early = early
        self.awaited: set[int | str] = set()

    async def send(self, item: SessionMessage, /) -> None:
        message = item.message
        if isinstance(message, JSONRPCError):
            message = JSONRPCError(jsonrpc="2.0", id=message.id, error=readable(message.error))
            item = SessionMessage(message, item.metadata)
        match message:
            case JSONRPCNotification(method=first_answers.ACKNOWLEDGED, params={"_meta": meta}) if (
                meta[SUBSCRIPTION] in self._early.acknowledged
            ):
                self._early.acknowledged.remove(meta[SUBSCRIPTION])
            case JSONRPCResponse(id=id) | JSONRPCError(id=id) if id in self._early.answered:
                await self._correct(self._early.answered.pop(id), getattr(message, "result", None))
            case _:
                await self._outgoing.send(item)
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            self.awaited.discard(message.id)

    async def _correct(self, early: Json, result: Json | None) -> None:
        """Tell the client what has become untrue of an early answer: the list of resources, which projects lengthen."""
        if result == early:
            return
        if "resources" in early:
            about = {"_meta": {SUBSCRIPTION: self._early.resources_listener}}
            changed = JSONRPCNotification(
                jsonrpc="2.0", method="notifications/resources/list_changed", params=about
            )
            await self._outgoing.send(SessionMessage(changed))
        else:
            logger.error("an early answer was not the server's own. This is a bug.")

    async def aclose(self) -> None:
        await self._outgoing.aclose()

    async def __aenter__(self) -> "_Answers":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class _InputLines:
    """The lines of the client, first those that were answered early. A line that the SDK would drop is answered here,
    with an error."""

    answers: _Answers

    def __init__(self, server: MemoryServer, close: Callable[[float], None], early: Early) -> None:
        self._server = server
        self._close = close
        self._early = early
        self._file = early.input
        self._input: io.BufferedReader | None = None
        self.read = 0
        """Lines that were read."""
        self._is_preparing = False
        if os.name != "nt":
            threading.Thread(target=self._watch_for_hang_up, name="hang-up", daemon=True).start()

    def __aiter__(self) -> "_InputLines":
        return self

    async def __anext__(self) -> str:
        while True:
            raw = await anyio.to_thread.run_sync(self._line, abandon_on_cancel=True)
            self.read += 1
            if not raw:
                await self._let_calls_end()
                raise StopAsyncIteration
            line = without_lone_surrogates(raw.decode("utf-8-sig", errors="replace"))
            if not line.strip():
                continue
            try:
                message = parse(line)
            except NoMessageError as refusal:
                await self.answers.send(SessionMessage(refusal.answer))
                continue
            if isinstance(message, JSONRPCRequest) and message.method != LISTEN:
                self.answers.awaited.add(message.id)
            if isinstance(message, JSONRPCRequest) and message.method not in LIGHT:
                await self._prepare()
            return line

    def _line(self) -> bytes:
        if self._input is None:
            self._early.take_over()
            first = b"".join([*self._early.heard, self._early.rest])
            self._input = io.BufferedReader(_Resumed(self._file, first))
        return self._input.readline()

    async def _prepare(self) -> None:
        """Read on when calls can be carried out: one that was sent before the client closed its end is answered."""
        self._is_preparing = True
        await self._server.prepare()
        self._is_preparing = False

    def _watch_for_hang_up(self) -> None:
        """Leave when the client has closed its end and no further line is read.

        A client that does not read its answers keeps the loop from reading on, so the end of the input behind
        its last line would not be seen.
        """
        poll = select.poll()
        poll.register(self._file, 0)  # a hang-up is told without being asked for
        poll.poll()
        lines_read = -1
        while lines_read != self.read or self._early.answered or self._is_preparing:
            lines_read = self.read
            _wait_grace()
        _leave(self._close, 0.05)

    async def _let_calls_end(self) -> None:
        """After the end of the input: running calls are still answered, if they end soon."""
        _leave_soon(self._close)
        for _ in range(STEPS):
            if not self.answers.awaited:
                return
            await anyio.sleep(GRACE / 2 / STEPS)


class _Resumed(io.FileIO):
    """A file of which something was read already."""

    def __init__(self, file: int, first: bytes) -> None:
        super().__init__(file, "rb")
        self._first = first

    def readinto(self, buffer: Any, /) -> int | None:
        if not self._first:
            return super().readinto(buffer)
        part = self._first[: len(buffer)]
        buffer[: len(part)] = part
        self._first = self._first[len(part) :]
        return len(part)
