"""The command that starts this very program: its absolute path."""

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path

from memory_server.errors import Invalid

EXTRAS = {"postgres": "psycopg", "sentence-transformers": "sentence_transformers"}
"""The extras of the package, and the module that each brings."""


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
        f"with `{shell([*installer, _requirement()])}`, then repeat the command with the installed program."
    )


def will_be_removed(folder: Path) -> bool:
    """True in a cache, which has a tag or the usual name, and among temporary files, unless the home is there too."""
    temporary = Path(tempfile.gettempdir()).resolve()
    if any(parent.name == ".cache" or (parent / "CACHEDIR.TAG").exists() for parent in folder.parents):
        return True
    return temporary in folder.parents and temporary not in Path.home().resolve().parents


def _requirement() -> str:
    """The package as it is installed here: its extras, and its place where it is not of an index."""
    package = next(iter(metadata.distributions(name="memory-server")), None)
    origin = json.loads((package and package.read_text("direct_url.json")) or "{}")
    extras = ",".join(extra for extra, module in EXTRAS.items() if util.find_spec(module))
    name = f"memory-server[{extras}]" if extras else "memory-server"
    if "vcs_info" in origin:
        return f"{name} @ {origin['vcs_info']['vcs']}+{origin['url']}@{origin['vcs_info']['commit_id']}"
    return f"{name} @ {origin['url']}" if origin else name


def shell(words: Sequence[str]) -> str:
    """The words as one line for the shell of this system."""
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def is_ours(command: str) -> bool:
    """True for a line of a shell that runs a hook of ours, wherever it is installed."""
    return " hook " in command and ("memory-server" in command or "memory_server" in command)


def is_our_server(words: Sequence[str]) -> bool:
    """True for a command that serves this memory."""
    return any(Path(word).stem == "memory-server" or word == "memory_server" for word in words)
