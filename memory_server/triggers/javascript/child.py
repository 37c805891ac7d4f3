"""The worker process, seen from the server: each request has a deadline, and a late worker is killed."""

import json
import struct
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import IO, Any, cast

FRAME = struct.Struct(">cI")
"""The head of a frame, the same as in the worker: a tag of one byte, and the length of the body in bytes."""

LONGEST_ANSWER = 65_536
"""Bytes; a longer answer counts as malformed. The texts in an answer are cut to a few thousand characters each, so
honest answers are much shorter."""

LULL = 0.0005
"""Seconds to wait after answers before the next are read: to wake up for each would take a third of the time."""

PROGRAM = Path(__file__).with_name("worker.py")
"""The program that the process runs."""

MALFORMED = "the worker returned malformed output"
"""The error text when an answer is too long or not a JSON object."""


class Died(Exception):
    """The worker has ended, or its output is unusable; `late` if it was killed because its deadline had passed."""

    def __init__(self, reason: str, late: bool) -> None:
        super().__init__(reason)
        self.late = late


@dataclass(slots=True)
class Answers:
    """The answers to triggers in their order, and how the worker died at the one after these, if it did.

    `since` is when the last one came, so that the next began.
    """

    received: list[dict[str, Any]]
    died: Died | None
    since: float


class Child:
    """One worker process. A thread of its own kills it at the deadline, whatever it is doing.

    So a blocked read or write never hangs, on any system: when the process is killed, its pipes close.
    """

    def __init__(self, engine_folder: str, time_zone: str | None) -> None:
        """Start the process.

        Raises:
            OSError: it cannot be started.
        """
        if not sys.executable:
            raise OSError("the path of the Python interpreter is not known")
        self.situation: bytes | None = None
        self._deadline: float | None = None
        self._late = False
        self._closed = False
        self._wakes = inf
        self._received = bytearray()
        self._changed = threading.Condition()
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-I", "-S", "-B", str(PROGRAM), engine_folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            cwd=Path(sys.executable).anchor or "/",
            env=_environment(time_zone),
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        self._to = cast(IO[bytes], self._process.stdin)
        self._from = cast(IO[bytes], self._process.stdout)
        self._watch = threading.Thread(target=self._keep_deadlines, name="trigger worker", daemon=True)
        self._watch.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return not self._closed and self._process.poll() is None

    def learn(self, situation: bytes, deadline: float) -> None:
        """Send the situation for the following triggers.

        Raises:
            Died: the worker ended before it confirmed.
        """
        self.situation = None
        self.ask(b"S", situation, deadline)
        self.situation = situation

    def ask(self, tag: bytes, body: bytes, deadline: float) -> dict[str, Any]:
        """Send a frame and wait for its answer.

        Raises:
            Died: the worker ended before it answered, or its answer is malformed.
        """
        self._until(deadline)
        try:
            self._send(tag, body)
            while (frame := self._frame()) is None:
                self._receive()
            return _read(frame[1])
        finally:
            self._until(None)

    def judge(self, body: bytes, seconds: float, ends: float) -> "Answers":
        """Send triggers and return the answers of those that were judged: each has `seconds`, and all end at `ends`.

        It never raises Died: the answers say how the worker died at the next one.
        """
        answers = Answers([], None, time.monotonic())
        self._until(min(answers.since + seconds, ends))
        try:
            self._send(b"T", body)
            while True:
                before = len(answers.received)
                while (frame := self._frame()) is not None:
                    if frame[0] == b"D":
                        return answers
                    answers.received.append(_read(frame[1]))
                if len(answers.received) > before:
                    answers.since = time.monotonic()
                    self._until(min(answers.since + seconds, ends))
                    time.sleep(LULL)
                self._receive()
        except Died as died:
            answers.died = died
            return answers
        finally:
            self._until(None)

    def kill(self) -> None:
        """Kill the process; a thread that waits for an answer gets Died."""
        self._process.kill()

    def close(self) -> None:
        """Kill the process and wait for its end. The worker keeps no data, so nothing is lost."""
        with self._changed:
            self._closed = True
            self._process.kill()
            self._changed.notify()
        self._watch.join()
        self._process.wait()
        self._to.close()
        self._from.close()

    def _send(self, tag: bytes, body: bytes) -> None:
        unsent = memoryview(FRAME.pack(tag, len(body)) + body)
        try:
            while unsent:
                unsent = unsent[self._to.write(unsent) :]
        except OSError as error:
            raise Died(self._end(), self._late) from error

    def _frame(self) -> tuple[bytes, bytes] | None:
        """Take the next frame of what was received; None where it is not there as a whole."""
        if len(self._received) < FRAME.size:
            return None
        tag, length = FRAME.unpack_from(self._received)
        if length > LONGEST_ANSWER:
            raise Died(MALFORMED, late=False)
        end = FRAME.size + length
        if len(self._received) < end:
            return None
        body = bytes(self._received[FRAME.size : end])
        del self._received[:end]
        return tag, body

    def _receive(self) -> None:
        part = self._from.read(LONGEST_ANSWER)
        if not part:
            raise Died(self._end(), self._late)
        self._received += part

    def _end(self) -> str:
        """Its exit status in words. Called when a pipe is closed: the process has ended or is about to."""
        self._process.kill()
        return f"the worker ended with status {self._process.wait()}"

    def _until(self, deadline: float | None) -> None:
        """Set the deadline for the watching thread, which is woken only if it would otherwise sleep past it."""
        with self._changed:
            self._deadline = deadline
            if deadline is not None:
                self._late = False
                if deadline < self._wakes:
                    self._changed.notify()

    def _keep_deadlines(self) -> None:
        with self._changed:
            while not self._closed:
                if self._deadline is None:
                    self._wakes = inf
                    self._changed.wait()
                elif (left := self._deadline - time.monotonic()) > 0:
                    self._wakes = self._deadline
                    self._changed.wait(left)
                else:
                    self._late = True
                    self._deadline = None
                    self._process.kill()


def _read(body: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Died(MALFORMED, late=False) from error
    if not isinstance(answer, dict):
        raise Died(MALFORMED, late=False)
    return answer


def _environment(time_zone: str | None) -> dict[str, str]:
    """The worker's environment: the server's time zone, and the one variable that Windows needs to start a program."""
    environment = {} if time_zone is None else {"TZ": time_zone}
    if sys.platform == "win32":
        import ctypes

        folder = ctypes.create_unicode_buffer(260)
        ctypes.windll.kernel32.GetWindowsDirectoryW(folder, 260)
        environment["SYSTEMROOT"] = folder.value
    return environment
