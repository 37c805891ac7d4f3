"""The program of the worker process: it runs JavaScript triggers one after the other, each in a fresh context.

It must be self-contained: it is started by its path, in an interpreter that has only the standard library (no
`memory_server`, no site-packages), and it imports little, so that it starts fast. So it repeats the frame's head
(`child.FRAME`) and the engine's name (`compat.ENGINE`).

A frame is a tag, the length of its body, and the body in UTF-8. The server sends `C` (the table of characters), `L`
(dates in words), `I` (the inspection), `P` (the prelude), `S` (the situation) and `T` (a trigger); the worker answers
`P`, `S` and `T` with one frame of JSON each.
"""

import json
import os
import signal
import struct
import sys
import time
from typing import Any

FRAME = struct.Struct(">cI")
"""The head of a frame: a tag of one byte, and the length of the body in bytes."""

HEAP = 32 * 1024 * 1024
"""Bytes of the engine's heap for one trigger; more is an "out of memory" error. A choice: many times a long chat."""

ADDRESS_SPACE = 320 * 1024 * 1024
"""Bytes of address space of the whole process, if the system has such a limit: it stops what HEAP does not count."""

FILES = 8
"""Files that the process may have open: its three pipes, and a few while modules are imported."""

CPU_SECONDS = 3
"""Seconds of processor time of one trigger, after which the system ends the process. Normally the server ends it
earlier; this limit works when the server is gone."""


def main() -> None:
    # Ctrl-C reaches the whole process group; the server decides when this process ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    engine: Any = _engine(sys.argv[1])
    _fence()
    given = {b"C": "", b"L": "", b"I": ""}
    prelude = data = ""
    fresh: Any = None
    zone = Zone()
    while (frame := _read()) is not None:
        tag, text = frame
        if tag in given:
            given[tag] = text
        elif tag == b"P":
            prelude = text
            fresh = _fresh(engine, prelude, *given.values())
            _write({"kind": "ready"})
        elif tag == b"S":
            moment, _, data = text.partition("\n")
            zone.fit(**json.loads(moment))
            _write({"kind": "ready"})
        else:
            _allow_cpu()
            _end_with_parent(True)
            began = time.process_time()
            answer = _evaluate(engine, fresh, text, data)
            answer["cpu"] = 1000 * (time.process_time() - began)
            _end_with_parent(False)
            _write(answer)
            fresh = None
            fresh = _fresh(engine, prelude, *given.values())  # while the server prepares its next request


def _engine(folder: str) -> Any:
    """The engine's extension module alone: the package around it needs 20 ms to import parts that are not used here."""
    sys.path.append(folder)
    return __import__("_quickjs")


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


def _fresh(engine: Any, prelude: str, table: str, locale: str, inspection: str) -> tuple[Any, Any]:
    """A fresh context, and its function that evaluates a trigger."""
    context = engine.Context()
    context.set_memory_limit(HEAP)
    return context, context.eval(prelude)(table, locale, inspection)


def _evaluate(engine: Any, fresh: tuple[Any, Any], request: str, data: str) -> Any:
    """The prelude's answer, or a failure if it could not answer."""
    try:
        context, evaluate = fresh
        context.set_time_limit(json.loads(request)["seconds"])
        return json.loads(evaluate(request, data))
    except engine.StackOverflow:
        return _failure("error", "it recurses too deeply")
    except MemoryError:
        return _failure("memory", "it takes too much memory")
    except (engine.JSException, ValueError) as error:
        text = str(error)
        if text.startswith("InternalError: interrupted"):
            return _failure("timeout", "it takes too long")
        if text.startswith(("null", "InternalError: out of memory")):
            return _failure("memory", "it takes too much memory")
        return _failure("error", text.partition("\n")[0][:400])  # without the stack, which is the prelude's


def _failure(kind: str, message: str) -> dict[str, str]:
    return {"kind": kind, "message": message}


def _read() -> tuple[bytes, str] | None:
    """The next frame; None when the server is gone."""
    head = sys.stdin.buffer.read(FRAME.size)
    if len(head) < FRAME.size:
        return None
    tag, length = FRAME.unpack(head)
    body = sys.stdin.buffer.read(length)
    return (tag, body.decode()) if len(body) == length else None


def _write(answer: Any) -> None:
    body = json.dumps(answer).encode()
    sys.stdout.buffer.write(FRAME.pack(b"A", len(body)) + body)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
