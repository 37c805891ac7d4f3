"""Reports on the state of the memory: the file, its rows, the jobs, the embedder."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from memory_server.domain.forgetting import jumped
from memory_server.domain.situation import Situation
from memory_server.errors import Problem
from memory_server.services.coverage import Coverage
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.waking import Judge
from memory_server.storage.database import Database
from memory_server.triggers import unavailable


@dataclass(frozen=True, slots=True)
class HealthReport:
    """The state of a database. Wrong are `exposed`, files that others can read; `last_copies`, copies that may be the
    last; `damage`, bad rows; and `jobs`, those that fail.

    `size` is in bytes. `copies` and `rescues` are the files next to the database that hold its content too, each with
    its age. `to_erase`: bytes of what was deleted are not overwritten yet. `clock` says that the clock may be wrong,
    `asleep` that no trigger can be evaluated.
    """

    libraries: Mapping[str, str]
    size: int
    memories: int
    coverage: Coverage
    exposed: tuple[str, ...]
    last_copies: tuple[str, ...]
    damage: tuple[str, ...]
    jobs: Mapping[str, str]
    copies: tuple[str, ...]
    rescues: tuple[str, ...]
    to_erase: bool
    clock: str | None
    asleep: Problem | None

    @property
    def problems(self) -> tuple[str, ...]:
        return (*self.exposed, *self.last_copies, *self.damage)


@dataclass(frozen=True, slots=True)
class HealthService:
    database: Database
    queue: EmbeddingQueue
    judge: Judge

    def check(self) -> HealthReport:
        """Look at everything. Loads the embedder and reads the whole file."""
        self.queue.warm_up()
        coverage = self.queue.coverage()
        files = self.database.files
        exposed, last_copies = tuple(files.exposed()), tuple(files.last_copies())
        damage = tuple(self.database.problems())
        asleep = unavailable(self.judge(["true"], Situation((), "", datetime.fromtimestamp(0, UTC), 0), 0))
        with self.database.read() as tx:
            return HealthReport(
                tx.health.libraries(),
                tx.size(),
                tx.memory_counts.total(),
                coverage,
                exposed,
                last_copies,
                damage,
                tx.job_problems.select(),
                tuple(files.copies()),
                tuple(files.rescues()),
                bool(tx.erasures.due()),
                jumped(tx.now, tx.server_days.newest()),
                asleep,
            )

    def mend(self) -> list[str]:
        """Mend what can be mended without a decision: who may read the file, copies that were broken off, and counts.

        A line for each thing that was done.
        """
        done = self.database.files.tidy()
        if self.database.read_only:
            return done
        with self.database.write() as tx:
            wrong = tx.memory_counts.wrong()
            if wrong:
                tx.memory_counts.mend()
        return [*done, *(["the memories were counted anew"] if wrong else [])]
