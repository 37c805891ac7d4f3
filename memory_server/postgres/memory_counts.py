"""The table `memory_counts`, which triggers keep: how many memories there are, so that nobody has to count them."""

from dataclasses import dataclass

from memory_server.postgres.tx import Tx

_COUNTED = """
    SELECT
        coalesce(project, '') AS project, type, importance, coalesce(person, '') AS person, count(*) AS number,
        count(*) FILTER (WHERE replaced) AS replaced
    FROM memories
    GROUP BY 1, 2, 3, 4
"""

_MARKED_WRONGLY = """
    replaced <> (
        id IN (SELECT target_id FROM edges WHERE relation IN ('supersedes', 'summarizes') AND valid_to IS NULL)
    )
"""

_KEPT = "SELECT project, type, importance, person, number, replaced FROM memory_counts"


@dataclass(frozen=True, slots=True)
class MemoryCounts:
    """The table `memory_counts`, which triggers keep: how many memories there are, so that nobody has to count them."""

    tx: Tx

    def by_type(self, project: str | None) -> dict[str, int]:
        return self._by(project, "type")

    def by_project(self, project: str | None) -> dict[str, int]:
        return self._by(project, "project")

    def total(self, project: str | None = None) -> int:
        return int(
            self.tx.value(
                """
                SELECT coalesce(sum(number), 0)
                FROM memory_counts
                WHERE %(project)s::text IS NULL OR project = %(project)s
                """,
                {"project": project},
            )
        )

    def current(self, project: str) -> int:
        return int(
            self.tx.value(
                "SELECT coalesce(sum(number - replaced), 0) FROM memory_counts WHERE project = %s", (project,)
            )
        )

    def wrong(self) -> list[str]:
        marked, miscounted = self.tx.one(
            f"""
            SELECT
                (SELECT count(*) FROM memories WHERE {_MARKED_WRONGLY}),
                EXISTS (
                    ({_KEPT} EXCEPT SELECT * FROM ({_COUNTED}) AS counted)
                    UNION ALL
                    (SELECT * FROM ({_COUNTED}) AS counted EXCEPT {_KEPT})
                )
            """
        )
        found = []
        if marked:
            found.append(f"{marked} memories are marked wrongly as replaced by others or not")
        if miscounted:
            found.append("the counts of memories are wrong")
        return found

    def mend(self) -> None:
        self.tx.send(f"UPDATE memories SET replaced = NOT replaced WHERE {_MARKED_WRONGLY}")
        self.tx.send("DELETE FROM memory_counts")
        self.tx.send(
            f"INSERT INTO memory_counts (project, type, importance, person, number, replaced) {_COUNTED}"
        )

    def _by(self, project: str | None, column: str) -> dict[str, int]:
        rows = self.tx.rows(
            f"""
            SELECT {column}, sum(number)
            FROM memory_counts
            WHERE %(project)s::text IS NULL OR project = %(project)s
            GROUP BY 1
            HAVING sum(number) > 0
            ORDER BY 2 DESC, 1
            """,
            {"project": project},
        )
        return {str(name): int(number) for name, number in rows}
