"""A database as services use it: its transactions, and the operations on the whole of it."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from memory_server.call.deadline import CALL
from memory_server.errors import Problem, Unavailable
from memory_server.storage.files import Files
from memory_server.storage.tx import Tx, WriteTx

COUNTING_PATIENCE = 0.2
"""Seconds that a read waits for other writers to write its marks: after them only the marks are lost."""


class Database(Protocol):
    """Threads may share it. It is opened at the first use; a failure to open is tried again at the next."""

    @property
    def path(self) -> Path | None:
        """The file; None where it has none."""
        ...

    @property
    def files(self) -> Files:
        """The file and those beside it."""
        ...

    def open(self) -> None:
        """Open it now, and bring its schema forward.

        Raises:
            Unavailable: it cannot be opened; the message says why and what mends it.
        """
        ...

    def refuse_new(self) -> None:
        """Never create the database: where it is missing, it is Unavailable. Call this before the first use."""
        ...

    @property
    def read_only(self) -> bool:
        """True if nothing can be written, or not by the acting person."""
        ...

    def read(self) -> AbstractContextManager[Tx]:
        """Return a consistent view of all that is stored, with what the acting person may see."""
        ...

    def write(self, patience: float = CALL) -> AbstractContextManager[WriteTx]:
        """Return a write: committed and durable when the block ends, undone when it raises.

        `patience` is how many seconds to wait for others who write, where the call may take longer. It sees the marks
        that `later` keeps for the same person, and writes them too.

        Raises:
            Invalid: the person may only read.
        """
        ...

    def snapshot(self) -> AbstractContextManager[Tx]:
        """Return a view that stays the same however long it is read, and blocks no writer."""
        ...

    def later(self, mark: Callable[[WriteTx], object]) -> None:
        """Keep a mark, such as an access, for the next write of this process, or else for the next `settle`.

        So a read waits for nobody. The mark is lost if the process is killed.
        """
        ...

    def settle(self, patience: float = COUNTING_PATIENCE) -> Problem | None:
        """Write the marks that `later` keeps for the person, or for all; return why that failed: then they are kept.

        Called before a read that shows counts of this process, and once a second in the background. `patience` is how
        many seconds to wait for others who write.

        Raises:
            Unavailable: the database went away.
        """
        ...

    def record(self, mark: Callable[[WriteTx], object]) -> Problem | None:
        """Write a mark of a read now, unless nothing can be written; return why it failed: then the mark is lost."""
        ...

    def leads(self) -> bool:
        """True if this process does the background work: of the servers of one database one does, of a file every
        process.
        """
        ...

    def stamp(self) -> str:
        """Return a text that changes with each write, of this process or another."""
        ...

    def problems(self) -> list[str]:
        """Check all that is stored; return a line for each problem. Reads everything."""
        ...

    def free(self) -> int | None:
        """Count the free bytes of the file; None where there is no file."""
        ...

    def erase(self) -> int:
        """Overwrite what was deleted; return how many bytes were written."""
        ...

    def close(self, timeout: float = CALL) -> bool:
        """Write the kept marks and close the database for good; false when another thread writes for `timeout`
        seconds.
        """
        ...


def record(database: Database, mark: Callable[[WriteTx], object]) -> Problem | None:
    """Implement `Database.record` for both stores."""
    try:
        if database.read_only:
            return None
        with database.write(COUNTING_PATIENCE) as tx:
            mark(tx)
    except Unavailable as error:
        return error.problem
    return None
