"""The table `memory_counts`, which triggers keep: how many memories there are, so that nobody has to count them."""

from dataclasses import dataclass

from memory_server.sqlite.tx import Tx

_COUNTED = """
    SELECT
        ifnull(project, '') AS project, type, importance, ifnull(person, '') AS person, count(*) AS number,
        sum(replaced) AS replaced
    FROM memories
    GROUP BY 1, 2, 3, 4
"""

_REPLACED = """
    EXISTS (
        SELECT 1
        FROM edges
        WHERE target_id = memories.id AND relation IN ('supersedes', 'summarizes') AND valid_to IS NULL
    )
"""


@dataclass(frozen=True, slots=True)
class MemoryCounts:
    """The table `memory_counts`, which triggers keep: how many memories there are, so that nobody has to count them."""

    tx: Tx

    def by_type(self, project: str | None) -> dict[str, int]:
        return self._by(project, "type")

    def by_project(self, project: str | None) -> dict[str, int]:
        return self._by(project, "project")

    def _by(self, project: str | None, column: str) -> dict[str, int]:
        rows = self.tx.rows(
            f"""
            SELECT {column}, sum(number)
            FROM memory_counts
            WHERE ? IS NULL OR project = ?
            GROUP BY 1
            HAVING sum(number) > 0
            ORDER BY 2 DESC, 1
            """,
            (project, project),
        )
        return {str(name): int(number) for name, number in rows}

    def total(self, project: str | None = None) -> int:
        counted = "SELECT ifnull(sum(number), 0) FROM memory_counts"
        if project is None:
            return int(self.tx.value(counted))
        return int(self.tx.value(f"{counted} WHERE project = ?", (project,)))

    def current(self, project: str) -> int:
        row = self.tx.one(
            "SELECT ifnull(sum(number - replaced), 0) FROM memory_counts WHERE project = ?", (project,)
        )
        return int(row[0])

    def wrong(self) -> list[str]:
        found = []
        marked = self.tx.value(f"SELECT count(*) FROM memories WHERE replaced <> {_REPLACED}")
        if marked:
            found.append(f"{marked} memories are marked wrongly as replaced by others or not")
        counts = "SELECT project, type, importance, person, number, replaced FROM memory_counts"
        if self.tx.value(f"SELECT 1 FROM ({counts} EXCEPT SELECT * FROM ({_COUNTED}))") or self.tx.value(
            f"SELECT 1 FROM (SELECT * FROM ({_COUNTED}) EXCEPT {counts})"
        ):
            found.append("the counts of memories are wrong")
        return found

    def mend(self) -> None:
        self.tx.execute(f"UPDATE memories SET replaced = {_REPLACED} WHERE replaced <> {_REPLACED}")
        self.tx.execute("DELETE FROM memory_counts")
        self.tx.execute(
            f"INSERT INTO memory_counts (project, type, importance, person, number, replaced) {_COUNTED}"
        )
