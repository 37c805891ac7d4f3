"""The table `memory_counts`, which triggers keep: how many memories there are, so that nobody has to count them."""

from dataclasses import dataclass

from memory_server.storage.statements import Statements

_COLUMNS = "project, type, importance, person, number, replaced"

_STORED = f"SELECT {_COLUMNS} FROM memory_counts"

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


def _without(rows: str, left_out: str) -> str:
    return f"SELECT * FROM (SELECT * FROM ({rows}) AS a EXCEPT SELECT * FROM ({left_out}) AS b) AS c"


@dataclass(frozen=True, slots=True)
class MemoryCounts:
    tx: Statements

    def by_type(self, project: str | None) -> dict[str, int]:
        """Count the memories of each type, most first: in a project ('' is none), or in all."""
        return self._by(project, "type")

    def by_project(self, project: str | None) -> dict[str, int]:
        """Count the memories in each project ('' is none), most first: in one, or in all."""
        return self._by(project, "project")

    def total(self, project: str | None = None) -> int:
        """Count the memories in a project ('' is none), or in all."""
        return self._sum("number", project)

    def current(self, project: str) -> int:
        """Count the memories of a project that no other one supersedes or stands for."""
        return self._sum("number - replaced", project)

    def wrong(self) -> list[str]:
        """Return what is counted wrongly, a line each. Reads all memories."""
        marked, miscounted = self.tx.one(
            f"""
            SELECT
                (SELECT count(*) FROM memories WHERE {_MARKED_WRONGLY}),
                EXISTS ({_without(_STORED, _COUNTED)} UNION ALL {_without(_COUNTED, _STORED)})
            """
        )
        problems = []
        if marked:
            problems.append(f"{marked} memories are marked wrongly as replaced by others or not")
        if miscounted:
            problems.append("the counts of memories are wrong")
        return problems

    def _by(self, project: str | None, column: str) -> dict[str, int]:
        rows = self.tx.rows(
            f"""
            SELECT {column}, sum(number)
            FROM memory_counts
            {"" if project is None else "WHERE project = :project"}
            GROUP BY 1
            HAVING sum(number) > 0
            ORDER BY 2 DESC, 1
            """,
            {"project": project},
        )
        return {str(name): int(number) for name, number in rows}

    def _sum(self, numbers: str, project: str | None) -> int:
        where = "" if project is None else "WHERE project = :project"
        return int(
            self.tx.value(
                f"SELECT coalesce(sum({numbers}), 0) FROM memory_counts {where}", {"project": project}
            )
        )


@dataclass(frozen=True, slots=True)
class WritableMemoryCounts(MemoryCounts):
    def mend(self) -> None:
        """Count anew."""
        self.tx.send(f"UPDATE memories SET replaced = NOT replaced WHERE {_MARKED_WRONGLY}")
        self.tx.send("DELETE FROM memory_counts")
        self.tx.send(f"INSERT INTO memory_counts ({_COLUMNS}) {_COUNTED}")
