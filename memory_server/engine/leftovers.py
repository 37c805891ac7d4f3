"""The files that engines leave beside their sockets: locks, and what they said.

An engine that ends removes its own, and those of engines that were killed.
"""

import contextlib
import logging
import os
import re
from datetime import datetime
from pathlib import Path

from memory_server.front.finding import lock, unlock

KEPT = 7 * 86_400.0
"""Seconds that the words of an engine are kept after its last one: `memory-server doctor` shows them."""

LONGEST = 1_000_000
"""Bytes of what one engine has said. Then it begins again."""

_NAME = re.compile("[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{8}")


class Bounded(logging.Handler):
    """Empties a log that has become too long. Another handler writes it."""

    def __init__(self, file: int) -> None:
        super().__init__()
        self._file = file

    def emit(self, record: logging.LogRecord) -> None:  # noqa: ARG002
        with contextlib.suppress(OSError):  # it is no file
            if os.fstat(self._file).st_size > LONGEST:
                os.ftruncate(self._file, 0)


def tidy(place: Path, is_ours: bool, now: datetime) -> None:
    """Remove what the engines of this folder left that have ended. `is_ours`: this process holds the lock of `place`,
    and removes its files last.
    """
    names = {path.stem for path in place.parent.glob("*-*-*.*") if _NAME.fullmatch(path.stem)}
    for name in sorted(names, key=lambda name: (name == place.name, name)):
        with contextlib.suppress(OSError):  # something else lies there, or the folder has gone
            _remove(place.with_name(name), is_ours and name == place.name, now)


def _remove(place: Path, is_ours: bool, now: datetime) -> None:
    """Remove the files of an engine, unless it runs, or one is being started in its place."""
    starting = place.with_suffix(".starting")
    if (start := lock(starting)) is None:
        return
    try:
        path = place.with_suffix(".lock")
        file = None if is_ours else lock(path)
        if file is None and not is_ours:
            return
        for suffix in (".new", ".sock"):
            place.with_suffix(suffix).unlink(missing_ok=True)
        _remove_log(place.with_suffix(".log"), now)
        if file is None:
            path.unlink(missing_ok=True)  # it is locked until this process has ended
        else:
            unlock(path, file)
    finally:
        unlock(starting, start)


def _remove_log(path: Path, now: datetime) -> None:
    with contextlib.suppress(FileNotFoundError):
        status = path.stat()
        if not status.st_size or now.timestamp() - status.st_mtime > KEPT:
            path.unlink()
