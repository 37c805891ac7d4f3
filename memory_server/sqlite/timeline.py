"""Counts what was stored, recalled, superseded and forgotten on each day in each project."""

from dataclasses import dataclass

from memory_server.domain.timeline import Happened
from memory_server.sqlite.tx import Tx


@dataclass(frozen=True, slots=True)
class Timeline:
    """The table of `tx.timeline`: see `storage.history.Timeline`."""

    tx: Tx

    def counts(self, since: str) -> list[tuple[str, str, Happened, int]]:
        rows = self.tx.rows(
            """
            WITH forgotten AS (
                SELECT deleted_at, coalesce(parts -> '$.memories[0]', parts -> '$.turns[0]') AS row FROM trash
            )
            SELECT date(at, 'localtime') AS day, ifnull(project, '') AS project, what, count(*)
            FROM (
                SELECT created_at AS at, project, 'stored' AS what FROM memories WHERE created_at >= :since
                UNION ALL
                SELECT created_at, project, 'stored' FROM turns WHERE created_at >= :since
                UNION ALL
                SELECT changed_at, iif(scope = 'project', owner, ''), iif(action = 'written', 'stored', 'forgotten')
                FROM fact_history
                WHERE changed_at >= :since
                UNION ALL
                SELECT accessed_at, project, 'recalled' FROM memories WHERE accessed_at >= :since
                UNION ALL
                SELECT e.valid_from, m.project, 'superseded'
                FROM edges AS e
                JOIN memories AS m ON m.id = e.target_id
                WHERE e.relation = 'supersedes' AND e.valid_from >= :since
                UNION ALL
                SELECT deleted_at, row ->> 'project', 'forgotten' FROM forgotten WHERE deleted_at >= :since
                UNION ALL
                SELECT row ->> 'created_at', row ->> 'project', 'stored' FROM forgotten WHERE row ->> 'created_at' >=
                :since
            )
            GROUP BY 1, 2, 3
            ORDER BY 1, 2, 3
            """,
            {"since": since},
        )
        return [(day, project, Happened(what), number) for day, project, what, number in rows]
