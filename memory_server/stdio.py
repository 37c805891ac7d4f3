"""Serves over standard input and output, and leaves quickly and cleanly when asked to."""

import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, BinaryIO

import anyio
import anyio.to_thread
import pydantic_core
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from memory_server.server import MemoryServer

GRACE = 0.4
"""Seconds between the wish to leave and the end of the process, whatever is under way."""

_LONE_SURROGATE = re.compile(
    r"(?<!\\)((?:\\\\)*)(?:(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


def serve(server: MemoryServer, close: Callable[[float], None]) -> None:
    """Serve until the input ends or a signal asks to stop; `close(timeout)` shuts what must be shut.

    Never returns: threads may still be blocked on the client's pipes, so the process ends here.
    """
    anyio.run(_serve, server, close)
    _leave(close, GRACE / 2)


def _leave(close: Callable[[float], None], timeout: float) -> None:
    close(timeout)
    sys.stderr.flush()
    os._exit(0)


def _leave_soon(close: Callable[[float], None]) -> None:
    """End the process after GRACE even if a client that does not read, or a long call, holds the loop up."""

    def wait() -> None:
        time.sleep(GRACE)
        _leave(close, 0.05)

    threading.Thread(target=wait, name="leave", daemon=True).start()


async def _serve(server: MemoryServer, close: Callable[[float], None]) -> None:
    lines = _Lines(server, close)
    async with anyio.create_task_group() as tasks:
        if os.name != "nt":
            tasks.start_soon(_stop_on_signal, tasks.cancel_scope, close)
        async with stdio_server(stdin=lines) as (incoming, outgoing):  # type: ignore[arg-type]
            lines.outgoing = outgoing
            lowlevel = server._lowlevel_server  # the SDK has no public way to run over given streams
            await lowlevel.run(incoming, outgoing, lowlevel.create_initialization_options())
        tasks.cancel_scope.cancel()


async def _stop_on_signal(scope: anyio.CancelScope, close: Callable[[float], None]) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            _leave_soon(close)
            scope.cancel()
            return


class _Lines:
    """The lines of standard input, mended where the SDK would drop one without an answer.

    While serving, file descriptor 0 is the null device, so that nothing else can eat the client's bytes.
    """

    def __init__(self, server: MemoryServer, close: Callable[[float], None]) -> None:
        self._server = server
        self._close = close
        self._input = _claimed_stdin()
        self.outgoing: Any = None

    def __aiter__(self) -> "_Lines":
        return self

    async def __anext__(self) -> str:
        while True:
            raw = await anyio.to_thread.run_sync(self._input.readline, abandon_on_cancel=True)
            if not raw:
                await self._let_calls_end()
                raise StopAsyncIteration
            line = mended(raw.decode("utf-8", errors="replace"))
            if not line.strip():
                continue
            refusal = _refusal(line)
            if refusal is None:
                return line
            await self.outgoing.send(SessionMessage(refusal))

    async def _let_calls_end(self) -> None:
        """The input has ended: what was asked is still answered, if that is soon."""
        _leave_soon(self._close)
        with anyio.move_on_after(GRACE / 2):
            while self._server.calls_under_way:
                await anyio.sleep(0.005)


def mended(line: str) -> str:
    """The line with each escaped lone surrogate, which no JSON parser takes, as U+FFFD."""
    if "\\ud" not in line and "\\uD" not in line:
        return line
    return _LONE_SURROGATE.sub(lambda match: match[1] + (match[2] or "\\ufffd"), line)


def _refusal(line: str) -> JSONRPCError | None:
    """The answer to a line that is no JSON-RPC message, or None. The SDK drops one, and the client waits."""
    try:
        content = pydantic_core.from_json(line)
    except ValueError as error:
        return _error(None, PARSE_ERROR, f"Not JSON: {error}")
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        message = None
    if message is not None and not (isinstance(message, JSONRPCNotification) and "id" in content):
        return None
    id = content.get("id") if isinstance(content, dict) else None
    return _error(
        id if type(id) in (int, str) else None,
        INVALID_REQUEST,
        'Not a JSON-RPC message: an object with "jsonrpc": "2.0", a text "method", an object "params", '
        'and in a request an "id" that is a text or a whole number.',
    )


def _error(id: int | str | None, code: int, message: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=id, error=ErrorData(code=code, message=message))


def _claimed_stdin() -> BinaryIO:
    sys.stdin.flush()
    private = os.dup(0)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return os.fdopen(private, "rb")
