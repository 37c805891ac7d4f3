"""Commands that start warm: one process has imported the program, and each command is a fork of it.

Most tests start the program, and its imports are most of what a start costs. `warm.program(…)` is the command line of a
small process (ask.py) that hands its arguments, environment, folder and streams to a fork (forks.py), passes signals
on, and ends as the fork ends. A killed one takes its fork with it. What a command does is the same, in a process of its
own. An engine is started by its front: `engines()` are variables that make it such a fork too.
"""

import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

ENGINES = f"{Path(__file__).with_name('engines')}{os.pathsep}{ROOT}"
"""The PYTHONPATH of fronts whose engines start warm."""

ROOM = " " * 400
"""An argument in whose place an engine shows its own."""


def cold(*arguments: str) -> list[str]:
    """The command line of the program as a user starts it."""
    return [sys.executable, "-m", "memory_server", *arguments]


def program(*arguments: str) -> list[str]:
    """The command line of the program, started warm where the system can fork."""
    return _started().program(*arguments) if hasattr(os, "fork") else cold(*arguments)


def text(python: str, *arguments: str) -> list[str]:
    """The command line of `python -c`, in a fork that has imported the program where the system can fork."""
    if hasattr(os, "fork"):
        return program(f"-c {python}", *arguments)
    return [sys.executable, "-c", python, *arguments]


def engines() -> dict[str, str]:
    """Variables of a front whose engine starts warm, where the system can show its command line."""
    if sys.platform != "linux":
        return {"PYTHONPATH": str(ROOT)}
    return {"PYTHONPATH": ENGINES, "WARM_ENGINES": str(_started().socket)}


def end() -> None:
    """End the process that forks, if there is one."""
    if _started.cache_info().currsize:
        _started().close()
        _started.cache_clear()


class Warm:
    """The process that forks; `close()` ends it and its forks."""

    def __init__(self, *command: str) -> None:
        """`command`: a program like forks.py, and what it gets after the socket."""
        program, *more = command or (str(Path(__file__).with_name("forks.py")),)
        self._folder = tempfile.TemporaryDirectory(prefix="warm")
        self.socket = Path(self._folder.name) / "socket"
        self._process = subprocess.Popen(
            [sys.executable, program, str(self.socket), *more, ROOM],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"ready\n"

    def program(self, *arguments: str) -> list[str]:
        """The command line that runs the program in a fork."""
        ask = Path(__file__).with_name("ask.py")
        return [sys.executable, "-I", "-S", str(ask), str(self.socket), *arguments]

    def close(self) -> None:
        self._process.communicate(timeout=20)
        self._folder.cleanup()


@cache
def _started() -> Warm:
    return Warm()
