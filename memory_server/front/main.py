"""Serves a client on standard input and output: answers what it can, and relays the rest to an engine.

One thread reads the client, one the engine, and one gives up what an engine does not answer.
"""

import io
import os
import select
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial

from memory_server import flags
from memory_server.front.session import PATIENCE, Session, session_of

FILES = 64
"""Open files that a process must be allowed. With fewer the server itself says what is missing."""

GRACE = 1.4
"""Seconds from the end of the client's input to the end of the process, where a call is not answered. The official SDKs
wait 2 before they send a signal."""

STEPS = 10
"""The waits for GRACE consist of so many sleeps. While the system stops this process, only one of them ends."""

GREETING = 15.0
"""Seconds from the start of an engine to its first word."""


class Front:
    """One client on standard input and output. It takes their place: nothing else reads or prints there."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._input, self._output = _claimed()
        self._link: socket.socket | None = None
        self._has_ended = False
        self._lines_read = 0
        self._state = threading.Condition()
        self._sending, self._writing = threading.Lock(), threading.Lock()
        self.leave: Callable[[], None] = _exit
        """What ends the process when the client has gone."""

    def start(self) -> None:
        """Answer from now on."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(
                number, lambda *_: _exit()
            )  # until a server of this process is there; nothing is open yet
        watches = [self._hear_client, self._give_up, *([] if os.name == "nt" else [self._watch_for_hang_up])]
        for watch in watches:
            threading.Thread(target=watch, name=watch.__name__, daemon=True).start()

    def relay(self, reach: Callable[[], socket.socket], hello: bytes) -> None:
        """Relay to an engine until the client leaves, which ends the process. One that has ended is replaced when it
        is needed.

        `reach` connects.

        Raises:
            OSError: there can be no engine, or no other one.
        """
        while True:
            self.relay_over(_greeted(reach, hello))
            with self._state:
                self._state.wait_for(lambda: self._session.needs_engine)

    def relay_over(self, link: socket.socket) -> None:
        """Relay until the engine at the other end has gone."""
        self._attach(link)
        with suppress(OSError):
            for line in link.makefile("rb"):
                with self._state:
                    answer = self._session.from_engine(line)
                if answer is not None:
                    self._write([answer])
        with suppress(OSError):
            link.shutdown(socket.SHUT_RDWR)
        with self._sending, self._state:
            self._link = None
            answers = self._session.lost()
        self._write(answers)
        if self._has_ended and not self._session.needs_engine:
            self.leave()

    def _attach(self, link: socket.socket) -> None:
        with self._sending:
            with self._state:
                lines = self._session.resumed()
                self._link, has_ended = link, self._has_ended
                self._state.notify_all()
            _send(link, b"".join(lines))  # what it did not hear is seen with its end
            if has_ended:
                with suppress(OSError):
                    link.shutdown(socket.SHUT_WR)

    def _hear_client(self) -> None:
        with io.BufferedReader(io.FileIO(self._input, "rb", closefd=False)) as lines:
            for line in lines:
                self._lines_read += 1
                if line.strip():
                    self._take(line if line.endswith(b"\n") else line + b"\n")
        self._end()

    def _take(self, line: bytes) -> None:
        with self._sending:
            with self._state:
                answer, is_for_engine = self._session.from_client(
                    line, time.monotonic(), self._link is not None
                )
                link = self._link
                self._state.notify_all()
            if link is not None and is_for_engine and not _send(link, line):
                with self._state:
                    self._session.not_sent(line)
        if answer is not None:
            self._write([answer])

    def _end(self) -> None:
        """The client has closed its end: calls that run are still answered, if they end soon. Then the engine closes
        its own.
        """
        with self._sending, self._state:
            self._has_ended = True
            if self._link is not None:
                with suppress(OSError):
                    self._link.shutdown(socket.SHUT_WR)
        link = self._next_link()
        _wait_grace()
        while (newer := self._next_link()) is not link:
            link = newer
            for _ in range(int(GREETING / GRACE)):  # it has just started
                if self._session.needs_engine:
                    _wait_grace()
        self.leave()

    def _next_link(self) -> socket.socket | None:
        """Wait for an engine where something needs one; None where there is none."""
        with self._state:
            self._state.wait_for(lambda: not self._waits_for_engine(), GREETING)
            return self._link

    def _watch_for_hang_up(self) -> None:
        """Leave when the client has closed its end and no further line is read.

        A client that does not read its answers keeps the next line from being read, and so the end behind the last.
        """
        poll = select.poll()
        poll.register(self._input, 0)  # a hang-up is told without being asked for
        poll.poll()
        lines_read = -1
        while lines_read != self._lines_read or self._waits_for_engine():
            lines_read = self._lines_read
            _wait_grace()
        if not self._has_ended:  # else the thread that reads has seen the end
            self.leave()

    def _waits_for_engine(self) -> bool:
        return self._link is None and self._session.needs_engine

    def _give_up(self) -> None:
        while True:
            with self._state:
                ends = self._session.ends
                self._state.wait(None if ends is None else max(0.0, ends - time.monotonic()))
                answers = self._session.given_up(time.monotonic()) if ends is not None else []
            self._write(answers)

    def _write(self, lines: Sequence[bytes]) -> None:
        with self._writing:
            data = b"".join(lines)
            while data:
                try:
                    data = data[os.write(self._output, data) :]
                except BlockingIOError:
                    select.select([], [self._output], [])
                except OSError:  # the client has gone
                    self.leave()
                    return


