"""Answers the first requests of a session while the server is still imported, as it answered them in an earlier one.

An answer is known by the program, its settings and all that the client has said so far, the ids of its requests aside:
so a client gets from here what the server has answered to exactly this beginning. The server hears it all the same;
its own answer is compared, and not sent. Imports nothing of the server.
"""

import hashlib
import json
import os
import select
import signal
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from memory_server.mcp.kept_answers import KeptAnswers

REQUESTS = ("initialize", "server/discover", "tools/list", "ping")
"""Their answers depend on the program and its settings, never on the file or the project."""

INITIALIZED = "notifications/initialized"

MESSAGES = 8
"""Messages at the beginning of a session that are answered from here."""

LONGEST = 1 << 16
"""Bytes of a line that is read here. A longer one is left to the server."""

Id = int | str


class Beginning:
    """What a client has said so far."""

    def __init__(self) -> None:
        self._said = hashlib.sha256()
        self._ids: list[Id] = []
        self._left = MESSAGES

    def goes_on(self, line: bytes) -> tuple[Id | None, str] | None:
        """The id of the next message, None in a notification, and the name of its answer.

        None where that answer may depend on more, or the line is no message, or its id was there before.
        """
        try:
            message = json.loads(line.decode())
            is_request, method = "id" in message, message["method"]
            id = message.pop("id", None)
            _json(id).encode()  # a lone surrogate is sent back as another letter
        except (ValueError, TypeError, LookupError, RecursionError):
            return None
        if is_request:
            if type(id) not in (int, str) or id in self._ids or method not in REQUESTS:
                return None
            self._ids.append(id)
        elif method != INITIALIZED:
            return None
        self._left -= 1
        self._said.update(json.dumps(message, sort_keys=True).encode() + b"\n")
        return (id, self._said.hexdigest()) if self._left >= 0 else None


class Early:
    """The answers of earlier sessions: given until the server takes over, then compared and completed."""

    def __init__(self, kept: KeptAnswers | None = None) -> None:
        """Without a file nothing is answered early, and nothing learnt."""
        self._kept = kept
        self._known = kept.read() if kept else {}
        self._beginning = Beginning() if kept else None
        self._names: dict[Id, str] = {}
        self._owed: dict[Id, str] = {}
        self._thread: threading.Thread | None = None
        self._input = self._output = -1
        self.answered: list[bytes] = []
        """The lines that were answered here."""
        self.rest = b""
        """What was read behind them."""
        self.has_learnt = False
        """Whether the server has given answers that are not kept yet."""
        self._keeping = threading.Lock()

    def begin(self) -> None:
        """Answer on a thread, if any answer is known."""
        if self._known:
            for each in (signal.SIGTERM, signal.SIGINT):
                signal.signal(each, lambda *_: os._exit(0))  # until the server is there; nothing is open yet
            self._stop, self._stops = os.pipe()
            self._output = os.dup(1)  # the SDK turns 1 into the log before the server takes over
            self._input = _claimed_input()
            self._thread = threading.Thread(target=self._answer, name="early answers", daemon=True)
            self._thread.start()

    @property
    def input(self) -> int:
        """Where the client's bytes come from. Standard input itself is the null device then: nothing else reads it."""
        if self._input < 0:
            self._input = _claimed_input()
        return self._input

    def take_over(self) -> None:
        """Answer nothing more. Returns when the answer under way is written."""
        if self._thread is not None:
            os.write(self._stops, b".")
            self._thread.join()
            for each in (self._stop, self._stops, self._output):
                os.close(each)

    def heard(self, line: bytes) -> None:
        """The server has read this line."""
        found = self._beginning.goes_on(line) if self._beginning is not None else None
        if found is None:
            self._beginning = None
        elif found[0] is not None:
            self._names[found[0]] = found[1]

    def owes(self) -> bool:
        """Whether the server has not answered yet what was answered here."""
        return bool(self._owed)

    def settled(self, id: Id, result: dict[str, Any] | None) -> bool | None:
        """The server has answered a request; a result of None stands for an error.

        True: the client has this answer from here. False: it has none yet. None: it was given another one, which is
        forgotten now.
        """
        name, given = self._names.pop(id, None), self._owed.pop(id, None)
        answer = None if result is None else _json(result)
        if name is not None and self._known.get(name) != answer:
            self._known.pop(name, None)
            if answer is not None:
                self._known[name] = answer
            self.has_learnt = True
        return given is not None if given in (None, answer) else None

    def keep(self) -> None:
        """Keep what was learnt.

        Raises:
            OSError: the folder takes no file.
        """
        with self._keeping:
            if self.has_learnt and self._kept is not None:
                self.has_learnt = False
                self._kept.write(dict(self._known))

    def _answer(self) -> None:
        beginning = Beginning()
        while (line := self._line()) is not None and (found := beginning.goes_on(line)) is not None:
            id, name = found
            if id is not None:
                if name not in self._known:
                    return
                answer = f'{{"jsonrpc":"2.0","id":{_json(id)},"result":{self._known[name]}}}\n'
                try:
                    self._write(answer.encode())
                except OSError:  # the client has gone: the server finds that too, and leaves
                    return
                self._owed[id] = self._known[name]
            self.rest = self.rest[len(line) + 1 :]
            self.answered.append(line + b"\n")

    def _write(self, data: bytes) -> None:
        while data:
            try:
                data = data[os.write(self._output, data) :]
            except BlockingIOError:
                select.select([], [self._output], [])

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


def begun(arguments: Sequence[str], environment: Mapping[str, str]) -> Early | None:
    """Begin, with what a server with these arguments has answered.

    None where a person types, and on Windows: there the import of a native library can wait for ever beside a blocked
    read of standard input.
    """
    if os.name == "nt" or "_MEMORY_SERVER_COMPLETE" in environment or os.isatty(0):
        return None
    try:
        early = Early(KeptAnswers.of(arguments, environment))
        early.begin()
    except OSError:  # the server itself tells what is wrong, or needs nothing of this
        return None
    return early


def _claimed_input() -> int:
    private = os.dup(0)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return private


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
