"""Counts what was stored, recalled, superseded and forgotten on each day in each project."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from memory_server.domain.timeline import Happened
from memory_server.postgres.tx import Tx


@dataclass(frozen=True, slots=True)
class Timeline:
    """The table of `tx.timeline`: see `storage.history.Timeline`."""

    tx: Tx

    def counts(self, since: str) -> list[tuple[str, str, Happened, int]]:
        """Count by the days of this server's time zone, not of the database's.

        Quarters of hours are counted in SQL, since every zone begins its days with one.
        """
        rows = self.tx.rows(
            """
            WITH
                forgotten AS (
                    SELECT
                        deleted_at,
                        coalesce(readable_json(parts) #> '{memories,0}', readable_json(parts) #> '{turns,0}') AS row
                    FROM trash
                    WHERE deleted_at >= %(since)s -- as all that was stored since then
                ),
                happened (at, project, what) AS (
                    SELECT created_at, project, 'stored' FROM memories WHERE created_at >= %(since)s
                    UNION ALL
                    SELECT created_at, project, 'stored' FROM turns WHERE created_at >= %(since)s
                    UNION ALL
                    SELECT changed_at, CASE scope WHEN 'project' THEN owner END,
                        CASE action WHEN 'written' THEN 'stored' ELSE 'forgotten' END
                    FROM fact_history
                    WHERE changed_at >= %(since)s
                    UNION ALL
                    SELECT accessed_at, project, 'recalled' FROM memories WHERE accessed_at >= %(since)s
                    UNION ALL
                    SELECT e.valid_from, m.project, 'superseded'
                    FROM edges AS e
                    JOIN memories AS m ON m.id = e.target_id
                    WHERE e.relation = 'supersedes' AND e.valid_from >= %(since)s
                    UNION ALL
                    SELECT deleted_at, row ->> 'project', 'forgotten' FROM forgotten
                    UNION ALL
                    SELECT row ->> 'created_at', row ->> 'project', 'stored'
                    FROM forgotten
                    WHERE row ->> 'created_at' >= %(since)s
                )
            SELECT quarter, coalesce(project, ''), what, count(*)
            FROM (
                SELECT
                    substr(at, 1, 14) || lpad((substr(at, 15, 2)::int / 15 * 15)::text, 2, '0') || 'Z' AS quarter,
                    project, what
                FROM (SELECT as_moment(at) AS at, project, what FROM happened) AS read
            ) AS quarters
            GROUP BY 1, 2, 3
            """,
            {"since": since},
        )
        days: Counter[tuple[str, str, str]] = Counter()
        for quarter, project, what, number in rows:
            day = f"{datetime.fromisoformat(quarter).astimezone():%Y-%m-%d}"
            days[day, project, what] += number
        return [
            (day, project, Happened(what), number) for (day, project, what), number in sorted(days.items())
        ]
