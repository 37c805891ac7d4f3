"""Facts: JSON values under dotted keys, each in a scope."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from typing import Any

from memory_server.domain.caller import Caller


class Scope(StrEnum):
    GLOBAL = "global"
    PROJECT = "project"
    SESSION = "session"
    SHARED = "shared"


LOOKUP_ORDER = (Scope.SESSION, Scope.PROJECT, Scope.SHARED, Scope.GLOBAL)
"""Where a key is looked for when no scope is given: the narrowest first."""


@dataclass(frozen=True, slots=True)
class Home:
    """A scope and whose it is: the project's key, the session's id, or nobody's."""

    scope: Scope
    owner: str


def home(scope: Scope, caller: Caller) -> Home:
    """Where a scope is for a caller."""
    match scope:
        case Scope.PROJECT:
            return Home(scope, caller.project.key)
        case Scope.SESSION:
            return Home(scope, caller.session or "")
        case _:
            return Home(scope, "")


def homes(scope: Scope | None, caller: Caller) -> list[Home]:
    """One scope, or all of them in the order in which a key is looked up."""
    return [home(each, caller) for each in ([scope] if scope else LOOKUP_ORDER)]


@dataclass(frozen=True, slots=True)
class Headline:
    """What is enough to choose among thousands of facts."""

    id: int
    key: str
    home: Home


@dataclass(frozen=True, slots=True)
class Fact:
    """A value as it was given: any JSON. Times are ISO-8601 UTC text; `expires_at` None means never."""

    id: int
    key: str
    home: Home
    value: Any
    tags: tuple[str, ...]
    version: int
    access_count: int
    created_at: str
    updated_at: str
    accessed_at: str | None
    expires_at: str | None
    created_by: str | None
    updated_by: str | None


@dataclass(frozen=True, slots=True)
class FactDraft:
    """What a write asks for; `ttl` in seconds. `expected_version` 0 means that the key must have no value."""

    key: str
    value: Any
    tags: tuple[str, ...] = ()
    ttl: int | None = None
    expected_version: int | None = None


class Action(StrEnum):
    WRITTEN = "written"
    DELETED = "deleted"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class FactChange:
    """One step of a key's history, when and by whom; a deletion carries the value that it took."""

    number: int
    home: Home
    key: str
    version: int
    action: Action
    value: Any
    tags: tuple[str, ...]
    expires_at: str | None
    changed_at: str
    changed_by: str | None

    def alive(self, moment: str) -> bool:
        """Whether the key had this value at a moment after the change and before the next."""
        return self.action is Action.WRITTEN and (self.expires_at is None or self.expires_at > moment)


def next_version(past: Iterable[FactChange]) -> int:
    """The version that the next step of a key gets: deletions count, and no version is used twice.

    `sqlite/` and the triggers of the file compute the same in SQL; `tests/sqlite/test_rules.py` holds both equal.
    """
    return 1 + max((change.version for change in past), default=0)


MAX_DEPTH = 100
"""Levels of a value: the JSON parsers of some clients stop at 200 for a whole message."""


def is_plain(value: Any) -> bool:
    """Whether every client can read a JSON value: at most MAX_DEPTH levels, and finite numbers only."""
    return depth(value) <= MAX_DEPTH and _is_finite(value)


def _is_finite(value: Any) -> bool:
    match value:
        case float():
            return isfinite(value)
        case dict():
            return all(map(_is_finite, value.values()))
        case list():
            return all(map(_is_finite, value))
        case _:
            return True


def depth(value: Any) -> int:
    """How many lists and objects of a JSON value lie within each other."""
    deepest, waiting = 0, [(value, 0)]
    while waiting:
        part, level = waiting.pop()
        parts = part.values() if isinstance(part, dict) else part if isinstance(part, list) else None
        if parts is not None:
            deepest = max(deepest, level + 1)
            waiting += [(each, level + 1) for each in parts]
    return deepest


def matches(key: str, pattern: str) -> bool:
    """Whether a key fits a pattern; `*` stands for any text, every other character for itself. Linear."""
    if "*" not in pattern:
        return key == pattern
    first, *middle, last = pattern.split("*")
    if len(key) < len(first) + len(last) or not key.startswith(first) or not key.endswith(last):
        return False
    position, end = len(first), len(key) - len(last)
    for part in middle:
        found = key.find(part, position, end)
        if found < 0:
            return False
        position = found + len(part)
    return True


def tagged(tags: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    """Whether a fact has any of the wanted tags, in upper or lower case; all have where none is wanted."""
    return not wanted or not {tag.casefold() for tag in wanted}.isdisjoint(tag.casefold() for tag in tags)


def narrowest(headlines: list[Headline]) -> list[Headline]:
    """Of each key the fact that a read without a scope finds; the others are hidden behind it. Order kept."""
    found = {
        each.key: each for scope in reversed(LOOKUP_ORDER) for each in headlines if each.home.scope is scope
    }
    return [each for each in headlines if found[each.key] is each]
