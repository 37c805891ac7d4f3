"""The files of a database as services use them: its own, copies that migrations made, and rescued content."""

import glob
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

BACKUPS = "backups"
"""The folder beside a database in which its backups lie."""

DAILY = "-daily-"
"""What stands between the name of a database and the day of a backup that was made by itself."""


def backups_of(database: Path) -> list[Path]:
    """Return the backups in the usual folder: those that were made by themselves, and those that a person has made."""
    suffix = glob.escape(database.suffix)
    return [*named_backups(database, suffix), *named_backups(database, f"-*{suffix}")]


def named_backups(database: Path, ending: str, before: str = "") -> list[Path]:
    """Return the files there with the name of the database between these patterns; links do not count."""
    pattern = before + glob.escape(database.stem) + ending
    return [path for path in (database.parent / BACKUPS).glob(pattern) if not path.is_symlink()]


class Files(Protocol):
    """Checks, mends and removes files. Only `drop_copies` and `removal` use the database too."""

    def refuse_empty(self) -> None:
        """Raises Unavailable where its file has 0 bytes: a program emptied it. Backups may be left."""
        ...

    def exposed(self) -> list[str]:
        """Return a line for each of its files that other users than its owner can read."""
        ...

    def copies(self) -> list[str]:
        """Return a line, with its age, for each file beside it that holds its content too, rescues aside."""
        ...

    def rescues(self) -> list[str]:
        """Return a line, with its age, for each file in which content was saved when the database went away."""
        ...

    def last_copies(self) -> list[str]:
        """Return a line for each copy that may hold the only rest of its content: nothing removes them."""
        ...

    def tidy(self) -> list[str]:
        """Make its files readable by their owner alone, remove unfinished copies, and repair the schema; return a line
        for each.
        """
        ...

    def drop_copies(
        self, erased: Mapping[str, int] | None = None, older_than: str | None = None
    ) -> tuple[str, ...]:
        """Remove the copies that migrations and restores made: erased text must not live on in them.

        With a moment only those that are older, after a check that the database itself is sound. A copy stays if it
        may hold the only rest of its content, and all stay if the database is damaged.

        Returns the paths of the files that stay and may hold what was erased: `erased` has the smallest id of it in
        each table. Backups are the user's, and so are rescues; another process may be writing an unfinished copy.
        Copies hold the memories of all people: for a person nothing is removed and no path returned; the copies go
        when they are old.
        """
        ...

    def removal(self, index: str) -> Callable[[], bool]:
        """Return a function that removes some deleted words of an index with each call, and returns true when all are
        gone.
        """
        ...
