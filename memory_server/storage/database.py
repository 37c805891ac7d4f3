"""A database as services see it: transactions, and what is done with it as a whole."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from memory_server.call.deadline import CALL
from memory_server.errors import Problem, Unavailable
from memory_server.storage.files import Files
from memory_server.storage.tx import Tx, WriteTx

COUNTING_PATIENCE = 0.2
"""Seconds that a read waits for others who write to be able to count itself: then only the count is lost."""


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
        """Make no new database where none is: from now on it is Unavailable then. Before the first use."""
        ...

    @property
    def read_only(self) -> bool:
        """Whether nothing can be written, or not by the person for whom something is done."""
        ...

    def read(self) -> AbstractContextManager[Tx]:
        """One consistent view of all that is stored, as the person sees it for whom something is done."""
        ...

    def write(self, patience: float = CALL) -> AbstractContextManager[WriteTx]:
        """One write: committed and durable when the block ends, undone when it raises.

        `patience` is how many seconds to wait for others who write, where the call may take longer. It sees what
        `later` has kept for the same person, and writes that too.

        Raises:
            Invalid: the person may only read.
        """
        ...

    def snapshot(self) -> AbstractContextManager[Tx]:
        """A view that stays the same however long it is read, and makes nobody wait who writes."""
        ...

    def later(self, mark: Callable[[WriteTx], object]) -> None:
        """Let a read record its access with the next write of this process, and without one in the next `settle`.

        So it waits for nobody. A process that is killed loses it.
        """
        ...

    def settle(self, patience: float = COUNTING_PATIENCE) -> Problem | None:
        """Write what `later` has kept for the person, or for all; why that could not be done. Then it is kept still.

        Before a read that shows what this process has counted; and once a second, in the background. `patience` is how
        many seconds to wait for others who write.

        Raises:
            Unavailable: the database went away.
        """
        ...

    def record(self, mark: Callable[[WriteTx], object]) -> Problem | None:
        """Let a read record its access, unless nothing can be written; why it could not. Then only that is lost."""
        ...

    def leads(self) -> bool:
        """Whether this process does the background work of all: of servers of one database one does, of a file each."""
        ...

    def stamp(self) -> str:
        """A text that is another one after each write, of this process or another."""
        ...

    def problems(self) -> list[str]:
        """What is wrong with what is stored, a line each. Reads everything."""
        ...

    def removal(self, index: str) -> Callable[[], bool]:
        """A function that removes some of the deleted words of an index with each call, and answers whether all are
        gone."""
        ...

    def free(self) -> int | None:
        """Bytes of the file in which nothing is kept; None where there is no file."""
        ...

    def erase(self) -> int:
        """Overwrite what was deleted. How many bytes were written."""
        ...

    def close(self, timeout: float = CALL) -> bool:
        """Write what is kept, and close it for good; false when another thread writes for `timeout` seconds."""
        ...


def record(database: Database, mark: Callable[[WriteTx], object]) -> Problem | None:
    """`Database.record` of each store."""
    try:
        if database.read_only:
            return None
        with database.write(COUNTING_PATIENCE) as tx:
            mark(tx)
    except Unavailable as error:
        return error.problem
    return None
