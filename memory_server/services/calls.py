"""Counts the calls of this process, and keeps them in the file by day and tool: no call waits for that."""

import threading
import time
from collections.abc import Mapping

from memory_server.domain.calls import Calls
from memory_server.storage.database import Database
from memory_server.triggers.effort import TriggerEffort

TRIGGERS, RESTARTS, CPU = "(triggers)", "(engine restarts)", "(cpu)"
"""The work of processes beside their calls, in the table under these names: triggers evaluated and their time, restarts
of the JavaScript engine, and CPU time."""


class Counted:
    """Counts since this process began."""

    def __init__(self) -> None:
        self._calls: dict[str, Calls] = {}
        self._lock = threading.Lock()
        self.cleaned = 0
        """Short-term memories that the daily cleanup has removed."""

    def add(self, tool: str, call: Calls) -> None:
        with self._lock:
            self._calls[tool] = self._calls.get(tool, Calls()) + call

    def clean(self, number: int) -> None:
        with self._lock:
            self.cleaned += number

    def calls(self) -> Mapping[str, Calls]:
        """Return the calls by tool."""
        with self._lock:
            return dict(self._calls)


class CallService:
    def __init__(
        self, database: Database, effort: TriggerEffort, keeps: bool = True, whole: "Counted | None" = None
    ) -> None:
        """`keeps`: the file gets the numbers too, not only this process. `whole` adds up those of several memories:
        then the work of the process is of none of them.
        """
        self._database = database
        self._effort = effort
        self._before: dict[str, Calls] = {}
        self._keeps = keeps
        self._whole = whole
        self._lock = threading.Lock()
        self.counted = Counted()
        self._new: dict[str, Calls] = {}

    def count(self, tool: str, call: Calls) -> None:
        """Count a call that has ended."""
        with self._lock:
            self._new[tool] = self._new.get(tool, Calls()) + call
        for counted in filter(None, (self.counted, self._whole)):
            counted.add(tool, call)

    def count_cleaned(self, number: int) -> None:
        """Count short-term memories that the daily cleanup has removed."""
        for counted in filter(None, (self.counted, self._whole)):
            counted.clean(number)

    def keep(self) -> None:
        """Background work: let the next write take what was counted since the last time."""
        with self._lock:
            new, self._new = self._new, {}
            if new and self._whole is None:
                new |= self._work()
        if new and self._keeps:
            self._database.later(lambda tx: tx.call_counts.add(new))

    def _work(self) -> dict[str, Calls]:
        """Return the work since the last time. A process without calls keeps none: it would write all day."""
        effort = self._effort
        work = {
            TRIGGERS: Calls(effort.evaluated, milliseconds=round(1000 * effort.seconds)),
            RESTARTS: Calls(effort.restarts),
            CPU: Calls(milliseconds=round(1000 * (time.process_time() + effort.cpu))),
        }
        new = {name: sums.without(self._before.get(name, Calls())) for name, sums in work.items()}
        self._before = work
        return {name: sums for name, sums in new.items() if sums != Calls()}

    def select(self, days: int) -> Mapping[str, Calls]:
        """Return the calls of the last so many days that the file has, of all programs."""
        with self._database.read() as tx:
            return tx.call_counts.select(days)
