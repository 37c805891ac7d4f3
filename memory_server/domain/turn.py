"""A turn of a conversation: a message and its summary."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Turn:
    """A stored turn; `created_at` is ISO-8601 UTC text."""

    id: int
    message: str
    summary: str
    project: str
    created_at: str
    created_by: str | None
