"""Rows that a hook has put into the context of a model or has captured, each with its session."""

from dataclasses import dataclass
from enum import StrEnum


class Injected(StrEnum):
    """The kinds of what is put into a context. A briefing stands for itself and has the id 0."""

    BRIEFING = "briefing"
    MEMORY = "memory"
    FACT = "fact"
    TURN = "turn"
    WOKEN = "woken"
    SUGGESTION = "suggestion"


@dataclass(frozen=True, slots=True)
class Injection:
    """A text that a hook has said: `kind` and `id` name its row. `event` is the client's word."""

    event: str
    kind: Injected
    id: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Mention:
    """A row that a text names, and the tokens of its line. `why` a prompt woke, without the texts that led to it."""

    kind: Injected
    id: int
    tokens: int
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Reminder:
    """The reminder for a prompt: a line of `text` for each row of `said`, in this order."""

    text: str = ""
    said: tuple[Mention, ...] = ()


@dataclass(frozen=True, slots=True)
class Logged:
    """An injection as the file has it. `text` is what its row says now; None where it is gone."""

    at: str
    session: str
    event: str
    kind: str
    tokens: int
    text: str | None
    item: int


CAPTURED = "captured"
"""Stands behind the client's name in what was kept unasked."""


class Captured(StrEnum):
    """The kinds of what a hook keeps without being asked."""

    SHORT_TERM = "short_term"
    FACT = "fact"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class HookCapture:
    """Something that was kept: `kind` and `id` name its row. `text` is what that says now; None where it is gone."""

    kind: Captured
    id: int
    at: str
    session: str
    event: str
    text: str | None
