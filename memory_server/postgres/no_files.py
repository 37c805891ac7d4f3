"""Implements `Files` for PostgreSQL, which looks after its files itself: there are none to check or to remove."""


class NoFiles:
    """`Files` where there are none."""

    def refuse_empty(self) -> None:
        """There is no file that a program could have emptied."""

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

    def drop_copies(self, older_than: str | None = None) -> tuple[str, ...]:  # noqa: ARG002
        """Migrations make no copies here."""
        return ()
