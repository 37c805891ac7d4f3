"""A bar with rate and rest, or a clock, for what takes longer than a second; on a terminal only."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

AFTER = 1.0
"""Seconds after which a person wants to know how far it is."""

Report = Callable[[int, int | None], None]
"""How much is done, and of how much where that is known."""


@contextmanager
def bar(what: str, unit: int | None = None) -> Iterator[Report]:
    """Call it with how much is done of how much; `unit` is how many bytes one is, where it is bytes."""
    size = unit or 1
    if not sys.stderr.isatty():
        yield _unseen
        return
    began, shown = time.monotonic(), dict[str, Any]()

    def report(done: int, total: int | None = None) -> None:
        whole = None if total is None else total * size
        if not shown and time.monotonic() - began > AFTER:
            shown["bar"] = _bar(unit is not None)
            shown["bar"].start()
            shown["task"] = shown["bar"].add_task(what, total=whole)
        if shown:
            shown["bar"].update(shown["task"], completed=done * size, total=whole)

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


def _unseen(_done: int, _total: int | None = None) -> None:
    """Nobody looks."""


def _bar(of_bytes: bool) -> Any:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.speed or 0:,.0f} a second")

    counted = (DownloadColumn(), TransferSpeedColumn()) if of_bytes else (MofNCompleteColumn(), Rate())
    columns = (TextColumn("{task.description}"), BarColumn(), *counted, TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)
