"""Tells how far it is, how fast and how long still, for what takes longer than a second; on a terminal only."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from memory_server.cli.terminal import filled, translated

AFTER = 1.0
"""Seconds after which a person wants to know how far it is."""

EVERY = 0.1
"""Seconds between two looks."""

MEGABYTE = 1_000_000

Report = Callable[[int, int | None], None]
"""How much is done, and of how much where that is known."""


@contextmanager
def bar(what: str, unit: int | None = None) -> Iterator[Report]:
    """Call it with how much is done of how much; `unit` is how many bytes one is, where it is bytes."""
    if not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    began, line = time.monotonic(), _Line()

    def report(done: int, total: int | None = None) -> None:
        passed = time.monotonic() - began
        if passed > AFTER and time.monotonic() - line.at > EVERY:
            line.show(f"{translated(what)}  {_far(done, total, passed, unit)}")

    try:
        yield report
    finally:
        line.show("")


@contextmanager
def clock(what: str) -> Iterator[None]:
    """For what cannot tell how far it is: what is done."""
    if not sys.stderr.isatty():
        yield
        return
    line = _Line()
    line.show(f"{translated(what)}…")
    try:
        yield
    finally:
        line.show("")


class _Line:
    """The last line of the terminal, written over again and again; `at` is when that was."""

    def __init__(self) -> None:
        self._columns, self.at = 0, 0.0

    def show(self, text: str) -> None:
        if text or self._columns:
            sys.stderr.write(f"\r{text:<{self._columns}}" + ("" if text else "\r"))
            sys.stderr.flush()
        self._columns, self.at = len(text), time.monotonic()


def _far(done: int, total: int | None, passed: float, unit: int | None) -> str:
    rate = done / passed
    size, name = (1, "") if unit is None else (MEGABYTE / unit, " MB")
    whole = "" if total is None else f"/{total / size:.0f}"
    speed = filled("{number} a second", number=f"{rate / size:,.0f}{name}")
    if total is None or not rate:
        return f"{done / size:.0f}{whole}{name}  {speed}"
    remaining = filled("{number} s left", number=f"{(total - done) / rate:,.0f}")
    return f"{done / size:.0f}{whole}{name}  {speed}  {remaining}"
