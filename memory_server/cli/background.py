"""An import in the background: a process that outlives its terminal, and the log in which it says how far it is.

The process holds a lock on the log, so a log without one belongs to an import that has ended or was killed.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from memory_server import defaults
from memory_server.cli import output, progress
from memory_server.cli.done import ImportStatus
from memory_server.domain.moment import timestamp
from memory_server.errors import Conflict, Invalid
from memory_server.flags import HERE, PREFIX
from memory_server.front import finding, place
from memory_server.settings import Settings
from memory_server.stores import clock
from memory_server.where import Where

EVERY = 1.0
"""Seconds between two lines about how far it is."""

_ENDED = "Ended at "


def start(settings: Settings, words: Sequence[str]) -> None:
    """Start this program with these words and the settings of this command, in a session of its own.

    Raises:
        Conflict: an import of this database runs in the background already.
        Invalid: this is Windows.
    """
    if os.name == "nt":
        raise Invalid("On Windows nothing is imported in the background. Leave --background out.")
    log = log_of(settings.db)
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = finding.lock(log)
    if file is None:
        raise Conflict(
            "An import runs in the background already: `memory-server import --status` shows how far it is."
        )
    flags_of_command = click.get_current_context().find_root().obj or {}
    variables = {f"{PREFIX}{name.upper()}": str(value) for name, value in flags_of_command.items()}
    try:
        os.truncate(file, 0)
        subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-u", "-P", "-m", "memory_server", *words],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            env={**HERE, **variables},  # where nobody else sees the password of an address
            start_new_session=True,
        )
    finally:
        os.close(file)
    output.note("It goes on in the background. `memory-server import --status` shows how far it is.")


def status(settings: Settings) -> ImportStatus:
    """Return how far the last import in the background is, with what it has said so far."""
    log = log_of(settings.db)
    if os.name == "nt" or not log.exists():
        return ImportStatus("none", ())
    text = log.read_text(encoding="utf-8", errors="replace")
    lines = [line.rpartition("\r")[2] for line in text.split("\n")]  # what overwrites a line takes its place
    file = finding.lock(log)
    if file is None:
        return ImportStatus("runs", lines)
    os.close(file)
    return ImportStatus("ended" if any(line.startswith(_ENDED) for line in lines) else "broken", lines)


@contextmanager
def said(paths: Sequence[Path]) -> Iterator[None]:
    """Say when the import of these paths begins, and when it has come to its end."""
    names = ", ".join(map(str, paths))
    output.say_text(f"Began at {output.moment(timestamp(clock()))} as process {os.getpid()}: {names}")
    yield
    output.say_text(f"{_ENDED}{output.moment(timestamp(clock()))}.")


@contextmanager
def bar(what: str) -> Iterator[progress.Report]:
    """Write how much is done of how much into the log, each time over the last one."""
    last = -EVERY

    def report(done: int, total: int | None = None) -> None:
        nonlocal last
        if time.monotonic() - last >= EVERY:
            last = time.monotonic()
            output.say_over(f"{what}: {done:,} of {total or done:,}")

    yield report
    output.say_over("")


def log_of(database: Where) -> Path:
    """Return the log of the last import in the background into a database."""
    return defaults.cache() / "imports" / f"{finding.short(place.name_of(database))}.log"
