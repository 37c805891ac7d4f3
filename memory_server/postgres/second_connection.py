"""Runs jobs on a second connection, in a thread of its own, beside the work on the first connection."""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

import psycopg

from memory_server.call import deadline
from memory_server.postgres.connections import ANSWER, Connection

AHEAD = 4
"""Jobs that may wait, each with its rows in memory. Giving one more waits for the oldest."""

CANCELING = 2.0
"""Seconds that PostgreSQL has to hear that a job is canceled."""


class SecondConnection:
    """Runs one job after the other on its connection. The error of a job is raised by a later `give`, or by `wait`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._thread = ThreadPoolExecutor(1)
        self._jobs: deque[Future[None]] = deque()

    def give(self, job: Callable[[Connection], None]) -> None:
        """Run a job after those that were given before. Waits while more than AHEAD jobs wait."""
        self._jobs.append(self._thread.submit(job, self._connection))
        if len(self._jobs) > AHEAD:
            self._jobs[0].result()
            self._jobs.popleft()

    def wait(self) -> None:
        """Wait until all jobs are done."""
        while self._jobs:
            self._jobs[0].result()
            self._jobs.popleft()

    def close(self) -> None:
        """Cancel all jobs, also the one that runs, and close the connection."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        if not all(job.done() for job in self._jobs):
            with suppress(psycopg.OperationalError):
                self._connection.cancel_safe(timeout=max(ANSWER, deadline.left(CANCELING)))
        self._thread.shutdown()
        self._connection.close()
