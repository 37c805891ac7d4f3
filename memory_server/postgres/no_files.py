"""Implements `Files` for PostgreSQL, which has no files for us to check or remove."""

from collections.abc import Callable, Mapping


class NoFiles:
    """`Files` of a database without a file."""

    def refuse_empty(self) -> None:
        """Nothing to refuse: there is no file that a program could have emptied."""

    def exposed(self) -> list[str]:
        return []

    def copies(self) -> list[str]:
        return []

    def rescues(self) -> list[str]:
        return []

    def last_copies(self) -> list[str]:
        return []

    def tidy(self) -> list[str]:
        return []

    def drop_copies(
        self,
        erased: Mapping[str, int] | None = None,  # noqa: ARG002
        older_than: str | None = None,  # noqa: ARG002
    ) -> tuple[str, ...]:
        """None: migrations make no copies in PostgreSQL."""
        return ()

    def removal(self, index: str) -> Callable[[], bool]:  # noqa: ARG002
        """Words leave the index with their rows: nothing is left to remove."""
        return lambda: True
