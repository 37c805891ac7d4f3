"""A turn of a conversation: a message and its summary."""

from dataclasses import dataclass
from typing import NamedTuple

from memory_server.domain.trust import UNKNOWN
from memory_server.language.text import fold

TRANSCRIPT = "(transcript)"
"""End of the author of a turn that was read from the transcript of a client: nobody stored it on purpose."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A stored turn; times are ISO-8601 UTC text. `file` is its transcript, where one turn is read whole."""

    id: int
    message: str
    summary: str
    project: str
    created_at: str
    created_by: str | None
    occurred_at: str
    session: str | None
    origin: str = UNKNOWN
    file: str | None = None

    @property
    def is_transcript(self) -> bool:
        return (self.created_by or "").endswith(TRANSCRIPT)

    @property
    def text(self) -> str:
        """The message, after the summary where the message does not hold it; of a transcript, after who said it."""
        if self.is_transcript:
            role = "user" if (self.created_by or "").startswith("user of ") else "assistant"
            return f"{role}: {self.message}"
        if fold(self.summary) in fold(self.message):
            return self.message
        return f"{self.summary}\n{self.message}"


class TurnKinds(NamedTuple):
    """True for each kind of turns that is here: those that somebody has stored, and those of transcripts."""

    stored: bool
    transcripts: bool


@dataclass(frozen=True, slots=True)
class TurnDraft:
    """A turn before it is stored. `occurred_at` None means now, `session` None the caller's."""

    message: str
    summary: str
    occurred_at: str | None = None
    session: str | None = None
