"""The program of the worker process: it runs JavaScript triggers one after the other, all in one frozen realm.

It must be self-contained: it is started by its path, in an interpreter that has only the standard library (no
`memory_server`, no site-packages), and it imports little, so that it starts fast. So it repeats the frame's head
(`child.FRAME`) and the engine's name (`compat.ENGINE`).

A frame is a tag, the length of its body, and the body in UTF-8. The server sends `P` (the prelude with its arguments),
`S` (the situation) and `T` (triggers). The worker answers `P` and `S` with one frame `A` of JSON; `T` with one for each
trigger when it is judged, and then with `D`.
"""

import json
import os
import signal
import struct
import sys
import time
from contextlib import suppress
from typing import Any

FRAME = struct.Struct(">cI")
"""The head of a frame: a tag of one byte, and the length of the body in bytes."""

HEAP = 32 * 1024 * 1024
"""Bytes of the engine's heap; more is an "out of memory" error. A choice: many times a long chat."""

ADDRESS_SPACE = 320 * 1024 * 1024
"""Bytes of address space of the whole process, if the system has such a limit: it stops what HEAP does not count."""

FILES = 8
"""Files that the process may have open: its three pipes, and a few while modules are imported."""

READY = '{"kind":"ready"}'

LATE, MEMORY = '{"kind":"timeout"', '{"kind":"memory"'
"""How the answers begin of a trigger that takes too long, and of one that takes too much memory."""

CPU_SECONDS = 3
"""Seconds of processor time of one request, after which the system ends the process. Normally the server ends it
earlier; this limit works when the server is gone."""


def main() -> None:
    # Ctrl-C reaches the whole process group; the server decides when this process ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    engine, unloadable = _engine(sys.argv[1])
    _fence()
    realm: Realm | None = None
    zone = Zone()
    while (frame := _read()) is not None:
        tag, text = frame
        if tag == b"P" and unloadable:
            _write(b"A", _failure("error", unloadable))
        elif tag == b"P":
            realm = Realm(engine, json.loads(text))
            _write(b"A", READY)
        elif tag == b"S" and realm is not None:
            clock, _, data = text.partition("\n")
            moment = json.loads(clock)
            zone.fit(moment["now"] / 1000, moment["offset"], moment["zone"])
            realm.learn(data, float(moment["now"]), moment["seed"])
            _write(b"A", READY)
        elif tag == b"T" and realm is not None:
            _judge(realm, json.loads(text))


def _judge(realm: "Realm", request: Any) -> None:
    """Answer each trigger of a request, until `stint` seconds are over: the server asks for the others again."""
    _allow_cpu()
    _end_with_parent(True)
    seconds, ends = request["seconds"], time.monotonic() + request["stint"]
    for index, source, more in request["triggers"]:
        answer = realm.judge(source, index, "" if more is None else json.dumps(more), seconds)
        _write(b"A", answer)
        realm.renew()  # while the server reads the answer
        if time.monotonic() >= ends:
            break
    _end_with_parent(False)
    _write(b"D", "")


def _engine(folder: str) -> tuple[Any, str]:
    """The engine's extension module alone: the package around it needs 20 ms to import parts that are not used here.

    Where it cannot be loaded, what the system says of it.
    """
    sys.path.append(folder)
    try:
        return __import__("_quickjs"), ""
    except ImportError as error:
        return None, str(error) or "ImportError"


def _fence() -> None:
    """Limit the resources of this process, on systems that have such limits."""
    try:
        import resource
    except ImportError:
        return
    limits = {"AS": ADDRESS_SPACE, "NOFILE": FILES, "FSIZE": 0, "CORE": 0, "NPROC": 0}
    for name, most in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}", None)
        if kind is None:
            continue
        try:
            resource.setrlimit(kind, (most, most))
        except (OSError, ValueError):  # a system that names this limit but does not support it
            continue


def _allow_cpu() -> None:
    try:
        import resource
    except ImportError:
        return
    most = resource.getrlimit(resource.RLIMIT_CPU)[1]
    soft = int(time.process_time()) + CPU_SECONDS
    if most == resource.RLIM_INFINITY or soft <= most:
        resource.setrlimit(resource.RLIMIT_CPU, (soft, most))


