"""Removes deleted words from a word index of FTS5.

FTS5 writes segments and never changes one: a deleted row stays in the old segments, and a new one says that it is
deleted. When segments are merged into the oldest of all, both are left out. FTS5's `optimize` is not enough, because
it does not always merge into the oldest (see `bOldest` and `fts5IndexOptimizeStruct` in SQLite's fts5_index.c): here
the levels are brought into a state first in which it does.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from memory_server.sqlite.free_bytes import varint
from memory_server.sqlite.tx import Tx
from memory_server.storage.tables.erasures import FILE, WritableErasures
from memory_server.storage.vectors import TABLES

COLUMNS = {tables.words: tables.columns[0] for tables in TABLES.values()}
"""A column of each word index."""

SMALL = 1000
"""An index of fewer rows is written anew at once: that takes about 20 ms."""

PAGES = 128
"""Pages of the index (4 kB each) that one transaction merges: about 10 ms, so that others wait little."""

TOUCHES = 8
"""Touched rows, each a new segment, that make two levels, unless the index is tiny: then it is written anew."""

_STRUCTURE = 10
"""The id of the record that lists the segments, in the table NAME_data."""

_NEWER = b"\xff\0\0\1"
"""Follows the cookie where the record has a format that this version of the server does not write."""


@dataclass(frozen=True, slots=True)
class Level:
    merging: int
    """Segments that a merge is reading; 0: none."""
    segments: int


@dataclass(slots=True)
class Removal:
    """The removal of deleted words from one index, as a series of short transactions."""

    index: str
    small: int = SMALL
    pages: int = PAGES
    _due: int = 0
    _merging_all: bool = False
    _touches: int = 0

    def go_on(self, tx: Tx) -> bool:
        """Do the next step; return true when nothing is left to do."""
        due = WritableErasures(tx).due().get(self.index)
        if due is None:  # another process has done it
            return True
        levels = [level for level in _levels(tx, self.index) if level.segments]
        merging = any(level.merging for level in levels)
        if self._merging_all and not merging:
            return self._done(tx)
        if self._merging_all or merging:  # a merge that is not ours may not be of all segments
            self._command(tx, "merge", self.pages)
        elif self._is_small(tx) or self._touches == TOUCHES:
            self._due = due
            self._command(tx, "rebuild")
            return self._done(tx)
        elif len(levels) < 2:
            self._touch(tx)
        else:
            self._due = due
            self._merging_all = True
            self._command(tx, "merge", -self.pages)  # negative: all segments into one
        return False

    def _is_small(self, tx: Tx) -> bool:
        return bool(
            tx.value(
                f"SELECT count(*) < ? FROM (SELECT 1 FROM {self.index}_docsize LIMIT ?)",
                (self.small, self.small),
            )
        )

    def _touch(self, tx: Tx) -> None:
        """Write one row again, which makes a segment on the first level: with all on one, the marks may be kept."""
        column = COLUMNS[self.index]
        tx.execute(
            f"UPDATE {self.index} SET {column} = {column} WHERE rowid = (SELECT min(id) FROM {self.index}_docsize)"
        )
        self._touches += 1

    def _command(self, tx: Tx, command: str, rank: int | None = None) -> None:
        tx.execute(f"INSERT INTO {self.index} ({self.index}, rank) VALUES (?, ?)", (command, rank))

    def _done(self, tx: Tx) -> bool:
        tx.send("UPDATE erasures SET asked = asked + 1 WHERE what = ?", (FILE,))
        WritableErasures(tx).mark_done({self.index: self._due})
        return True


def _levels(tx: Tx, index: str) -> list[Level]:
    """The levels of an index, the newest first; none where its record is not of the known format.

    After a cookie of four bytes it holds the numbers of levels, segments and writes, and for each level the numbers
    of segments in a merge and of all segments, and for each segment its id, first and last page.
    """
    record = bytes(tx.value(f"SELECT block FROM {index}_data WHERE id = ?", (_STRUCTURE,)))
    if record[4:8] == _NEWER:
        return []
    numbers = _numbers(record, 4)
    count, _, _ = next(numbers), next(numbers), next(numbers)
    levels = []
    for _ in range(count):
        merging, segments = next(numbers), next(numbers)
        for _ in range(3 * segments):
            next(numbers)
        levels.append(Level(merging, segments))
    return levels


def _numbers(record: bytes, place: int) -> Iterator[int]:
    while place < len(record):
        value, place = varint(record, place)
        yield value
