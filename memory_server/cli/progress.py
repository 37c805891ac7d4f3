"""Progress on a terminal: how much is done, how fast, how long the rest takes. Nothing in a pipe."""

import sys
import time

AFTER = 1.0
"""Seconds after which progress is shown: what takes less needs none."""

EVERY = 0.2
"""Seconds between two states."""


class Progress:
    """Call it with how much is done, and of how much where that is known; `end` clears the line."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._began = self._shown = time.monotonic()
        self._on = False

    def __call__(self, done: int, total: int | None = None) -> None:
        now = time.monotonic()
        if not sys.stderr.isatty() or now - self._began < AFTER or now - self._shown < EVERY:
            return
        self._shown, self._on = now, True
        rate = done / (now - self._began)
        of, rest = "", ""
        if total is not None:
            of, rest = f" of {total:,}", f", {(total - done) / rate if rate else 0:.0f} s left"
        text = f"{self._what}: {done:,}{of}, {rate:,.0f} a second{rest}"
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self._on:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self._on = False
