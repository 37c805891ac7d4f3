"""The engines that run for a database, as a person sees and ends them."""

import json
import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_server.front import finding, place
from memory_server.where import Where

PATIENCE = 2.0
"""Seconds that an engine has to say how it is."""

ENDING = 15.0
"""Seconds that it has to end: running calls get 5."""


@dataclass(frozen=True, slots=True)
class Running:
    """An engine that runs, or one that was started and does not answer: then it has no `pid`."""

    path: Path
    pid: int | None = None
    version: str | None = None
    clients: int = 0

    def __str__(self) -> str:
        if self.pid is None:
            return f"{self.path} does not answer"
        if self.clients == 1:
            return f"process {self.pid} (version {self.version}), 1 client"
        return f"process {self.pid} (version {self.version}), {self.clients} clients"


def of(database: Where) -> list[Running]:
    """Return the engines of a database, of any version and settings."""
    return [] if os.name == "nt" else [engine for path in _paths(database) if (engine := _asked(path))]


def stop(engine: Running, only_idle: bool = False) -> bool:
    """End an engine; returns when its process has ended. False: it has clients and `only_idle`, or does not end."""
    link = finding.connected(engine.path)
    if link is None:
        return True
    with link, suppress(OSError):
        link.settimeout(ENDING)
        link.sendall(json.dumps({"engine": "", "stop": "idle" if only_idle else "all"}).encode() + b"\n")
        return link.recv(1) == b""
    return False


def stop_idle(database: Where) -> None:
    """End the engines of a database that nobody is connected to."""
    for engine in of(database):
        if not engine.clients:
            stop(engine, only_idle=True)


def why_none() -> str | None:
    """Return the reason why no engine can run on this machine; None where one can."""
    if os.name == "nt":
        return "none on Windows"
    try:
        finding.own_folder()
    except OSError as error:
        return f"none: {error}"
    return None


def failures(database: Where) -> Iterator[str]:
    """Yield the last words of engines of this database that said something."""
    for path in _paths(database, "log"):
        with suppress(OSError):
            yield from path.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]


def _paths(database: Where, suffix: str = "sock") -> Iterator[Path]:
    for folder in filter(place.is_private, place.folders()):
        yield from sorted(folder.glob(f"{finding.short(place.name_of(database))}-*.{suffix}"))


def _asked(path: Path) -> Running | None:
    link = finding.connected(path)
    if link is None:
        return None
    status: dict[str, Any] = {}
    with link, suppress(OSError, ValueError):
        link.settimeout(PATIENCE)
        link.sendall(json.dumps({"engine": "", "status": True}).encode() + b"\n")
        link.shutdown(socket.SHUT_WR)
        with link.makefile("rb") as lines:
            status = json.loads(lines.readline())
    return Running(path, status.get("pid"), status.get("version"), status.get("clients", 0))
