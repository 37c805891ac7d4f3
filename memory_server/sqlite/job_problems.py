"""The table `job_problems`: what went wrong last in each background job of each running process."""

from dataclasses import dataclass

from memory_server.sqlite.tx import Tx
from memory_server.storage.jobs import oldest


@dataclass(frozen=True, slots=True)
class JobProblems:
    """The table `job_problems`: what went wrong last in each background job of each running process."""

    tx: Tx

    def select(self) -> dict[str, str]:
        rows = self.tx.rows(
            "SELECT job, problem FROM job_problems WHERE at >= ? ORDER BY at", (oldest(self.tx.now),)
        )
        return dict(rows)

    def replace(self, job: str, process: str, problem: str) -> None:
        self.tx.execute("DELETE FROM job_problems WHERE at < ?", (oldest(self.tx.now),))
        self.tx.execute(
            """
            INSERT OR REPLACE INTO job_problems (job, process, problem, at)
            VALUES (?, ?, ?, ?)
            """,
            (job, process, problem, self.tx.now),
        )

    def delete(self, job: str, process: str) -> None:
        self.tx.execute("DELETE FROM job_problems WHERE job = ? AND process = ?", (job, process))
