"""A turn of a conversation: a message and its summary."""

from dataclasses import dataclass

from memory_server.language.text import fold


@dataclass(frozen=True, slots=True)
class Turn:
    """A stored turn; times are ISO-8601 UTC text."""

    id: int
    message: str
    summary: str
    project: str
    created_at: str
    created_by: str | None
    occurred_at: str
    session: str | None

    @property
    def text(self) -> str:
        """The message, after the summary where the message does not hold it."""
        if fold(self.summary) in fold(self.message):
            return self.message
        return f"{self.summary}\n{self.message}"


@dataclass(frozen=True, slots=True)
class TurnDraft:
    """A turn before it is stored. `occurred_at` None means now, `session` None the caller's."""

    message: str
    summary: str
    occurred_at: str | None = None
    session: str | None = None
