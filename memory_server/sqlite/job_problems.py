"""The table `job_problems`: what went wrong last in each background job of each running process."""

from datetime import datetime, timedelta

from memory_server.domain.moment import timestamp
from memory_server.sqlite.rows import Rows
from memory_server.sqlite.tx import Tx, WriteTx

ROWS = (Rows("job_problems", ("job", "process", "problem", "at"), moments=("at",), id="job"),)

FRESH = timedelta(minutes=5)
"""A problem that has not been told again for so long belongs to a process that has ended."""


def select(tx: Tx) -> dict[str, str]:
    """The last problem of each job that fails now, by the job's name."""
    rows = tx.rows("SELECT job, problem FROM job_problems WHERE at >= ? ORDER BY at", (_oldest(tx),))
    return dict(rows)


def replace(tx: WriteTx, job: str, process: str, problem: str) -> None:
    """Tell the problem, and forget those of processes that have ended."""
    tx.execute("DELETE FROM job_problems WHERE at < ?", (_oldest(tx),))
    tx.execute(
        """
        INSERT OR REPLACE INTO job_problems (job, process, problem, at)
        VALUES (?, ?, ?, ?)
        """,
        (job, process, problem, tx.now),
    )


def delete(tx: WriteTx, job: str, process: str) -> None:
    """The job has succeeded in this process."""
    tx.execute("DELETE FROM job_problems WHERE job = ? AND process = ?", (job, process))


def _oldest(tx: Tx) -> str:
    return timestamp(datetime.fromisoformat(tx.now) - FRESH)