def _end_with_parent(at_work: bool) -> None:
    """While a trigger runs, let the system end this process when its input closes: no loop or native call delays that.

    On systems where a pipe sends no such signal, the limit of processor time ends it.
    """
    try:
        import fcntl
    except ImportError:
        return
    fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(0, fcntl.F_SETFL, os.O_ASYNC if at_work else 0)


class Zone:
    """The local time zone: that of the process, unless the situation has another offset."""

    def __init__(self) -> None:
        self._zone: str | None = None

    def fit(self, now: float, offset: int, zone: str | None) -> None:
        if not hasattr(time, "tzset"):
            return
        if zone is not None and zone != self._zone:
            self._set(zone)
        if time.localtime(now).tm_gmtoff != offset:
            sign = "-" if offset >= 0 else "+"  # POSIX counts westward
            hours, seconds = divmod(abs(offset), 3600)
            self._set(f"<here>{sign}{hours}:{seconds // 60:02}:{seconds % 60:02}")

    def _set(self, zone: str) -> None:
        os.environ["TZ"] = zone
        time.tzset()
        self._zone = zone


class Realm:
    """The context in which all triggers run, made anew when one has ended it or filled its memory."""

    def __init__(self, engine: Any, prelude: list[str]) -> None:
        """`prelude` is a script that gives a function, and the arguments of that."""
        self._engine = engine
        self._prelude = prelude
        self._situation: tuple[str, float] | None = None
        self._seed = 0
        self._used = self._spent = False
        self._make()

    def learn(self, data: str, now: float, seed: int) -> None:
        """Take the situation of the following triggers."""
        self._situation, self._seed = (data, now), seed
        self._tell()

    def judge(self, source: str, index: int, more: str, seconds: float) -> str:
        """The prelude's answer with its processor time, or a failure if it could not answer.

        A failure that what others have left in the context may have caused counts only in a context of its own.
        """
        for attempt in range(2):
            others, self._used = self._used, True
            self._context.set_time_limit(seconds)
            began = time.process_time()
            answer = self._answer(source, index, more)
            cpu = 1000 * (time.process_time() - began)
            if not (self._spent and others and attempt == 0) or answer.startswith(LATE):
                break
            self._make()
        return f'{answer[:-1]},"cpu":{cpu:.4f}}}'

    def renew(self) -> None:
        """Make the context anew, if it has ended or its memory was full."""
        if self._spent:
            self._make()

    def _make(self) -> None:
        self._context = self._engine.Context()
        self._context.set_memory_limit(HEAP)
        script, *arguments = self._prelude
        self._evaluate = self._context.eval(script)(*arguments)
        self._used = self._spent = False
        self._tell()

    def _tell(self) -> None:
        if self._situation is not None:
            data, now = self._situation
            self._context.set_time_limit(-1)
            with suppress(
                MemoryError, self._engine.JSException
            ):  # then each trigger says that it is too long
                self._evaluate(None, now, 0, data)

    def _answer(self, source: str, index: int, more: str) -> str:
        try:
            answer: str = self._evaluate(source, self._seed, index, more)
        except self._engine.StackOverflow:
            answer = _failure("error", "it recurses too deeply")
        except MemoryError:
            answer = _failure("memory", "it takes too much memory")
        except (self._engine.JSException, ValueError) as error:
            answer = _ended(str(error))
        else:
            self._spent = answer.startswith(MEMORY)
            return answer
        self._spent = True
        return answer


def _ended(text: str) -> str:
    """The failure that an error of the engine stands for."""
    if text.startswith("InternalError: interrupted"):
        return _failure("timeout", "it takes too long")
    if text.startswith(("null", "InternalError: out of memory")):
        return _failure("memory", "it takes too much memory")
    return _failure("error", text.partition("\n")[0][:400])  # without the stack, which is the prelude's


def _failure(kind: str, message: str) -> str:
    return json.dumps({"kind": kind, "message": message}, separators=(",", ":"))


def _read() -> tuple[bytes, str] | None:
    """The next frame; None when the server is gone."""
    head = sys.stdin.buffer.read(FRAME.size)
    if len(head) < FRAME.size:
        return None
    tag, length = FRAME.unpack(head)
    body = sys.stdin.buffer.read(length)
    return (tag, body.decode()) if len(body) == length else None


def _write(tag: bytes, answer: str) -> None:
    body = answer.encode(errors="backslashreplace")
    os.write(1, FRAME.pack(tag, len(body)) + body)


if __name__ == "__main__":
    main()
