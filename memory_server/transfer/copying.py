"""Copies a whole database into another one, which can be used when both are equal."""

import hashlib
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass

from memory_server.call import deadline
from memory_server.errors import Conflict, Mend, NotFound, Unavailable, Written, broken_off
from memory_server.storage.columns import TABLES, VECTOR, Table
from memory_server.storage.copying import Copied, Key, Row, Target
from memory_server.storage.database import Database

PAGE = 1000
"""Rows that are in memory at once, and of one transaction."""

ENDING = 2.0
"""Seconds for both databases together to end what they do, after one of them has failed."""

Progress = Callable[[int, int], None]
"""Told how many rows of how many are done: each is copied, and then compared."""


@dataclass(frozen=True, slots=True)
class CopiedTable:
    """A table in both databases: how many rows it has, and a SHA-256 of them in hexadecimal."""

    table: str
    rows: int
    hash: str


@dataclass(frozen=True, slots=True)
class Copy:
    """The tables of a finished copy. `resumed`: a copy that was broken off went on."""

    tables: tuple[CopiedTable, ...]
    resumed: bool


@dataclass(slots=True)
class CopyRun:
    """The work of one copy."""

    target: Target
    progress: Progress
    total: int = 0
    done: int = 0
    began: bool = False
    """From now on the target is an unfinished copy."""
    target_rows: int = 0
    """Number of rows that the target has."""

    def whole(self, source: Copied, name: str) -> Copy:
        """Copy all tables, and let the target be used where it then holds the same."""
        copied = self.fill(source, name)
        self.target.finish(source.highest_ids())
        return copied

    def fill(self, source: Copied, name: str) -> Copy:
        """Copy all tables, and compare them with what the target then holds."""
        self.total = 2 * sum(source.count(table) for table in TABLES)
        if self.total == 0:
            raise NotFound(f"{name} holds nothing to copy.", written=Written.NOTHING)
        resumed = self.target.begin(name)
        self.began = True
        copied = [self.copy(source, table) for table in TABLES]
        self.target.prepare()
        in_target = [self.read(table) for table in TABLES]
        wrong = [
            expected.table for expected, actual in zip(copied, in_target, strict=True) if expected != actual
        ]
        if wrong:
            raise Conflict(
                f"The copy is not equal to {name} in: {', '.join(wrong)}.",
                Mend.COPY_AGAIN,
                written=Written.UNFINISHED,
            )
        return Copy(tuple(copied), resumed)

    def copy(self, source: Copied, table: Table) -> CopiedTable:
        """Give the target's table the rows of the source's."""
        digest, number = hashlib.sha256(), 0
        after: Key | None = None
        while True:
            rows = source.rows(table, after, None, PAGE)
            upto = table.key_of(rows[-1]) if len(rows) == PAGE else None
            if self.target.rows(table, after, upto, None) != rows:
                self.target.put(table, after, upto, rows)
            _add(digest, table, rows)
            number += len(rows)
            self.target_rows += len(rows)
            self._tell(len(rows))
            if upto is None:
                return CopiedTable(table.name, number, digest.hexdigest())
            after = upto

    def read(self, table: Table) -> CopiedTable:
        """Read the target's table as it is now."""
        digest, number = hashlib.sha256(), 0
        after: Key | None = None
        while rows := self.target.rows(table, after, None, PAGE):
            _add(digest, table, rows)
            number += len(rows)
            after = table.key_of(rows[-1])
            self._tell(len(rows))
        return CopiedTable(table.name, number, digest.hexdigest())

    def _tell(self, rows: int) -> None:
        self.done += rows
        self.progress(self.done, self.total)


def copy(
    source: Database, name: str, target: Target, progress: Progress = lambda _done, _total: None
) -> Copy:
    """Copy everything of one moment of the source, which others may use meanwhile, and close the target.

    `name` is what the target keeps of where it comes from, so that a copy that is broken off goes on: what is there
    already and equal stays.

    Raises:
        Conflict: the target is not empty; or it is not equal to the source in the end, and stays unfinished.
        Unavailable: a database cannot be reached or used any more. What was copied stays.
    """
    run = CopyRun(target, progress)
    source.settle()
    try:
        with ExitStack() as ending, closing(target), source.snapshot() as tx:
            try:
                copied = run.whole(tx.copied, name)
            except BaseException:
                ending.enter_context(deadline.within(ENDING))
                raise
    except Unavailable as error:
        if not run.began:
            raise
        raise broken_off(error, run.target_rows, Mend.COPY_AGAIN) from error
    return copied


def _add(digest: "hashlib._Hash", table: Table, rows: list[Row]) -> None:
    if VECTOR not in table.columns:
        for row in rows:
            digest.update(repr(row).encode("utf-8", "surrogatepass"))
        return
    place = table.columns.index(VECTOR)
    for row in rows:
        digest.update(repr((*row[:place], len(row[place]), *row[place + 1 :])).encode())
        digest.update(row[place])
