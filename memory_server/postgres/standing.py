"""Reads the memories of a project that matter most now by the index `memories_by_standing`, so that few are read."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from memory_server.domain.memory import Memory
from memory_server.domain.moment import timestamp
from memory_server.postgres.tx import Tx
from memory_server.storage import memory_rows

_COLUMNS = memory_rows.columns("as_moment")

_STANDS = memory_rows.STANDS.replace("%", "%%")

_LEAST_EXPONENT = -700
"""The exponent below which a number is too small, as of a moment that lies a lifetime back."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The table of `tx.standing`: see `storage.memories.Standing`."""

    tx: Tx

    def most_important(self, project: str, limit: int, least: int = 1) -> list[Memory]:
        """Read of each type and importance the first memories by standing, as many as the limit, and those of the
        future.

        The standing of a memory whose moment is still to come says too much.
        """
        of_project = "project = %(project)s" if project else "project IS NULL"  # as the index knows it
        current = f"{of_project} AND type = g.type AND importance = g.importance AND NOT replaced"
        row = "id, type, importance, access_count, as_moment(coalesce(occurred_at, created_at)) AS at"
        rows = self.tx.rows(
            f"""
            WITH found AS (
                SELECT m.*
                FROM (
                    SELECT DISTINCT type, importance
                    FROM memory_counts
                    WHERE project = %(project)s AND importance >= %(least)s AND number > replaced
                ) AS g
                CROSS JOIN LATERAL (
                    (
                        SELECT {row}
                        FROM memories
                        WHERE {current} AND as_moment(coalesce(occurred_at, created_at)) <= %(now)s
                            AND lasts(metadata, %(now)s) AND {_STANDS}
                        ORDER BY standing DESC, id DESC
                        LIMIT %(limit)s
                    )
                    UNION ALL
                    (
                        SELECT {row}
                        FROM memories
                        WHERE {current} AND coalesce(occurred_at, created_at) > %(earlier)s
                            AND as_moment(coalesce(occurred_at, created_at)) > %(now)s
                            AND lasts(metadata, %(now)s) AND {_STANDS}
                    )
                ) AS m
            )
            SELECT {_COLUMNS}
            FROM (
                SELECT id, row_number() OVER (
                    ORDER BY
                        importance * round((ln(access_count + 2) / ln(2))::numeric, 13)::double precision * exp(
                            greatest({_LEAST_EXPONENT}, -decay_of(type) * greatest(0, days_of(%(now)s) - days_of(at)))
                        ) DESC,
                        id DESC
                ) AS place
                FROM found
                ORDER BY place
                LIMIT %(limit)s
            ) AS best
            JOIN memories ON memories.id = best.id
            ORDER BY best.place
            """,
            {
                "project": project,
                "least": least,
                "now": self.tx.now,
                "earlier": timestamp(datetime.fromisoformat(self.tx.now) - timedelta(days=1)),
                "limit": limit,
            },
        )
        return [memory_rows.memory(row) for row in rows]
