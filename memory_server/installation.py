"""Tells how this program was installed: which extras are here, and the line for a shell that adds one."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import util
from pathlib import Path
from typing import Any

from memory_server.errors import Hint, Mend, Unavailable
from memory_server.flags import HERE

NAME = "memory-server"
"""The name of the distribution."""

EXTRAS = {"postgres": "psycopg", "sentence-transformers": "sentence_transformers", "http": "jinja2"}
"""The extras that an installation may have, and the module by which each is known. `http` has what `view` needs, and
what `endpoint` needs is a part of every installation today."""


@contextmanager
def needs(extra: str, what: str) -> Iterator[None]:
    """Import in the block what an extra brings.

    Raises:
        Unavailable: it is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("memory_server"):
            raise
        raise Unavailable(f"{what} needs {error.name}, which is not installed.", mend(extra)) from error


def mend(extra: str) -> Hint:
    """Return the hint that says how an extra is added here."""
    return Hint(Mend.INSTALL_EXTRA, {"command": shell(_installs(extra))})


def requirement(*more: str) -> str:
    """Return the package as it is installed here: its extras and `more`, and its place where it is not of an index."""
    origin, name = _origin(), NAME + _extras(more)
    if "vcs_info" in origin:
        return f"{name} @ {origin['vcs_info']['vcs']}+{origin['url']}@{origin['vcs_info']['commit_id']}"
    return f"{name} @ {origin['url']}" if origin else name


def will_be_removed(folder: Path) -> bool:
    """True in a cache, which has a tag or the usual name, and among temporary files, unless the home is there too."""
    import tempfile

    temporary = Path(tempfile.gettempdir()).resolve()
    if any(parent.name == ".cache" or (parent / "CACHEDIR.TAG").exists() for parent in folder.parents):
        return True
    return temporary in folder.parents and temporary not in Path.home().resolve().parents


def shell(words: Sequence[str]) -> str:
    """Return the words as one line for the shell of this system."""
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def _installs(extra: str) -> list[str]:
    """Return the command of the installer that made this environment."""
    environment, package = Path(sys.prefix), requirement(extra)
    if (environment / "uv-receipt.toml").exists():
        return ["uv", "tool", "install", "--force", package]
    if (environment / "pipx_metadata.json").exists():
        return ["pipx", "install", "--force", package]
    if will_be_removed(environment.resolve()) and HERE.get("UV"):
        return ["uvx", "--from", package, NAME]
    target = (
        ["-e", _folder() + _extras([extra])] if _origin().get("dir_info", {}).get("editable") else [package]
    )
    if util.find_spec("pip") is None:
        return ["uv", "pip", "install", "--python", sys.executable, *target]
    return [sys.executable, "-m", "pip", "install", *target]


def _folder() -> str:
    """Return the folder from which the package was installed."""
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    return url2pathname(urlsplit(_origin()["url"]).path)


def _extras(more: Sequence[str]) -> str:
    """Return the extras in brackets: those that are here, and `more`."""
    here = [extra for extra, module in EXTRAS.items() if util.find_spec(module)]
    names = ",".join(dict.fromkeys([*here, *more]))
    return f"[{names}]" if names else ""


def _origin() -> dict[str, Any]:
    """Return what the installer has noted of the place of the package; nothing where it is of an index."""
    from importlib import metadata

    distribution = next(iter(metadata.distributions(name=NAME)), None)
    origin: dict[str, Any] = json.loads((distribution and distribution.read_text("direct_url.json")) or "{}")
    return origin
