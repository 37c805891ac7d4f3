"""Work that takes longer than a page may: one piece at a time, in a thread, with its progress."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from memory_server.errors import Conflict, MemoryServerError

Run = Callable[[Callable[[int, int], None]], str]
"""Does the work, tells how much of how much is done, and answers what came of it."""


@dataclass(slots=True)
class PageWork:
    """`result` and `problem` are empty while it runs."""

    name: str = ""
    done: int = 0
    total: int = 0
    result: str = ""
    problem: str = ""
    runs: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self, name: str, run: Run) -> None:
        """Begin; returns at once.

        Raises:
            Conflict: something is being done still.
        """
        with self._lock:
            if self.runs:
                raise Conflict("A backup or an erasing is still running. Try again when it is done.")
            self.name, self.runs, self.done, self.total, self.result, self.problem = name, True, 0, 0, "", ""
        threading.Thread(target=self._run, args=(run,), name=name, daemon=True).start()

    def _run(self, run: Run) -> None:
        try:
            self.result = run(self._told)
        except (MemoryServerError, OSError) as error:
            self.problem = str(error)
        finally:
            self.runs = False

    def _told(self, done: int, total: int) -> None:
        self.done, self.total = done, total
