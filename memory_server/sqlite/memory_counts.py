"""The table `memory_counts`, which triggers keep: how many memories there are, so that nobody has to count them."""

from memory_server.sqlite.rows import Rows
from memory_server.sqlite.tx import Tx, WriteTx

ROWS = (
    Rows("memory_counts", ("project", "type", "person"), id="project"),
    Rows("memory_overwritten", ("project", "type", "person")),
)

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


def by_type(tx: Tx, project: str | None) -> dict[str, int]:
    """How many memories there are of each type, most first: in a project ('' is none), or in all."""
    return _by(tx, project, "type")


def by_project(tx: Tx, project: str | None) -> dict[str, int]:
    """How many memories there are in each project ('' is none), most first: in one, or in all."""
    return _by(tx, project, "project")


def _by(tx: Tx, project: str | None, column: str) -> dict[str, int]:
    rows = tx.rows(
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


def total(tx: Tx, project: str | None = None) -> int:
    """How many memories there are in a project ('' is none), or in all."""
    return int(
        tx.value(
            "SELECT ifnull(sum(number), 0) FROM memory_counts WHERE ? IS NULL OR project = ?",
            (project, project),
        )
    )


def current(tx: Tx, project: str) -> int:
    """How many memories of a project no other one supersedes or stands for."""
    row = tx.one("SELECT ifnull(sum(number - replaced), 0) FROM memory_counts WHERE project = ?", (project,))
    return int(row[0])


def wrong(tx: Tx) -> list[str]:
    """What is counted wrongly, a line each. Reads all memories."""
    found = []
    marked = tx.value(f"SELECT count(*) FROM memories WHERE replaced <> {_REPLACED}")
    if marked:
        found.append(f"{marked} memories are marked wrongly as replaced by others or not")
    counts = "SELECT project, type, importance, person, number, replaced FROM memory_counts"
    if tx.value(f"SELECT 1 FROM ({counts} EXCEPT SELECT * FROM ({_COUNTED}))") or tx.value(
        f"SELECT 1 FROM (SELECT * FROM ({_COUNTED}) EXCEPT {counts})"
    ):
        found.append("the counts of memories are wrong")
    return found


def mend(tx: WriteTx) -> None:
    """Count anew."""
    tx.execute(f"UPDATE memories SET replaced = {_REPLACED} WHERE replaced <> {_REPLACED}")
    tx.execute("DELETE FROM memory_counts")
    tx.execute(f"INSERT INTO memory_counts (project, type, importance, person, number, replaced) {_COUNTED}")
