"""Copying a whole database into another one, row by row, as it is.

What is derived from the rows is not copied: words, tokens, counts, bits, which memories are replaced, the parts of long
texts. The target makes it anew. Neither is what belongs to one database alone: its migrations, the problems of its
jobs, and what it still has to erase.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final, Protocol

from memory_server.storage.columns import Table

Row = tuple[Any, ...]
"""Values in the order of the columns: whole numbers, floating ones, booleans, texts, None; a vector as its numbers of
4 bytes each, the last byte first."""

Key = tuple[Any, ...]


FOLLOWS: Final = {
    "facts": "fact_history",
    "memories": "digested",
    "memory_history": "digested",
    "edges": "digested",
    "turns": "digested",
}
"""Triggers of the first table write the second, or act upon it: the second is emptied and comes later."""


class Copied(Protocol):
    """The rows of a database as they are, for a copy of it."""

    def count(self, table: Table) -> int:
        """Return the number of rows of the table."""
        ...

    def rows(self, table: Table, after: Key | None, upto: Key | None, limit: int | None) -> list[Row]:
        """Return rows in the order of their keys: those after one key, up to another one, no more than `limit`."""
        ...

    def highest_ids(self) -> Mapping[str, int]:
        """By the names of numbered tables, the highest id that any row of it ever had; none where there was no row."""
        ...


class Target(Copied, Protocol):
    """A database that is being filled, and that nobody can use before it is finished.

    A killed copy can go on: `rows` gives what is there already. All is on disk when `finish` returns.
    """

    def begin(self, source: str) -> bool:
        """Begin a copy of this source; return whether one was begun before and goes on.

        Raises:
            Conflict: it holds something, or an unfinished copy of something else.
            Unavailable: it cannot be reached or used, or another process fills it.
        """
        ...

    def put(self, table: Table, after: Key | None, upto: Key | None, rows: Sequence[Row]) -> None:
        """Let the table have these rows between the keys, and no others."""
        ...

    def prepare(self) -> None:
        """All rows are there: begin to build what searches need. It may go on while the rows are compared; `finish`
        waits for it."""
        ...

    def finish(self, highest_ids: Mapping[str, int]) -> None:
        """It is whole, and can be used. No id up to these is given to a new row.

        Raises:
            Unavailable: it is not sound.
        """
        ...

    def close(self) -> None:
        """Leave it as it is."""
        ...


class ComparedRows(Copied, Protocol):
    """The rows of one moment, for a move: it finds what was written since an earlier one."""

    def mark(self) -> str:
        """Return a name for this moment."""
        ...

    def changed(self, table: Table, mark: str) -> list[Key]:
        """Return the keys of rows that were written since a moment; a few older ones may be among them."""
        ...

    def digests(self, table: Table) -> Mapping[int, tuple[int, str]]:
        """Return, for each group of keys, how many there are, and a digest of them."""
        ...

    def keys(self, table: Table, groups: Collection[int]) -> list[Key]:
        """Return the keys in these groups."""
        ...

    def pick(self, table: Table, keys: Collection[Key]) -> list[Row]:
        """Return the rows with these keys, as far as there are."""
        ...


class Leaving(Protocol):
    """A memory that moves to another database while others use it."""

    def begin(self, target: str) -> bool:
        """Begin to move to an address. Return true if the memory has been left for it already."""
        ...

    def look(self) -> AbstractContextManager[ComparedRows]:
        """Return the rows of one moment, while others write."""
        ...

    def pause(self, target: str) -> AbstractContextManager[ComparedRows]:
        """Return the last rows, while all writes wait; at the end of the block the memory is left for the target."""
        ...

    def purge(self) -> int:
        """Delete the rows of the memory, which has been left; return their number. Its new address stays."""
        ...

    def close(self) -> None:
        """Leave it as it is."""
        ...


class MoveTarget(Target, ComparedRows, Protocol):
    """A copy that follows its source until the source is left."""

    def check(self) -> None:
        """Wait for the indexes.

        Raises:
            Unavailable: it is not sound.
        """
        ...

    def replace(self, table: Table, keys: Collection[Key], rows: Sequence[Row]) -> None:
        """Let the table have these rows, and none with another of these keys."""
        ...

    def complete(self, highest_ids: Mapping[str, int]) -> None:
        """Mark it as whole, on disk: from now on its source can be left."""
        ...

    def open(self) -> None:
        """Let it be used: its source has been left. Nothing changes where it is used already."""
        ...
