"""Counts of each day and project: what was stored, recalled, superseded and forgotten."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from memory_server.domain.timeline import Happened
from memory_server.storage.statements import Statements
from memory_server.storage.tables.turns import STORED


@dataclass(frozen=True, slots=True)
class Timeline:
    tx: Statements

    def counts(self, since: str, until: str) -> list[tuple[str, str, Happened, int]]:
        """Return day (YYYY-MM-DD, of this machine's zone), project ('' is none), what, how many between two moments.

        Only the last recall of each memory is known, so an earlier one is not counted. Quarters of hours are counted in
        SQL, since every zone begins its days with one.
        """
        rows = self.tx.rows(
            f"""
            WITH
                forgotten AS (
                    SELECT deleted_at, coalesce(parts -> '$.memories[0]', parts -> '$.turns[0]') AS stored
                    FROM (
                        SELECT deleted_at, parts AS parts
                        FROM trash
                        WHERE deleted_at >= :since -- as all that was stored since then
                        LIMIT 1000000000 -- else the JSON would be read anew for each of its fields
                    ) AS read
                ),
                happened (at, project, what) AS (
                    SELECT created_at, project, 'stored'
                    FROM memories
                    WHERE created_at >= :since AND created_at < :until
                    UNION ALL
                    SELECT created_at, project, 'stored'
                    FROM turns
                    WHERE created_at >= :since AND created_at < :until AND {STORED}
                    UNION ALL
                    SELECT changed_at, CASE scope WHEN 'project' THEN owner END,
                        CASE action WHEN 'written' THEN 'stored' ELSE 'forgotten' END
                    FROM fact_history
                    WHERE changed_at >= :since AND changed_at < :until
                    UNION ALL
                    SELECT accessed_at, project, 'recalled'
                    FROM memories
                    WHERE accessed_at >= :since AND accessed_at < :until
                    UNION ALL
                    SELECT e.valid_from, m.project, 'superseded'
                    FROM edges AS e
                    JOIN memories AS m ON m.id = e.target_id
                    WHERE e.relation = 'supersedes' AND e.valid_from >= :since AND e.valid_from < :until
                    UNION ALL
                    SELECT deleted_at, stored ->> '$.project', 'forgotten' FROM forgotten
                    WHERE deleted_at < :until
                    UNION ALL
                    SELECT stored ->> '$.created_at', stored ->> '$.project', 'stored'
                    FROM forgotten
                    WHERE stored ->> '$.created_at' >= :since AND stored ->> '$.created_at' < :until
                )
            SELECT
                substr(at, 1, 14) || CASE
                    WHEN substr(at, 15, 2) < '15' THEN '00'
                    WHEN substr(at, 15, 2) < '30' THEN '15'
                    WHEN substr(at, 15, 2) < '45' THEN '30'
                    ELSE '45'
                END || 'Z' AS quarter,
                coalesce(project, ''), what, count(*)
            FROM (SELECT strftime('%Y-%m-%dT%H:%M:%fZ', at) AS at, project, what FROM happened) AS read
            WHERE at IS NOT NULL
            GROUP BY 1, 2, 3
            """,
            {"since": since, "until": until},
        )
        days: Counter[tuple[str, str, str]] = Counter()
        for quarter, project, what, number in rows:
            day = f"{datetime.fromisoformat(quarter).astimezone():%Y-%m-%d}"
            days[day, project, what] += number
        return [
            (day, project, Happened(what), number) for (day, project, what), number in sorted(days.items())
        ]
