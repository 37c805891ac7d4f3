"""The table `call_counts`: the calls of a day by tool."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from memory_server.domain.calls import Calls, times_of
from memory_server.postgres.server_days import ServerDays
from memory_server.postgres.tx import Tx
from memory_server.storage.people import DAYS, day_before, summed

_COLUMNS = "calls, refused, failed, degraded, timed_out, milliseconds"


@dataclass(frozen=True, slots=True)
class CallCounts:
    """The table `call_counts`: the calls of a day by tool."""

    tx: Tx

    def add(self, counted: Mapping[str, Calls]) -> None:
        day = self.tx.now[:10]
        before = {
            tool: Calls(times=times_of(json.loads(times)))
            for tool, times in self.tx.rows(
                "SELECT tool, times FROM call_counts WHERE day = %s AND tool = ANY (%s)", (day, list(counted))
            )
        }
        for tool, new in counted.items():
            self.tx.send(
                f"""
                INSERT INTO call_counts (day, tool, {_COLUMNS}, times)
                VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)
                ON CONFLICT (tenant_id, day, tool) DO UPDATE SET
                    calls = call_counts.calls + excluded.calls,
                    refused = call_counts.refused + excluded.refused,
                    failed = call_counts.failed + excluded.failed,
                    degraded = call_counts.degraded + excluded.degraded,
                    timed_out = call_counts.timed_out + excluded.timed_out,
                    milliseconds = call_counts.milliseconds + excluded.milliseconds,
                    times = excluded.times
                """,
                (
                    day,
                    tool,
                    new.calls,
                    new.refused,
                    new.failed,
                    new.degraded,
                    new.timed_out,
                    new.milliseconds,
                    json.dumps((before.get(tool, Calls()) + new).times),
                ),
            )
        moment = ServerDays(self.tx).certain()
        if moment is not None:
            self.tx.send("DELETE FROM call_counts WHERE day < %s", (day_before(moment, DAYS),))

    def select(self, days: int) -> dict[str, Calls]:
        since = day_before(self.tx.now, days - 1)
        return summed(
            self.tx.rows(f"SELECT tool, times, {_COLUMNS} FROM call_counts WHERE day >= %s", (since,))
        )
