"""Background work: named jobs, each in a thread of its own, so that none can stop or delay another."""

import logging
import threading
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from memory_server.call import acting
from memory_server.errors import MemoryServerError
from memory_server.language.text import visible
from memory_server.storage.database import Database

logger = logging.getLogger(__name__)

RETRY = 1.0
SLOWEST = 60.0
"""Seconds before a job that failed is tried again: 2 after the first failure (less where its own pace is faster), twice
as many after each further one, at most a minute. So a mended cause is noticed soon, and the problem is told again
before `job_problems` takes this process for one that has ended."""

FAREWELL = 0.1
"""Seconds that `stop` waits for jobs to end: the process must leave within half a second."""


def _nothing() -> None:
    pass


@dataclass(frozen=True, slots=True)
class Job:
    """Work that is done again every `every` seconds, and at once when `wake` is set; the first time after `delay`.

    `last` is called once, in the job's own thread, when the work stops. `shared`: it is done for all processes by one,
    where they can agree on that.
    """

    name: str
    run: Callable[[], object]
    every: float
    delay: float = 0.0
    wake: threading.Event = field(default_factory=threading.Event)
    last: Callable[[], object] = _nothing
    shared: bool = False


class Background:
    """Runs the jobs. The last problem of each is in the file until the job succeeds: so every process can tell it."""

    def __init__(self, database: Database, jobs: Sequence[Job]) -> None:
        self._database = database
        self._jobs = list(jobs)
        self._process = uuid.uuid4().hex
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []

    def add(self, job: Job) -> None:
        """Add a job of a face, before the start."""
        self._jobs.append(job)

    def start(self) -> None:
        """Begin; returns at once."""
        for job in self._jobs:
            thread = threading.Thread(target=self._keep_running, args=(job,), name=job.name, daemon=True)
            self._threads.append(thread)
            thread.start()

    def stop(self) -> None:
        """Ask the jobs to end, and give them a moment; one may be in the middle of its work still."""
        self._stopping.set()
        for job in self._jobs:
            job.wake.set()
        for thread in self._threads:
            thread.join(FAREWELL / len(self._threads))

    @acting.as_(None)
    def _keep_running(self, job: Job) -> None:
        """Work as the owner of the file."""
        self._stopping.wait(job.delay)
        pause, is_recorded = min(job.every, RETRY), False
        while not self._stopping.is_set():
            problem = self._problem_of(job)
            is_recorded = self._tell(job, problem, is_recorded)
            pause = min(job.every, RETRY) if problem is None else min(2 * pause, SLOWEST)
            job.wake.wait(job.every if problem is None else pause)
            job.wake.clear()
        try:
            job.last()
        except MemoryServerError as error:
            logger.info("%s: %s", job.name, error)

    def _problem_of(self, job: Job) -> str | None:
        """Run the job once, unless another process does it; return what went wrong."""
        try:
            if not job.shared or self._database.leads():
                job.run()
        except MemoryServerError as error:
            logger.error("%s: %s", job.name, error)
            return str(error)
        except Exception as error:
            logger.exception("%s failed", job.name)
            return f"failed ({type(error).__name__}: {error}); the server's standard error says more"
        return None

    def _tell(self, job: Job, problem: str | None, is_recorded: bool) -> bool:
        """Write the problem into the file, or take it out again; return True if one of this job is in it now.

        Where the file cannot be written, the log has to do.
        """
        if problem is None and not is_recorded:
            return False
        try:
            if self._database.read_only:
                return False
            with self._database.write() as tx:
                if problem is None:
                    tx.job_problems.delete(job.name, self._process)
                else:
                    tx.job_problems.replace(job.name, self._process, visible(problem))
        except MemoryServerError as error:
            logger.warning("the problem of the job %s was not recorded: %s", job.name, error)
            return is_recorded
        return problem is not None
