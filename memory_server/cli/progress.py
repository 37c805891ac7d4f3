"""A bar with rate and rest, or a clock, for what takes longer than a second; on a terminal only."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

AFTER = 1.0
"""Seconds after which a person wants to know how far it is."""

Report = Callable[[int, int], None]


@contextmanager
def bar(what: str, unit: int = 1) -> Iterator[Report]:
    """Call it with how much is done of how much; `unit` is how many bytes one is, where it is bytes."""
    if not sys.stderr.isatty():
        yield _unseen
        return
    began, shown = time.monotonic(), dict[str, Any]()

    def report(done: int, total: int) -> None:
        if not shown and time.monotonic() - began > AFTER:
            shown["bar"] = _bar()
            shown["bar"].start()
            shown["task"] = shown["bar"].add_task(what, total=total * unit)
        if shown:
            shown["bar"].update(shown["task"], completed=done * unit, total=total * unit)

    try:
        yield report
    finally:
        if shown:
            shown["bar"].stop()


@contextmanager
def clock(what: str) -> Iterator[None]:
    """For what cannot tell how far it is: what is done."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


def _unseen(_done: int, _total: int) -> None:
    """Nobody looks."""


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=Console(stderr=True), transient=True)
