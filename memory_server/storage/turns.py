"""Turns of conversations, and what hooks kept and told."""

from collections.abc import Sequence
from typing import Protocol

from memory_server.domain.caller import Caller
from memory_server.domain.injection import Capture, Captured, Injected, Injection, Logged
from memory_server.domain.turn import Turn, TurnDraft


class Turns(Protocol):
    """The table `turns`, and the search in their embeddings."""

    def select(self, ids: Sequence[int]) -> list[Turn]:
        """These turns, in the order given."""
        ...

    def newest(self, project: str, limit: int) -> list[Turn]:
        """The turns of a project for which no digest stands, the latest first."""
        ...


class WritableTurns(Turns, Protocol):
    """The same in a transaction that writes."""

    def insert(self, draft: TurnDraft, caller: Caller) -> int:
        """The id of the new turn."""
        ...


class HookCaptures(Protocol):
    """The table `hook_captures`: what hooks have kept without being asked."""

    def is_captured(self, kind: Captured, id: int) -> bool:
        """Whether a row was kept unasked."""
        ...

    def last(self, kind: Captured, session: str) -> Capture | None:
        """What was kept last of a session and is still there."""
        ...

    def select(self, session: str | None, limit: int | None) -> list[Capture]:
        """What is still there, of one session (or one that begins so) or of all; the latest first."""
        ...


class WritableHookCaptures(HookCaptures, Protocol):
    """The same in a transaction that writes."""

    def insert(self, kind: Captured, id: int, session: str, event: str) -> None:
        """Mark a row as kept unasked; a row that has a mark already gets the new one."""
        ...


class HookInjections(Protocol):
    """The table `hook_injections`: what hooks have put into the context of which session."""

    def in_context(self, session: str) -> set[tuple[Injected, int]]:
        """What a session has been told and still has in its context."""
        ...

    def memories(self, session: str) -> dict[int, bool]:
        """The memories that a session was told, and of each whether only a briefing told it."""
        ...

    def was_suggested(self, session: str, id: int) -> bool:
        """Whether a session was told, ever, that something stated in a turn is not stored."""
        ...

    def newest(self, limit: int) -> list[Logged]:
        """The last that were said, the latest first; not the parts of a briefing."""
        ...


class WritableHookInjections(HookInjections, Protocol):
    """The same in a transaction that writes."""

    def insert(self, session: str, injections: Sequence[Injection]) -> None: ...

    def forget_context(self, session: str) -> None:
        """The client has emptied or shortened the context of a session: what it was told may be said again."""
        ...
