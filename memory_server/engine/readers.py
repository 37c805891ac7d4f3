"""Lets processes search for a server over HTTP, so that it uses several cores: Python runs on one core at a time.

The server keeps sessions, rates, counts and the audit log. A reader gets the values of a call that the server has
checked, and its person, and works on the same database. Readers start when searches come together: a person alone
needs none.
"""

import asyncio
import logging
import os
import pickle
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from typing import Any

import anyio

from memory_server.call import acting, deadline, tally
from memory_server.engine.reader import CLOSING, COUNT, LENGTH, Answer, Request, framed
from memory_server.errors import Mend, Unavailable
from memory_server.mcp.http.metrics import ReaderLoad
from memory_server.mcp.tool import Tool, carry_out_here
from memory_server.settings import Settings
from memory_server.triggers.effort import TriggerEffort

logger = logging.getLogger(__name__)

CARRIED = frozenset(["memory_search", "recall", "retrieve_memories", "smart_resume"])
"""The tools whose calls readers carry out: they take most of the time, and write nothing but counts."""

GRACE = 2.0
"""Seconds beyond its deadline after which a call without an answer shows that its reader hangs."""

COUNTING = 1.0
"""Seconds that a call waits until readers have written what their searches have counted."""

IDLE = 600.0
"""Seconds without a call after which a reader ends: its memory is given back."""

PAUSE = 1.0
LONGEST_PAUSE = 60.0
"""Seconds after the end of a reader until the next one starts, twice as many each time where it never was ready."""


class _Gone(Exception):
    """The reader has ended before it answered."""


