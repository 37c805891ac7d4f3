"""The table `call_counts`: the calls of a day by tool."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from memory_server.domain.calls import Calls, times_of
from memory_server.storage.statements import Statements
from memory_server.storage.tables.server_days import ServerDays

DAYS: Final = 400
"""Days whose counts of calls are kept: with all tools in use some 14,000 rows, two megabytes."""

_COLUMNS = "calls, refused, failed, degraded, timed_out, milliseconds"


def _day_before(now: str, days: int) -> str:
    return (date.fromisoformat(now[:10]) - timedelta(days=days)).isoformat()


@dataclass(frozen=True, slots=True)
class CallCounts:
    tx: Statements

    def select(self, days: int) -> dict[str, Calls]:
        """Return the calls of the last so many days by tool, those with the most calls first."""
        sums: dict[str, Calls] = {}
        for tool, times, *numbers in self.tx.rows(
            f"SELECT tool, times, {_COLUMNS} FROM call_counts WHERE day >= :first",
            {"first": _day_before(self.tx.now, days - 1)},
        ):
            sums[tool] = sums.get(tool, Calls()) + Calls(*(*numbers, times_of(json.loads(times))))
        return dict(sorted(sums.items(), key=lambda item: (-item[1].calls, item[0])))


@dataclass(frozen=True, slots=True)
class WritableCallCounts(CallCounts):
    def add(self, counts: Mapping[str, Calls]) -> None:
        """Add calls of tools to the day of this moment."""
        day = self.tx.now[:10]
        rows = self.tx.rows(
            """
            SELECT tool, times
            FROM call_counts
            WHERE day = :day AND tool IN (SELECT value FROM json_each(:tools))
            """,
            {"day": day, "tools": self.tx.array(counts)},
        )
        before = {tool: Calls(times=times_of(json.loads(times))) for tool, times in rows}
        for tool, calls in counts.items():
            self._add(day, tool, calls, (before.get(tool, Calls()) + calls).times)
        moment = ServerDays(self.tx).certain()
        if moment is not None:
            self.tx.send("DELETE FROM call_counts WHERE day < :first", {"first": _day_before(moment, DAYS)})

    def _add(self, day: str, tool: str, calls: Calls, times: tuple[int, ...]) -> None:
        self.tx.send(
            f"""
            INSERT INTO call_counts (day, tool, {_COLUMNS}, times)
            VALUES (:day, :tool, :calls, :refused, :failed, :degraded, :timed_out, :milliseconds, :times)
            ON CONFLICT (day, tool) DO UPDATE SET
                calls = call_counts.calls + excluded.calls,
                refused = call_counts.refused + excluded.refused,
                failed = call_counts.failed + excluded.failed,
                degraded = call_counts.degraded + excluded.degraded,
                timed_out = call_counts.timed_out + excluded.timed_out,
                milliseconds = call_counts.milliseconds + excluded.milliseconds,
                times = excluded.times
            """,
            {
                "day": day,
                "tool": tool,
                "calls": calls.calls,
                "refused": calls.refused,
                "failed": calls.failed,
                "degraded": calls.degraded,
                "timed_out": calls.timed_out,
                "milliseconds": calls.milliseconds,
                "times": json.dumps(times),
            },
        )
