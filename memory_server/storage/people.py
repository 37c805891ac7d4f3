"""Tokens of people, and how often tools are called."""

import json
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from typing import Any, Final, Protocol

from memory_server.domain.calls import Calls, times_of
from memory_server.domain.token import Token, TokenDraft

DAYS: Final = 400
"""Days whose counts of calls are kept: with all tools in use some 14,000 rows, two megabytes."""


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


def token_of(row: tuple[Any, ...]) -> Token:
    """A row as a token: its columns are the fields of `Token`, the projects as a JSON array."""
    id, name, prefix, projects, read_only, shared, *moments = row
    seen = None if projects is None else tuple(map(str, json.loads(projects)))
    return Token(id, name, prefix, seen, bool(read_only), bool(shared), *moments)


def day_before(now: str, days: int) -> str:
    """The day so many days before a moment."""
    return (date.fromisoformat(now[:10]) - timedelta(days=days)).isoformat()


def summed(rows: Iterable[tuple[Any, ...]]) -> dict[str, Calls]:
    """Rows of tools as their calls together, those with the most calls first: the tool, its times as JSON, and the
    other numbers of `Calls`."""
    found: dict[str, Calls] = {}
    for tool, times, *numbers in rows:
        found[tool] = found.get(tool, Calls()) + Calls(*[*numbers, times_of(json.loads(times))])
    return dict(sorted(found.items(), key=lambda each: (-each[1].calls, each[0])))
