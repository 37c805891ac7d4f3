"""Serves over standard input and output, and ends quickly and cleanly when it is asked to."""

import logging
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import BinaryIO

import anyio
import anyio.to_thread
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCRequest, JSONRPCResponse

from memory_server.language.text import without_lone_surrogates
from memory_server.mcp.changes import LISTEN
from memory_server.mcp.compat import WriteStream, run_over, stdio_streams
from memory_server.mcp.messages import NoMessageError, parse, readable
from memory_server.mcp.server import MemoryServer

logger = logging.getLogger(__name__)

GRACE = 0.4
"""Seconds from the end of the input, or a signal, to the end of the process, whatever still runs. We promise 0.5."""


def serve(server: MemoryServer, close: Callable[[float], None]) -> None:
    """Serve until the input ends or a signal asks to stop; `close(timeout)` closes the database.

    Never returns: threads may still be blocked on the client's pipes, so the process ends here.

    Raises:
        OSError: the system does not give what serving needs, such as open files.
    """
    failures: list[OSError] = []
    try:
        anyio.run(_serve, server, close)
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
        time.sleep(GRACE)
        _leave(close, 0.05)

    threading.Thread(target=wait, name="leave", daemon=True).start()


async def _serve(server: MemoryServer, close: Callable[[float], None]) -> None:
    lines = _Lines(close)
    async with anyio.create_task_group() as tasks:
        if os.name != "nt":
            tasks.start_soon(_stop_on_signal, tasks.cancel_scope, close)
        async with stdio_streams(lines) as (incoming, outgoing):
            lines.answers = _Answers(outgoing)
            await run_over(server, incoming, lines.answers)
        tasks.cancel_scope.cancel()


async def _stop_on_signal(scope: anyio.CancelScope, close: Callable[[float], None]) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            _leave_soon(close)
            scope.cancel()
            return


class _Answers:
    """The messages to the client; `awaited` has the ids of the requests without an answer yet."""

    def __init__(self, outgoing: WriteStream[SessionMessage]) -> None:
        self._outgoing = outgoing
        self.awaited: set[int | str] = set()

    async def send(self, item: SessionMessage, /) -> None:
        if isinstance(item.message, JSONRPCError):
            error = readable(item.message.error)
            item = SessionMessage(JSONRPCError(jsonrpc="2.0", id=item.message.id, error=error), item.metadata)
        await self._outgoing.send(item)
        if isinstance(item.message, JSONRPCResponse | JSONRPCError) and item.message.id is not None:
            self.awaited.discard(item.message.id)

    async def aclose(self) -> None:
        await self._outgoing.aclose()

    async def __aenter__(self) -> "_Answers":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class _Lines:
    """The lines of standard input. A line that the SDK would drop is answered here, with an error.

    While serving, file descriptor 0 is the null device, so that nothing else can read the client's bytes.
    """

    answers: _Answers

    def __init__(self, close: Callable[[float], None]) -> None:
        self._close = close
        self._input = _claimed_stdin()
        self._read = 0
        if os.name != "nt":
            threading.Thread(target=self._watch_for_hang_up, name="hang-up", daemon=True).start()

    def __aiter__(self) -> "_Lines":
        return self

    async def __anext__(self) -> str:
        while True:
            raw = await anyio.to_thread.run_sync(self._input.readline, abandon_on_cancel=True)
            self._read += 1
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
            return line

    def _watch_for_hang_up(self) -> None:
        """Leave when the client has closed its end and no further line is read.

        A client that does not read its answers keeps the loop from reading on, so the end of the input behind
        its last line would not be seen.
        """
        poll = select.poll()
        poll.register(self._input.fileno(), 0)  # a hang-up is told without being asked for
        poll.poll()
        seen = -1
        while seen != self._read:
            seen = self._read
            time.sleep(GRACE)
        _leave(self._close, 0.05)

    async def _let_calls_end(self) -> None:
        """After the end of the input: running calls are still answered, if they end soon."""
        _leave_soon(self._close)
        with anyio.move_on_after(GRACE / 2):
            while self.answers.awaited:
                await anyio.sleep(0.005)


def _claimed_stdin() -> BinaryIO:
    sys.stdin.flush()
    private = os.dup(0)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return os.fdopen(private, "rb")
