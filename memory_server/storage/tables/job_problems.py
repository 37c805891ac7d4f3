"""The table `job_problems`: what went wrong last in each background job of each running process."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from memory_server.domain.moment import timestamp
from memory_server.storage.statements import Statements

FRESH: Final = timedelta(minutes=5)
"""A problem that has not been told again for so long belongs to a process that has ended."""


@dataclass(frozen=True, slots=True)
class JobProblems:
    tx: Statements

    def select(self) -> dict[str, str]:
        """Return the last problem of each job that fails now, by the job's name."""
        rows = self.tx.rows(
            "SELECT job, problem FROM job_problems WHERE at >= :oldest ORDER BY at",
            {"oldest": self._oldest()},
        )
        return dict(rows)

    def _oldest(self) -> str:
        """Return the moment since which a problem must have been told to count still."""
        return timestamp(datetime.fromisoformat(self.tx.now) - FRESH)


@dataclass(frozen=True, slots=True)
class WritableJobProblems(JobProblems):
    def replace(self, job: str, process: str, problem: str) -> None:
        """Tell the problem, and forget those of processes that have ended."""
        self.tx.send("DELETE FROM job_problems WHERE at < :oldest", {"oldest": self._oldest()})
        self.tx.send(
            """
            INSERT INTO job_problems (job, process, problem, at)
            VALUES (:job, :process, :problem, :now)
            ON CONFLICT (job, process) DO UPDATE SET problem = excluded.problem, at = excluded.at
            """,
            {"job": job, "process": process, "problem": problem, "now": self.tx.now},
        )

    def delete(self, job: str, process: str) -> None:
        """Forget the problem: the job has succeeded in this process."""
        self.tx.send(
            "DELETE FROM job_problems WHERE job = :job AND process = :process",
            {"job": job, "process": process},
        )
