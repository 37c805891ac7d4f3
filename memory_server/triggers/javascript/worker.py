"""The program of the worker process: it runs JavaScript triggers, one after the other, each in a fresh context.

It is started by its path in an interpreter that knows the standard library only, and imports little: it must be
up at once. A frame is a tag, the length of what follows, and UTF-8. The frames of the parent are `C` (the table
of characters), `P` (the prelude), `S` (the situation), `T` (a trigger); all but `C` are answered with one of JSON.
"""

import json
import os
import signal
import struct
import sys
import time
from typing import Any

FRAME = struct.Struct(">cI")
HEAP = 32 * 1024 * 1024
ADDRESS_SPACE = 320 * 1024 * 1024
FILES = 8
CPU_SECONDS = 3
"""What one trigger may take at the very most: it counts only when the parent is not there to end it."""


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group: the parent decides
    engine: Any = _engine(sys.argv[1])
    _fence()
    table = prelude = data = ""
    fresh: Any = None
    zone = Zone()
    while (frame := _read()) is not None:
        tag, text = frame
        if tag == b"C":
            table = text
        elif tag == b"P":
            prelude = text
            fresh = _fresh(engine, prelude, table)
            _write({"kind": "ready"})
        elif tag == b"S":
            moment, _, data = text.partition("\n")
            zone.fit(**json.loads(moment))
            _write({"kind": "ready"})
        else:
            _allow_cpu()
            _end_with_parent(True)
            answer = _judge(engine, fresh, text, data)
            _end_with_parent(False)
            _write(answer)
            fresh = None
            fresh = _fresh(engine, prelude, table)  # while the parent prepares its next question


def _engine(folder: str) -> Any:
    """The bare extension: the package around it imports for 20 ms what is not used here."""
    sys.path.append(folder)
    return __import__("_quickjs")


def _fence() -> None:
    """What the process may take of the machine, where the system has such limits."""
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
        except (OSError, ValueError):  # a system that names a limit and does not keep it
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
    """At work, let the system end this process when its input closes, which no loop or native call can put off.

    Where a pipe sends no signal that ends a process, the limit of time does it.
    """
    try:
        import fcntl
    except ImportError:
        return
    fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(0, fcntl.F_SETFL, os.O_ASYNC if at_work else 0)


class Zone:
    """The zone of local time: that of the process as long as it agrees with the situation."""

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


def _fresh(engine: Any, prelude: str, table: str) -> tuple[Any, Any]:
    """A fresh context and the function that judges in it."""
    context = engine.Context()
    context.set_memory_limit(HEAP)
    return context, context.eval(prelude)(table)


def _judge(engine: Any, fresh: tuple[Any, Any], request: str, data: str) -> Any:
    """What the prelude answers, or why it could not."""
    try:
        context, judge = fresh
        context.set_time_limit(json.loads(request)["seconds"])
        return json.loads(judge(request, data))
    except engine.StackOverflow:
        return _failure("error", "it calls itself too deep")
    except MemoryError:
        return _failure("memory", "it takes too much memory")
    except (engine.JSException, ValueError) as error:
        text = str(error)
        if text.startswith("InternalError: interrupted"):
            return _failure("timeout", "it takes too long")
        if text.startswith(("null", "InternalError: out of memory")):
            return _failure("memory", "it takes too much memory")
        return _failure("error", text[:400])


def _failure(kind: str, message: str) -> dict[str, str]:
    return {"kind": kind, "message": message}


def _read() -> tuple[bytes, str] | None:
    """The next frame; none when the parent is gone."""
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
