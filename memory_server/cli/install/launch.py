"""The command that starts this very program: its absolute path."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memory_server.errors import Invalid
from memory_server.installation import requirement, shell, will_be_removed

FEW = ("--toolsets", "core")
"""Lists few tools."""


@dataclass(frozen=True, slots=True)
class Launch:
    """The words of the command, without `serve` or `hook`; `flags` come behind those."""

    words: tuple[str, ...]
    flags: tuple[str, ...]

    def server(self) -> list[str]:
        return [*self.words, *self.flags]

    def core(self) -> list[str]:
        """The server with few tools, for a client that puts every tool before the model."""
        chosen = () if "--toolsets" in self.flags else FEW
        return [*self.server(), *chosen]

    def hook(self, event: str, client: str | None) -> list[str]:
        """`client` signs what the hook keeps; None where any client may run it."""
        return [*self.words, "hook", event, *(["--client", client] if client else []), *self.flags]


def this_program(flags: Sequence[str]) -> Launch:
    """The console script that runs now, or the Python that runs the package."""
    started = Path(sys.argv[0])
    if started.stem == "memory-server" and started.exists():
        return Launch((str(started.absolute()),), tuple(flags))
    return Launch((sys.executable, "-m", "memory_server"), tuple(flags))


def lasting_program(flags: Sequence[str]) -> Launch:
    """This program, for an entry that outlives this call.

    Raises:
        Invalid: it runs from a folder that will be removed, such as `uvx` and `pipx run` make.
    """
    folder = Path(sys.prefix).resolve()
    if not will_be_removed(folder):
        return this_program(flags)
    installer = ["uv", "tool", "install"] if os.environ.get("UV") else ["pipx", "install"]
    raise Invalid(
        f"This program runs from {folder}, which will be removed, and clients would not find it any more. Install it "
        f"with `{shell([*installer, requirement()])}`, then repeat the command with the installed program."
    )


def is_ours(command: str) -> bool:
    """True for a line of a shell that runs a hook of ours, wherever it is installed."""
    return " hook " in command and ("memory-server" in command or "memory_server" in command)


def is_our_server(words: Sequence[str]) -> bool:
    """True for a command that serves this memory."""
    return any(Path(word).stem == "memory-server" or word == "memory_server" for word in words)
