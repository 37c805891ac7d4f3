"""The table `job_problems`: what went wrong last in each background job of each running process."""

from dataclasses import dataclass

from memory_server.postgres.tx import Tx
from memory_server.storage.jobs import oldest


@dataclass(frozen=True, slots=True)
class JobProblems:
    """The table `job_problems`: what went wrong last in each background job of each running process."""

    tx: Tx

    def select(self) -> dict[str, str]:
        return dict(
            self.tx.rows(
                "SELECT job, problem FROM job_problems WHERE at >= %s ORDER BY at", (oldest(self.tx.now),)
            )
        )

    def replace(self, job: str, process: str, problem: str) -> None:
        self.tx.send("DELETE FROM job_problems WHERE at < %s", (oldest(self.tx.now),))
        self.tx.send(
            """
            INSERT INTO job_problems (job, process, problem, at)
            VALUES (%s, %s, %s, %s)
            ON CONFLICT (tenant_id, job, process) DO UPDATE SET problem = excluded.problem, at = excluded.at
            """,
            (job, process, problem, self.tx.now),
        )

    def delete(self, job: str, process: str) -> None:
        self.tx.send("DELETE FROM job_problems WHERE job = %s AND process = %s", (job, process))
