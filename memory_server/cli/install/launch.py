"""How this very program is started by another one: by its absolute path."""

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Launch:
    """The words of the command, without `serve` or `hook`; `flags` come behind those."""

    words: tuple[str, ...]
    flags: tuple[str, ...]

    def server(self) -> list[str]:
        return [*self.words, *self.flags]

    def hook(self, event: str, client: str | None) -> list[str]:
        """`client` signs what the hook keeps; None where any client may run it."""
        return [*self.words, "hook", event, *(["--client", client] if client else []), *self.flags]


def this_program(flags: Sequence[str]) -> Launch:
    """The console script that runs now, or the Python that runs the package."""
    started = Path(sys.argv[0])
    if started.stem == "memory-server" and started.exists():
        return Launch((str(started.absolute()),), tuple(flags))
    return Launch((sys.executable, "-m", "memory_server"), tuple(flags))


def shell(words: Sequence[str]) -> str:
    """The words as one line for the shell of this system."""
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def is_ours(command: str) -> bool:
    """Whether a line of a shell runs a hook of ours, wherever it is installed."""
    return " hook " in command and ("memory-server" in command or "memory_server" in command)


def is_our_server(words: Sequence[str]) -> bool:
    """Whether a command serves this memory."""
    return any(Path(word).stem == "memory-server" or word == "memory_server" for word in words)
