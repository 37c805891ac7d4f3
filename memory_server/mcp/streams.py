"""Serves one client over a socket: that of a front, which has standard input and output."""

import asyncio
import contextlib
import logging
from typing import Any, cast

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCRequest, JSONRPCResponse

from memory_server.language.text import without_lone_surrogates
from memory_server.mcp.compat import WriteStream, run_over
from memory_server.mcp.first_answers import LISTEN
from memory_server.mcp.messages import NoMessageError, parse, readable
from memory_server.mcp.server import MemoryServer

logger = logging.getLogger(__name__)

GRACE = 1.0
"""Seconds from the end of the input in which running calls are still answered."""

STEPS = 20
"""Looks in this time whether they have ended."""

LONGEST = 1 << 31
"""Bytes of a line at most; the text of a tool has limits of its own."""


async def serve(server: MemoryServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Serve until the client closes its end."""
    lines = _Lines(reader)
    try:
        # Its signature asks for files, but it only iterates over the lines, and writes and flushes the output.
        streams = stdio_server(stdin=cast(Any, lines), stdout=cast(Any, _Output(writer)))
        async with streams as (incoming, outgoing):
            lines.answers = _Answers(outgoing)
            await run_over(server, incoming, lines.answers)
    except* (BrokenPipeError, ConnectionResetError):
        logger.info("the client has closed its end")


class _Output:
    """The output as the SDK writes it."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def write(self, text: str) -> None:
        self._writer.write(text.encode())

    async def flush(self) -> None:
        await self._writer.drain()


class _Answers:
    """The messages to the client; `awaited` has the ids of the requests without an answer yet."""

    def __init__(self, outgoing: WriteStream[SessionMessage]) -> None:
        self._outgoing = outgoing
        self.awaited: set[int | str] = set()

    async def send(self, item: SessionMessage, /) -> None:
        message = item.message
        if isinstance(message, JSONRPCError):
            message = JSONRPCError(jsonrpc="2.0", id=message.id, error=readable(message.error))
            item = SessionMessage(message, item.metadata)
        await self._outgoing.send(item)
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            self.awaited.discard(message.id)

    async def aclose(self) -> None:
        await self._outgoing.aclose()

    async def __aenter__(self) -> "_Answers":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class _Lines:
    """The lines of the client. One that the SDK would drop is answered here, with an error."""

    answers: _Answers

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    def __aiter__(self) -> "_Lines":
        return self

    async def __anext__(self) -> str:
        while True:
            raw = b""
            with contextlib.suppress(ConnectionResetError):
                raw = await self._reader.readline()
            if not raw:
                await self._let_calls_end()
                raise StopAsyncIteration
            line = without_lone_surrogates(raw.decode("utf-8-sig", errors="replace"))
            try:
                message = parse(line)
            except NoMessageError as refusal:
                await self.answers.send(SessionMessage(refusal.answer))
                continue
            if isinstance(message, JSONRPCRequest) and message.method != LISTEN:
                self.answers.awaited.add(message.id)
            return line

    async def _let_calls_end(self) -> None:
        for _ in range(STEPS):
            if not self.answers.awaited:
                return
            await anyio.sleep(GRACE / STEPS)
