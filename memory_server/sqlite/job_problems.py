"""The table `job_problems`: what went wrong last in each background job of each running process."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from memory_server.domain.moment import timestamp
from memory_server.sqlite.rows import Rows
from memory_server.sqlite.tx import Tx

ROWS = (Rows("job_problems", ("job", "process", "problem", "at"), moments=("at",), id="job"),)

FRESH = timedelta(minutes=5)
"""A problem that has not been told again for so long belongs to a process that has ended."""


@dataclass(frozen=True, slots=True)
class JobProblems:
    """The table `job_problems`: what went wrong last in each background job of each running process."""

    tx: Tx

    def select(self) -> dict[str, str]:
        rows = self.tx.rows(
            "SELECT job, problem FROM job_problems WHERE at >= ? ORDER BY at", (self._oldest(),)
        )
        return dict(rows)

    def replace(self, job: str, process: str, problem: str) -> None:
        self.tx.execute("DELETE FROM job_problems WHERE at < ?", (self._oldest(),))
        self.tx.execute(
            """
            INSERT OR REPLACE INTO job_problems (job, process, problem, at)
            VALUES (?, ?, ?, ?)
            """,
            (job, process, problem, self.tx.now),
        )

    def delete(self, job: str, process: str) -> None:
        self.tx.execute("DELETE FROM job_problems WHERE job = ? AND process = ?", (job, process))

    def _oldest(self) -> str:
        return timestamp(datetime.fromisoformat(self.tx.now) - FRESH)
