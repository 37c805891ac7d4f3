"""Imports the program once and runs each command in a fork: `forks.py SOCKET`, until its input ends."""

import atexit
import ctypes
import gc
import importlib
import marshal
import os
import pkgutil
import selectors
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

sys.path.pop(0)  # the folder of this file

import memory_server

LEFT_OUT = "memory_server.triggers.javascript.worker"  # a program of its own
LATE = (
    "anyio._backends._asyncio", "click._textwrap", "encodings.utf_8_sig", "numpy.ma", "rapidfuzz", "re2",
    "uvicorn.lifespan.off", "uvicorn.lifespan.on", "uvicorn.loops.auto", "uvicorn.protocols.http.auto",
    "uvicorn.protocols.websockets.auto",
)  # fmt: skip
"""What libraries import only when they are used."""


TEXT = "-c "
"""The beginning of an argument that is a text of Python to run in the place of the program."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What to run, and for whom."""

    arguments: list[str]
    environment: dict[str, str]
    folder: str
    streams: list[int]

    @property
    def is_engine(self) -> bool:
        """True for an engine, which outlives the process that asks for it."""
        return self.arguments[:2] == ["engine", "run"]

    @property
    def is_text(self) -> bool:
        """True if it is not the program that runs, but a text of Python."""
        return bool(self.arguments) and self.arguments[0].startswith(TEXT)


def import_all() -> None:
    for module in pkgutil.walk_packages(memory_server.__path__, "memory_server."):
        if module.name != LEFT_OUT:
            importlib.import_module(module.name)
    for name in LATE:
        importlib.import_module(name)


def declare_tools() -> None:
    """Make what the signatures of all tools declare: .1 s that each server does without."""
    from memory_server import app
    from memory_server.mcp.toolsets import toolsets
    from memory_server.settings import Settings

    for tools in toolsets(app.build(Settings(db=Path("never-opened.db")))).values():
        _ = [(tool.schema, tool.answer) for tool in tools]


def received(asking: socket.socket) -> Asked:
    """What a small process asks for, which comes at once."""
    length, streams, *_ = socket.recv_fds(asking, 8, 3)
    wanted, text = int.from_bytes(length, "big"), b""
    while len(text) < wanted:
        text += asking.recv(wanted - len(text))
    arguments, environment, folder = marshal.loads(text)
    return Asked(arguments, environment, folder, streams)


def forks(path: str) -> Asked:
    """Answers only in a fork: what to run there."""
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(path)
    listening.listen(64)
    woken, waker = socket.socketpair()
    waker.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waker.fileno())
    events = selectors.DefaultSelector()
    for source in (sys.stdin, listening, woken):
        events.register(source, selectors.EVENT_READ)
    running: dict[int, socket.socket] = {}
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        for key, _ in events.select():
            if key.fileobj is sys.stdin:
                for pid in running:
                    os.kill(pid, signal.SIGKILL)
                os._exit(0)
            elif key.fileobj is woken:
                woken.recv(1024)
                for pid, code in ended():
                    asking = running.pop(pid, None)
                    if asking is None:  # an engine
                        continue
                    if asking in events.get_map():
                        events.unregister(asking)
                        asking.send(b"%d\n" % code)
                    asking.close()
            elif key.fileobj is listening:
                asking, _ = listening.accept()
                asked = received(asking)
                pid = os.fork()
                if pid == 0:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    events.close()
                    for each in (listening, woken, waker, asking, *running.values()):
                        each.close()
                    return asked
                for stream in asked.streams:
                    os.close(stream)
                asking.send(b"%d\n" % pid)
                if asked.is_engine:
                    asking.close()
                    continue
                running[pid] = asking
                events.register(asking, selectors.EVENT_READ, pid)
            elif key.data in running:  # the small process was killed
                os.kill(key.data, signal.SIGKILL)
                events.unregister(key.fileobj)


def ended() -> list[tuple[int, int]]:
    """The forks that have ended, with their exit codes."""
    found: list[tuple[int, int]] = []
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if pid == 0:
            return found
        found.append((pid, os.waitstatus_to_exitcode(status)))


def become(asked: Asked) -> None:
    """Take over the streams, the folder, the arguments and the environment."""
    for number, stream in enumerate(asked.streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = (
        open(0, encoding="utf-8", closefd=False),  # noqa: SIM115 - for as long as the process
        open(1, "w", encoding="utf-8", closefd=False),  # noqa: SIM115
        open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False),  # noqa: SIM115
    )
    os.chdir(asked.folder)
    os.environ.clear()
    os.environ.update(asked.environment)
    time.tzset()
    if asked.is_engine:
        show([sys.executable, "-P", "-m", "memory_server", *asked.arguments])


def show(words: list[str]) -> None:
    """Make them the command line of this process that others see, in the place of its own."""
    fields = Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(") ")[2].split()
    start, end = map(int, fields[45:47])
    text = "\0".join(words).encode()[: end - start - 1]
    ctypes.memmove(start, text.ljust(end - start, b"\0"), end - start)


def leave(code: int) -> NoReturn:
    """End as a program does, but leave its modules: to take them down copies all that the fork shares."""
    vars(threading)["_shutdown"]()
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        sys.exit(code)
    os._exit(code)


def run_text(text: str) -> int:
    exec(text, {"__name__": "__main__"})
    return 0


def run(path: str, prepare: Callable[[dict[str, str]], object] = lambda _: None) -> NoReturn:
    """Answer at the socket for ever; in each fork `prepare` gets its environment before the program begins."""
    import_all()
    program = importlib.import_module("memory_server.__main__")
    declare_tools()
    gc.freeze()
    asked = forks(path)
    become(asked)
    text = asked.arguments.pop(0).removeprefix(TEXT) if asked.is_text else None
    sys.argv = [str(program.__file__), *asked.arguments]
    prepare(asked.environment)
    try:
        code = program.main() if text is None else run_text(text)
    except SystemExit as ending:
        if not isinstance(ending.code, int | None):
            raise
        code = ending.code or 0
    leave(code)


if __name__ == "__main__":
    run(sys.argv[1])
