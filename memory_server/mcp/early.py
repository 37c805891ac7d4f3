"""Answers the first requests of a session while the server is still imported. Imports nothing of the server.

The server hears what it must know when it takes over: the request with which the session begins, the streams on which
the client listens, and all that it has to answer itself.
"""

import json
import os
import select
import signal
import threading
from collections.abc import Mapping
from typing import Any

from memory_server.mcp.first_answers import CORE, LISTED, LISTEN, FirstAnswers, Id, Json, offered, read

RESOURCES = "resources/list"

REQUESTS = 32
"""Requests that are read here, at most."""

LONGEST = 1 << 16
"""Bytes of a line that is read here. A longer one is left to the server, with all that follows."""

FILES = 64
"""Open files that a process must be allowed. With fewer all is left to the server, which says what is missing."""

PREFIX = "MEMORY_SERVER_"

_TRUE = ("1", "true", "t", "yes", "y", "on")


class Early:
    """The input of a session, and what was answered before the server takes over."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._input = self._output = -1
        self._ids: list[Id] = []
        self.heard: list[bytes] = []
        """The lines that the server has to hear although they were read here."""
        self.rest = b""
        """What was read behind them."""
        self.answered: dict[Id, Json] = {}
        """The results that the client has, of requests that the server hears and answers too."""
        self.acknowledged: set[Id] = set()
        """The streams that the client knows to be open."""
        self.resources_listener: Id | None = None
        """The stream on which the client is told that the list of resources has changed."""

    def begin(self, answers: FirstAnswers) -> None:
        """Answer on a thread. A session for which this is not called is left to the server."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: os._exit(0))  # until the server is there; nothing is open yet
        self._stop, self._stops = os.pipe()
        self._output = os.dup(1)  # the SDK turns 1 into the log before the server takes over
        self._input = _claimed_input()
        self._thread = threading.Thread(
            target=self._answer, args=[answers], name="early answers", daemon=True
        )
        self._thread.start()

    @property
    def input(self) -> int:
        """The file of the client's bytes. Standard input itself is the null device then: nothing else reads it."""
        if self._input < 0:
            self._input = _claimed_input()
        return self._input

    def take_over(self) -> None:
        """Answer nothing more. Returns when the answer under way is written."""
        if self._thread is not None:
            os.write(self._stops, b".")
            self._thread.join()
            for file in (self._stop, self._stops, self._output):
                os.close(file)

    def _answer(self, answers: FirstAnswers) -> None:
        while (line := self._line()) is not None and self._take(line, answers):
            self.rest = self.rest[len(line) + 1 :]
            self.resources_listener = answers.resources_listener

    def _take(self, line: bytes, answers: FirstAnswers) -> bool:
        """Answer a line, or keep it for the server. False: the server reads on from here."""
        try:
            message = json.loads(line.decode())
            json.dumps(
                message, ensure_ascii=False
            ).encode()  # fails for a lone surrogate, which the server mends
        except (ValueError, RecursionError):
            return False
        match message:
            case {"jsonrpc": "2.0", "method": "notifications/initialized"} if "id" not in message:
                answers.has_shaken_hands = answers.version is not None
                self.heard.append(line + b"\n")
                return True
            case {"jsonrpc": "2.0", "method": str(method), "id": int() | str() as id} if type(id) is not bool:
                return self._take_request(line + b"\n", id, method, message.get("params"), answers)
        return False

    def _take_request(self, line: bytes, id: Id, method: str, params: Any, answers: FirstAnswers) -> bool:
        """Answer a request, or keep it for the server."""
        if id in self._ids or len(self._ids) == REQUESTS:
            return False
        is_first = answers.version is None
        answer = answers.to(id, method, params)
        if answer is None and is_first:
            return False
        if answer is not None and not self._write(json.dumps(answer, separators=(",", ":")).encode() + b"\n"):
            return False
        self._ids.append(id)
        if answer is None or is_first or method in (LISTEN, RESOURCES):
            self.heard.append(line)
        if answer is not None and method == LISTEN:
            self.acknowledged.add(id)
        elif answer is not None and (is_first or method == RESOURCES):
            self.answered[id] = answer["result"]
        return True

    def _write(self, data: bytes) -> bool:
        """False: the client has gone. The server finds that too, and leaves."""
        while data:
            try:
                data = data[os.write(self._output, data) :]
            except BlockingIOError:
                select.select([], [self._output], [])
            except OSError:
                return False
        return True

    def _line(self) -> bytes | None:
        """The next line, which stays in `rest`; None where the server shall read on."""
        poll = select.poll()
        poll.register(self._input, select.POLLIN)
        poll.register(self._stop, select.POLLIN)
        while b"\n" not in self.rest:
            if len(self.rest) > LONGEST or any(file == self._stop for file, _ in poll.poll()):
                return None
            part = os.read(self._input, LONGEST)
            if not part:
                return None
            self.rest += part
        return self.rest.partition(b"\n")[0]


def begun(flags: Mapping[str, object], environment: Mapping[str, str]) -> Early | None:
    """Begin with what a server with these flags answers.

    None where a person types or nothing is served, and on Windows: there the import of a native library can wait for
    ever beside a blocked read of standard input.
    """
    if os.name == "nt" or os.isatty(0) or 0 < os.sysconf("SC_OPEN_MAX") < FILES:
        return None
    variables = {name.upper(): value for name, value in environment.items() if value}

    def value(name: str) -> str:
        return str(flags.get(name, variables.get(PREFIX + name.upper(), "")))

    if value("http") or value("no_early_answers").lower() in _TRUE:
        return None
    toolsets, tools, without = (
        [part.strip() for part in value(name).split(",") if part.strip()]
        for name in ("toolsets", "tools", "exclude_tools")
    )
    try:
        by_toolset = read(LISTED)
        left = offered(by_toolset, toolsets, tools, without, value("read_only").lower() in _TRUE)
        names = [tool["name"] for members in by_toolset.values() for tool in members]
        if not left or {*toolsets, *tools, *without} - {CORE, *by_toolset, *names}:
            return None  # the server says what is wrong
        early = Early()
        early.begin(FirstAnswers(left))
    except OSError:  # the server itself tells what is wrong, or needs nothing of this
        return None
    return early


def _claimed_input() -> int:
    private = os.dup(0)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return private
