"""Tokens of people, and how often tools are called."""

from collections.abc import Mapping
from typing import Protocol

from memory_server.domain.calls import Calls
from memory_server.domain.token import Token, TokenDraft


class Tokens(Protocol):
    """The table `tokens`: who may reach the memory over HTTP."""

    def find(self, token: str) -> Token | None:
        """The row of a token, also of one that is not valid any more."""
        ...

    def select(self) -> list[Token]:
        """All, the oldest first."""
        ...

    def is_any(self) -> bool:
        """Whether there was ever one."""
        ...


class WritableTokens(Tokens, Protocol):
    """The same in a transaction that writes."""

    def insert(self, draft: TokenDraft, token: str) -> Token: ...

    def revoke(self, id: int) -> None: ...

    def follow(self, old: str, new: str) -> None:
        """Who has a project has it under its new name. Where the project itself is renamed, a trigger does this."""
        ...

    def mark_used(self, id: int) -> None:
        """It is used on the day of this moment."""
        ...


class CallCounts(Protocol):
    """The table `call_counts`: the calls of a day by tool."""

    def select(self, days: int) -> dict[str, Calls]:
        """The calls of the last so many days by tool, those with the most calls first."""
        ...


class WritableCallCounts(CallCounts, Protocol):
    """The same in a transaction that writes."""

    def add(self, counted: Mapping[str, Calls]) -> None:
        """Add calls of tools to the day of this moment."""
        ...
