"""The files of a database as services see them: its own, copies that migrations made, and what was rescued."""

from typing import Protocol


class Files(Protocol):
    """Checks, mends and removes files. Only `drop_copies` may read the database too."""

    def refuse_empty(self) -> None:
        """Raises Unavailable where its file is there and empty: a program emptied it. Backups may be left."""
        ...

    def exposed(self) -> list[str]:
        """Which of its files others than their owner can read, a line each."""
        ...

    def copies(self) -> list[str]:
        """The files beside it that hold its content too, a line each with its age; rescues are told apart."""
        ...

    def rescues(self) -> list[str]:
        """The files in which content was saved when it went away, a line each with its age."""
        ...

    def last_copies(self) -> list[str]:
        """The copies that may be all that is left of what they hold, a line each: nothing removes them."""
        ...

    def tidy(self) -> list[str]:
        """Let only their owner read its files, remove copies that were broken off, and make the schema what it should
        be; what was done, a line each."""
        ...

    def drop_copies(self, older_than: str | None = None) -> tuple[str, ...]:
        """Remove the copies that migrations and restores made: what is erased must not live on in them.

        With a moment only those that are older, once the database itself has been found sound. A copy stays that may
        be all that is left of what it holds. The paths of the files that stay and may hold what is erased: what was
        rescued is the user's. The copies hold what is others' too: for a person nothing is removed and no path told,
        and they go when they are old.
        """
        ...
