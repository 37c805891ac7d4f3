"""Runs reads of one transaction that do not need each other's answers, so that they wait for the database once.

Each read runs in a thread of its own until it waits for an answer; only one runs at a time. When all wait, or are
done, one round trip brings the answers to all their statements, and they continue.
"""

import threading
from collections.abc import Callable, Sequence
from contextvars import copy_context
from typing import Any, TypeVar

from psycopg.errors import PipelineAborted

_local = threading.local()

Result = TypeVar("Result")


class _Read:
    """One of the reads; it and its starter take turns."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self.call = call
        self.result: Any = None
        self.error: BaseException | None = None
        self.done = False
        self._context = copy_context()
        self._turn = threading.Semaphore(0)
        self._back = threading.Semaphore(0)
        threading.Thread(target=self._run, daemon=True, name="together").start()

    def go_on(self) -> None:
        """Let the read run until it waits for an answer, or is done."""
        self._turn.release()
        self._back.acquire()

    def wait(self) -> None:
        """Give the turn back until the answers have come. Called by the read itself."""
        self._back.release()
        self._turn.acquire()

    def _run(self) -> None:
        self._turn.acquire()
        _local.read = self
        try:
            self.result = self._context.run(self.call)
        except BaseException as error:  # it is raised where the reads were begun
            self.error = error
        self.done = True
        self._back.release()


def wait() -> bool:
    """Let the other reads send their statements, where this is one of several reads; false where it is not."""
    read: _Read | None = getattr(_local, "read", None)
    if read is None:
        return False
    read.wait()
    return True


def run(calls: Sequence[Callable[[], Result]], arrive: Callable[[], None]) -> list[Result]:
    """Return the result of each call. `arrive` is called whenever all of them wait for answers."""
    reads = [_Read(call) for call in calls]
    running = reads
    while True:
        for read in running:
            read.go_on()
        running = [read for read in running if not read.done]
        if not running:
            break
        if not wait():
            arrive()
    failed = [read.error for read in reads if read.error is not None]
    # Where one statement failed, those behind it were not run: that is not what went wrong.
    failed.sort(key=lambda error: isinstance(error, PipelineAborted))
    if failed:
        raise failed[0]
    return [read.result for read in reads]