def begun(server_flags: Mapping[str, object], environment: Mapping[str, str]) -> Front | None:
    """Begin to answer what a server with these flags answers.

    None where a person types or nothing is served, and on Windows: there the import of a native library can wait for
    ever beside a blocked read of standard input.
    """
    if os.name == "nt" or _is_terminal() or 0 < os.sysconf("SC_OPEN_MAX") < FILES:
        return None
    if flags.value_of("http", server_flags, environment):
        return None
    session = session_of(server_flags, environment)
    if session is None:
        return None
    front = Front(session)
    front.start()
    return front


def relayed(front: Front, server_flags: Mapping[str, object], environment: Mapping[str, str]) -> None:
    """Relay to an engine until the client leaves, which ends the process. Returns where there can be no engine."""
    from memory_server import defaults
    from memory_server.front import finding

    if not finding.may_be_used(server_flags, environment):
        return
    try:
        engine = finding.wanted(server_flags, environment)
    except ValueError:  # the server of this process says what is wrong
        return
    session = finding.of_a_session(server_flags, environment)
    hello = finding.hello(engine, session=session, folder=str(defaults.folder()))
    with suppress(OSError):  # the server of this process needs no socket
        front.relay(partial(finding.reach, engine), hello)


def _greeted(reach: Callable[[], socket.socket], hello: bytes, tries: int = 3) -> socket.socket:
    """Connect to an engine that serves. One may end just when a client connects.

    Raises:
        OSError: there can be none.
    """
    try:
        link = reach()
        link.settimeout(GREETING)
        link.sendall(hello)
        if not link.recv(1):
            raise ConnectionResetError("the engine ended at its start")
    except ConnectionError:
        if tries == 1:
            raise
        return _greeted(reach, hello, tries - 1)
    link.settimeout(None)
    link.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", int(PATIENCE), 0))
    return link


def _send(link: socket.socket, data: bytes) -> bool:
    """Send it to the engine; False where that has ended. One that reads nothing for PATIENCE seconds is left."""
    try:
        link.sendall(data)
    except BlockingIOError:
        with suppress(OSError):
            link.shutdown(socket.SHUT_RDWR)
    except OSError:
        return False
    return True


def _claimed() -> tuple[int, int]:
    """Take standard input and output: what else reads there finds an end, what else prints goes to standard error."""
    files = []
    null = os.open(os.devnull, os.O_RDWR)
    for standard, instead in ((0, null), (1, 2)):
        try:
            files.append(os.dup(standard))
        except OSError:  # it is closed
            files.append(os.dup(null))
        with suppress(OSError):
            os.dup2(instead, standard)
    os.close(null)
    return files[0], files[1]


def _is_terminal() -> bool:
    try:
        return os.isatty(0)
    except OSError:
        return False


def _exit() -> None:
    os._exit(0)


def _wait_grace() -> None:
    for _ in range(STEPS):
        time.sleep(GRACE / STEPS)
