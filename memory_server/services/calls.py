"""Counts the calls of this process, and keeps them in the file by day and tool: no call waits for that."""

import threading
import time
from collections.abc import Mapping
from functools import partial

from memory_server.domain.calls import Calls
from memory_server.storage.database import Database
from memory_server.storage.tx import WriteTx
from memory_server.triggers.effort import TriggerEffort

TRIGGERS, RESTARTS, CPU = "(triggers)", "(engine restarts)", "(cpu)"
"""The work of processes beside their calls, in the table under these names: triggers evaluated and their time, restarts
of the JavaScript engine, and CPU time."""


class CallService:
    def __init__(self, database: Database, effort: TriggerEffort, keeps: bool = True) -> None:
        """`keeps`: the file gets the numbers too, not only this process."""
        self._database = database
        self._effort = effort
        self._before: dict[str, Calls] = {}
        self._keeps = keeps
        self._lock = threading.Lock()
        self._counted: dict[str, Calls] = {}
        self._new: dict[str, Calls] = {}
        self.cleaned = 0
        """Short-term memories that the daily cleanup has removed in this process."""

    def count(self, tool: str, call: Calls) -> None:
        """Count a call that has ended."""
        with self._lock:
            for sums in (self._counted, self._new):
                sums[tool] = sums.get(tool, Calls()) + call

    def counted(self) -> Mapping[str, Calls]:
        """Return all calls since this process began."""
        with self._lock:
            return dict(self._counted)

    def keep(self) -> None:
        """Background work: let the next write take what was counted since the last time."""
        with self._lock:
            new, self._new = self._new, {}
            if new:
                new |= self._work()
        if new and self._keeps:
            self._database.later(partial(_add, new))

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


def _add(counted: Mapping[str, Calls], tx: WriteTx) -> None:
    tx.call_counts.add(counted)
