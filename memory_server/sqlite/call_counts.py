"""The table `call_counts`: the calls of a day by tool."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from memory_server.domain.calls import Calls, times_of
from memory_server.sqlite.server_days import ServerDays
from memory_server.sqlite.tx import Tx
from memory_server.storage.people import DAYS, day_before, summed

_COLUMNS = "calls, refused, failed, degraded, timed_out, milliseconds"


@dataclass(frozen=True, slots=True)
class CallCounts:
    """The table `call_counts`: the calls of a day by tool."""

    tx: Tx

    def add(self, counted: Mapping[str, Calls]) -> None:
        day = self.tx.now[:10]
        for tool, new in counted.items():
            row = self.tx.row("SELECT times FROM call_counts WHERE day = ? AND tool = ?", (day, tool))
            before = Calls(times=times_of(json.loads(row[0]))) if row else Calls()
            self.tx.execute(
                f"""
                INSERT INTO call_counts (day, tool, {_COLUMNS}, times)
                VALUES (:day, :tool, :calls, :refused, :failed, :degraded, :timed_out, :milliseconds, :times)
                ON CONFLICT (day, tool) DO UPDATE SET
                    calls = calls + excluded.calls,
                    refused = refused + excluded.refused,
                    failed = failed + excluded.failed,
                    degraded = degraded + excluded.degraded,
                    timed_out = timed_out + excluded.timed_out,
                    milliseconds = milliseconds + excluded.milliseconds,
                    times = excluded.times
                """,
                {
                    "day": day,
                    "tool": tool,
                    "calls": new.calls,
                    "refused": new.refused,
                    "failed": new.failed,
                    "degraded": new.degraded,
                    "timed_out": new.timed_out,
                    "milliseconds": new.milliseconds,
                    "times": json.dumps((before + new).times),
                },
            )
        moment = ServerDays(self.tx).certain()
        if moment is not None:
            self.tx.execute("DELETE FROM call_counts WHERE day < ?", (day_before(moment, DAYS),))

    def select(self, days: int) -> dict[str, Calls]:
        since = day_before(self.tx.now, days - 1)
        return summed(
            self.tx.rows(f"SELECT tool, times, {_COLUMNS} FROM call_counts WHERE day >= ?", (since,))
        )
