"""Copying a whole database into another one, row by row, as it is.

What is derived from the rows is not copied: words, tokens, counts, bits, which memories are replaced, the parts of long
texts. The target makes it anew. Neither is what belongs to one database alone: its migrations, the problems of its
jobs, and what it still has to erase.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from memory_server.storage.columns import Table

Row = tuple[Any, ...]
"""Values in the order of the columns: whole numbers, floating ones, booleans, texts, None; a vector as its numbers of
4 bytes each, the last byte first."""

Key = tuple[Any, ...]


DERIVED: Final = frozenset(
    {
        "memory_counts", "memory_parts", "memory_words", "fact_words", "turn_words", "short_term_words",
        "token_vectors", "turn_token_vectors", "fact_token_vectors", "migrations", "job_problems", "erasures",
        "server_days",
    }
)  # fmt: skip
"""The tables of both stores that are not copied."""

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
