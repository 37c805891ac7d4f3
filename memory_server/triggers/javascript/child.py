"""The worker process as its parent holds it: questions with a deadline, kept by killing."""

import importlib.util
import json
import struct
import subprocess
import sys
import threading
import time
from math import inf
from pathlib import Path
from typing import IO, Any, cast

FRAME = struct.Struct(">cI")
LONGEST_ANSWER = 65_536
PROGRAM = Path(__file__).with_name("worker.py")


class Died(Exception):
    """The worker is gone; `late` when it was killed because the time for its answer was over."""

    def __init__(self, reason: str, late: bool) -> None:
        super().__init__(reason)
        self.late = late


class Child:
    """One worker process. A thread of its own kills it at the deadline, whatever it does or does not do.

    Reading and writing may then block without harm, on every system: killed, the process closes its pipes.
    """

    def __init__(self, time_zone: str | None) -> None:
        """Start it.

        Raises:
            OSError: it cannot be started.
        """
        if not sys.executable:
            raise OSError("where Python itself lies is not known")
        self.situation: bytes | None = None
        self._deadline: float | None = None
        self._late = False
        self._closed = False
        self._wakes = inf
        self._changed = threading.Condition()
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-I", "-S", "-B", str(PROGRAM), _engine_folder()],
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

    def tell(self, tag: bytes, body: bytes, deadline: float) -> None:
        """Send what is not answered.

        Raises:
            Died: before it was sent.
        """
        self._until(deadline)
        try:
            self._send(tag, body)
        finally:
            self._until(None)

    def learn(self, situation: bytes, deadline: float) -> None:
        """Give it the situation of the triggers to come.

        Raises:
            Died: before it had understood.
        """
        self.situation = None
        self.ask(b"S", situation, deadline)
        self.situation = situation

    def ask(self, tag: bytes, body: bytes, deadline: float) -> dict[str, Any]:
        """Send, and wait for the answer.

        Raises:
            Died: before it was answered, or with an answer that is none.
        """
        self._until(deadline)
        try:
            self._send(tag, body)
            _, length = FRAME.unpack(self._receive(FRAME.size))
            if length > LONGEST_ANSWER:
                raise Died("it answers with noise", late=False)
            answer = json.loads(self._receive(length))
        except (ValueError, RecursionError) as error:
            raise Died("it answers with noise", late=False) from error
        finally:
            self._until(None)
        if not isinstance(answer, dict):
            raise Died("it answers with noise", late=False)
        return answer

    def kill(self) -> None:
        """Whoever waits for an answer gets none."""
        self._process.kill()

    def close(self) -> None:
        """Kill it and reap it. Nothing is waiting in it that would be lost."""
        with self._changed:
            self._closed = True
            self._process.kill()
            self._changed.notify()
        self._watch.join()
        self._process.wait()
        self._to.close()
        self._from.close()

    def _send(self, tag: bytes, body: bytes) -> None:
        rest = memoryview(FRAME.pack(tag, len(body)) + body)
        try:
            while rest:
                rest = rest[self._to.write(rest) :]
        except OSError as error:
            raise Died(self._end(), self._late) from error

    def _receive(self, length: int) -> bytes:
        parts = []
        while length:
            part = self._from.read(length)
            if not part:
                raise Died(self._end(), self._late)
            parts.append(part)
            length -= len(part)
        return b"".join(parts)

    def _end(self) -> str:
        """How it ended, which its closed pipe foretold."""
        self._process.kill()
        return f"it ended with status {self._process.wait()}"

    def _until(self, deadline: float | None) -> None:
        """Ask the watch to kill at the deadline. It is woken only if it would sleep longer than that."""
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


def _engine_folder() -> str:
    """Where the engine lies, found without loading it.

    Raises:
        OSError: it is not installed.
    """
    found = importlib.util.find_spec("_quickjs")
    if found is None or found.origin is None:
        raise OSError("the package quickjs-ng is not installed")
    return str(Path(found.origin).parent)


def _environment(time_zone: str | None) -> dict[str, str]:
    """Nothing of the server's but its time zone, and what Windows cannot start a program without."""
    environment = {} if time_zone is None else {"TZ": time_zone}
    if sys.platform == "win32":
        import ctypes

        folder = ctypes.create_unicode_buffer(260)
        ctypes.windll.kernel32.GetWindowsDirectoryW(folder, 260)
        environment["SYSTEMROOT"] = folder.value
    return environment
