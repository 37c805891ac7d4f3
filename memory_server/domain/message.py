"""A message of a conversation."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Message:
    """One message. `role` is user, assistant, system or another name; `timestamp` is as `moment` writes it."""

    role: str
    content: str
    name: str | None = None
    timestamp: str | None = None
