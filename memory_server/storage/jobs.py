"""Background jobs: what failed, and what is to be erased."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, Protocol

from memory_server.domain.moment import timestamp

FILE: Final = "file"
"""The free bytes of the whole file. The other names are word indexes, whose deleted words are to go."""

FRESH: Final = timedelta(minutes=5)
"""A problem that has not been told again for so long belongs to a process that has ended."""


def oldest(now: str) -> str:
    """The moment since which a problem must have been told to count still."""
    return timestamp(datetime.fromisoformat(now) - FRESH)


class JobProblems(Protocol):
    """The table `job_problems`: what went wrong last in each background job of each running process."""

    def select(self) -> dict[str, str]:
        """The last problem of each job that fails now, by the job's name."""
        ...


class WritableJobProblems(JobProblems, Protocol):
    """The same in a transaction that writes."""

    def replace(self, job: str, process: str, problem: str) -> None:
        """Tell the problem, and forget those of processes that have ended."""
        ...

    def delete(self, job: str, process: str) -> None:
        """The job has succeeded in this process."""
        ...


class ServerDays(Protocol):
    """The table `server_days`: the last days on which a server ran, as far as the database knows."""

    def newest(self) -> int | None:
        """The last of them, in days since 1970."""
        ...

    def certain(self) -> str | None:
        """The start of the last day before today on which a server ran; None where none is known.

        Only what was old at this moment is removed by its age. So a clock that leaps for one day removes nothing.
        """
        ...


class WritableServerDays(ServerDays, Protocol):
    """Methods that write; available in `WriteTx`."""

    def mark(self) -> None:
        """A server runs today. Days later than today are forgotten: the clock was wrong."""
        ...


class Erasures(Protocol):
    """The table `erasures`: what was deleted and is still to be erased from the file. Triggers ask for it; jobs do
    it."""

    def due(self) -> dict[str, int]:
        """What is to be erased, each with how often it has been asked for."""
        ...


class WritableErasures(Erasures, Protocol):
    """The same in a transaction that writes."""

    def mark_done(self, asked: Mapping[str, int]) -> None:
        """As often as it was asked for when the work began: what was asked for since is still due."""
        ...
