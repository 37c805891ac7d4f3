"""A process that carries out calls for a server over HTTP, which starts it: see `readers.py`.

It ends with the server: when their link is closed, and on Linux also where it is stopped just then.
"""

import ctypes
import os
import pickle
import signal
import socket
import struct
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple, NoReturn

from memory_server import app
from memory_server.call import acting, deadline
from memory_server.call.tally import tallied
from memory_server.domain.caller import Person
from memory_server.engine import arenas, garbage
from memory_server.engine.served import work_of
from memory_server.errors import MemoryServerError
from memory_server.mcp.server import CALLS_AT_ONCE
from memory_server.settings import Settings

LENGTH = struct.Struct(">Q")
"""The head of a frame: the bytes of its body, a pickle. Both ends are of one user and one program."""

COUNT = ""
"""The name of a call that writes what searches have counted."""

CLOSING = 2.0
"""Seconds that a reader has to write what it has counted, when the server ends."""

_WITH_ITS_PARENT = 1
"""PR_SET_PDEATHSIG of prctl(2): the signal that the system sends when the parent has ended."""


class Request(NamedTuple):
    """A call of a tool with values that were checked, for a person, which may take so many seconds."""

    number: int
    tool: str
    values: Mapping[str, Any]
    person: Person | None
    seconds: float


class Answer(NamedTuple):
    """The answer to a request, or why there is none. The first one, to 0, says that the reader is ready.

    `timed_out` counts triggers of the call; `spent` is the work since the last answer, as `TriggerEffort.add` takes it.
    """

    number: int
    content: dict[str, Any] | None = None
    error: Exception | None = None
    timed_out: int = 0
    spent: tuple[int, float, int, float] = (0, 0.0, 0, 0.0)


def framed(message: object) -> bytes:
    body = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return LENGTH.pack(len(body)) + body


class Reader:
    """Answers requests, several at the same time."""

    def __init__(self, link: socket.socket, settings: Settings) -> None:
        self._link = link
        self._services = app.build(settings, several=True)
        self._tools = work_of(self._services, None).tools
        self._before = (0, 0.0, 0, 0.0)
        self._sending = threading.Lock()

    def serve(self, requests: Callable[[], Request | None]) -> None:
        """Answer until there are no more requests."""
        garbage.look_from_now()
        self._services.follow()
        arenas.give_back_what_loading_took()
        self._send(Answer(0))
        threads = ThreadPoolExecutor(CALLS_AT_ONCE)
        while (request := requests()) is not None:
            carried_out = threads.submit(self._carried_out, request)
            carried_out.add_done_callback(partial(self._tell, request.number))

    def close(self) -> None:
        self._services.close(CLOSING)

    def _carried_out(self, request: Request) -> tuple[dict[str, Any], int]:
        with acting.as_(request.person), deadline.within(request.seconds), tallied() as tally:
            if request.tool == COUNT:
                self._services.database.settle()
                return {}, 0
            return self._tools[request.tool].carried_out(request.values), tally.timed_out

    def _tell(self, number: int, carried_out: Future[tuple[dict[str, Any], int]]) -> None:
        error = carried_out.exception()
        if error is None:
            content, timed_out = carried_out.result()
            self._send(Answer(number, content, None, timed_out))
        elif isinstance(error, MemoryServerError | MemoryError | OSError):
            self._send(Answer(number, error=error))
        else:
            self._send(Answer(number, error=RuntimeError("".join(traceback.format_exception(error)))))

    def _send(self, answer: Answer) -> None:
        effort = self._services.effort
        with self._sending, suppress(OSError):  # the server has ended, which `serve` sees too
            now = (effort.evaluated, effort.seconds, effort.restarts, time.process_time())
            evaluated, seconds, restarts, cpu = (
                new - old for new, old in zip(now, self._before, strict=True)
            )
            self._before = now
            spent = (int(evaluated), seconds, int(restarts), cpu)
            self._link.sendall(framed(answer._replace(spent=spent)))


def run(link: int, server: int, set_up: Callable[[Settings], None]) -> NoReturn:
    """Serve the process `server` over the socket `link`, until it closes that or ends."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _go_on)
    _end_with(server)
    connected = socket.socket(fileno=link)
    frames = connected.makefile("rb")

    def receive() -> Any:
        head = frames.read(LENGTH.size)
        length = LENGTH.unpack(head)[0] if len(head) == LENGTH.size else 0
        body = frames.read(length)
        return pickle.loads(body) if body and len(body) == length else None  # noqa: S301 - of the server

    settings = receive()
    if settings is not None:
        set_up(settings)
        reader = Reader(connected, settings)
        with suppress(OSError):  # the server has ended
            reader.serve(receive)
        threading.Timer(2 * CLOSING, os._exit, [0]).start()
        reader.close()
    os._exit(0)


def _go_on(*_: object) -> None:
    """A terminal and systemd tell every process of a server to end: the server itself ends its readers."""


def _end_with(server: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_WITH_ITS_PARENT, signal.SIGKILL)
        if os.getppid() != server:
            os._exit(0)