class _Reader:
    """One process, and the calls that it carries out."""

    def __init__(self, settings: Settings, effort: TriggerEffort) -> None:
        """Start the process. Linux ends it with the thread that does this: the main thread.

        Raises:
            OSError: it cannot be started.
        """
        self._link, reader_end = socket.socketpair()
        with ExitStack() as ending, reader_end:
            ending.enter_context(self._link)
            program = [sys.executable, "-P", "-m", "memory_server"]
            self.process = subprocess.Popen(  # noqa: S603 - our own program
                [*program, "engine", "read", str(reader_end.fileno()), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[reader_end.fileno()],
                start_new_session=True,
            )
            ending.pop_all()
        self.calls: dict[int, asyncio.Future[Answer]] = {}
        self.is_ready = self.has_ended = self.has_counted = False
        self.answered_at = 0.0
        self._number = 0
        self._effort = effort
        self._writer: asyncio.StreamWriter | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._listening = asyncio.create_task(self._listen(settings))

    async def ask(self, tool: str, values: Mapping[str, Any], seconds: float, grace: float = GRACE) -> Answer:
        """Let it carry out a call; wait `grace` longer than that may take.

        Raises:
            _Gone: it has ended meanwhile.
            TimeoutError: it has not answered.
        """
        if self._writer is None:
            raise _Gone
        self._number += 1
        number = self._number
        self.calls[number] = asyncio.get_running_loop().create_future()
        try:
            self._writer.write(framed(Request(number, tool, values, acting.person(), seconds)))
            with anyio.fail_after(seconds + grace, shield=True):
                return await self.calls[number]
        finally:
            del self.calls[number]

    def kill(self) -> None:
        self.process.kill()

    def leave(self) -> None:
        """Send no more calls: the process ends when it has written what it has counted."""
        self.has_ended = True
        with suppress(OSError):
            self._link.shutdown(socket.SHUT_WR)

    async def _listen(self, settings: Settings) -> None:
        """Take the answers, until the process has ended."""
        stream, self._writer = await asyncio.open_connection(sock=self._link)
        self._writer.write(framed(settings))
        with suppress(asyncio.IncompleteReadError, OSError):
            while True:
                (length,) = LENGTH.unpack(await stream.readexactly(LENGTH.size))
                self._take(pickle.loads(await stream.readexactly(length)))  # noqa: S301 - of our own process
        self.has_ended = True
        for answer in self.calls.values():
            if not answer.done():
                answer.set_exception(_Gone())
        self._writer.close()
        self.kill()
        if (status := await anyio.to_thread.run_sync(self.process.wait)) != 0:
            logger.warning("a reader ended with status %s", status)

    def _take(self, answer: Answer) -> None:
        self.is_ready = True
        self.answered_at = time.monotonic()
        if self._idle is not None:
            self._idle.cancel()
        self._idle = asyncio.get_running_loop().call_later(IDLE, self._leave_idle)
        self._effort.add(*answer.spent)
        waiting = self.calls.get(answer.number)
        if waiting is not None and not waiting.done():
            waiting.set_result(answer)

    def _leave_idle(self) -> None:
        if not self.calls:
            self.leave()


class Readers:
    """The readers of a server, as many as its settings say."""

    def __init__(self, settings: Settings, effort: TriggerEffort) -> None:
        self._settings, self._effort = settings, effort
        self._readers: list[_Reader] = []
        self._here = 0
        """Calls that the server carries out itself, because no reader is ready."""
        self._answered = 0
        self._next_start, self._pause = 0.0, PAUSE

    async def carry_out(self, tool: Tool, values: Mapping[str, Any]) -> dict[str, Any]:
        """Carry out a call, in a reader if it is a search and one is ready.

        Raises:
            Unavailable: the reader has not answered in time.
        """
        if tool.name not in CARRIED or not acting.is_named():
            await self._count()
            return await carry_out_here(tool, values)
        reader = self._chosen()
        if reader is not None:
            try:
                return await self._read(reader, tool, values)
            except _Gone:
                logger.warning("`%s` is carried out by the server itself", tool.name)
        self._here += 1
        try:
            return await carry_out_here(tool, values)
        finally:
            self._here -= 1

    def load(self) -> ReaderLoad:
        running = [reader for reader in self._readers if reader.is_ready and not reader.has_ended]
        return ReaderLoad([reader.process.pid for reader in running], self._answered)

    def close(self) -> None:
        """End all readers."""
        for reader in self._readers:
            if reader.is_ready:
                reader.leave()
            else:
                reader.kill()  # it has counted nothing yet
        ends = time.monotonic() + CLOSING
        for reader in self._readers:
            try:
                reader.process.wait(max(0.0, ends - time.monotonic()))
            except subprocess.TimeoutExpired:
                reader.kill()
                reader.process.wait()

    async def _read(self, reader: _Reader, tool: Tool, values: Mapping[str, Any]) -> dict[str, Any]:
        seconds = deadline.left()
        try:
            answer = await reader.ask(tool.name, values, seconds)
        except TimeoutError as error:
            reader.kill()
            raise Unavailable("The search was not answered in time.", Mend.TRY_AGAIN) from error
        self._answered += 1
        reader.has_counted = True
        tally.time_out(answer.timed_out)
        if answer.error is not None:
            raise answer.error
        return answer.content or {}

    async def _count(self) -> None:
        """Let readers write what their searches have counted, so that the call which follows sees it."""
        for reader in self._readers:
            if reader.has_counted and not reader.has_ended:
                reader.has_counted = False
                with suppress(_Gone, TimeoutError), acting.as_(None):
                    await reader.ask(COUNT, {}, COUNTING, grace=0)

    def _chosen(self) -> _Reader | None:
        """Return the reader with the fewest calls. Start another one where all have some."""
        self._forget_ended()
        ready = [reader for reader in self._readers if reader.is_ready]
        chosen = min(ready, key=lambda reader: (len(reader.calls), -reader.answered_at), default=None)
        is_busy = chosen.calls if chosen else self._here
        may_start = ready == self._readers and time.monotonic() >= self._next_start
        if is_busy and may_start and len(ready) < self._settings.readers:
            self._start()
        return chosen

    def _forget_ended(self) -> None:
        for reader in [reader for reader in self._readers if reader.has_ended]:
            self._readers.remove(reader)
            self._pause = PAUSE if reader.is_ready else min(2 * self._pause, LONGEST_PAUSE)
            self._next_start = time.monotonic() + self._pause

    def _start(self) -> None:
        try:
            self._readers.append(_Reader(self._settings, self._effort))
        except OSError as error:
            logger.warning("no reader can be started: %s", error)
