"""Facts: JSON values under dotted keys, each in a scope."""

from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from typing import Any

from memory_server.domain import rights
from memory_server.domain.caller import Caller, Person
from memory_server.domain.trust import UNKNOWN
from memory_server.errors import Invalid


class Scope(StrEnum):
    GLOBAL = "global"
    PROJECT = "project"
    SESSION = "session"
    SHARED = "shared"


LOOKUP_ORDER = (Scope.SESSION, Scope.PROJECT, Scope.SHARED, Scope.GLOBAL)
"""The order in which scopes are searched when none is given: the narrowest first, because it is the most specific."""


@dataclass(frozen=True, slots=True)
class Home:
    """A scope and its owner: the project's name, the session's id, or empty where the scope has no owner.

    Where several people have the file, what is a person's own has the person before it: see `rights.key`.
    """

    scope: Scope
    owner: str


def home(scope: Scope, caller: Caller) -> Home:
    """The home of a scope for a caller."""
    match scope:
        case Scope.PROJECT:
            name = caller.project.name
            return Home(scope, name if name else _own(caller, ""))
        case Scope.SESSION:
            return Home(scope, _own(caller, caller.session or ""))
        case Scope.GLOBAL:
            return Home(scope, _own(caller, ""))
        case _:
            return Home(scope, "")


def _own(caller: Caller, name: str) -> str:
    """The name as the owner of what only the caller sees: with the person before it, where there are several people."""
    return rights.key(caller.person, name)


def homes(scope: Scope | None, caller: Caller) -> list[Home]:
    """The home of one scope, or the homes of all scopes in the order in which they are searched."""
    return [home(searched_scope, caller) for searched_scope in ([scope] if scope else LOOKUP_ORDER)]


@dataclass(frozen=True, slots=True)
class Headline:
    """The parts of a fact that are enough to select it among thousands; its value is read later."""

    id: int
    key: str
    home: Home
    updated_at: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A value as it was given: any JSON. Times are ISO-8601 UTC text; `expires_at` None means never.

    `writer` is the person who wrote it, by the name of the token; None is the owner. `origin` is who said it first.
    """

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
    writer: str | None = None
    origin: str = UNKNOWN


@dataclass(frozen=True, slots=True)
class FactDraft:
    """A fact to write; `ttl` is in seconds. `expected_version` 0 means that the key must have no value. `origin` is who
    said it first, where the one who writes it does not tell that."""

    key: str
    value: Any
    tags: tuple[str, ...] = ()
    ttl: int | None = None
    expected_version: int | None = None
    origin: str | None = None


@dataclass(frozen=True, slots=True)
class FactFilter:
    """Selects the facts of a search: in these homes, of which the narrowest has a key's value; None: in all homes.

    `since` and `until` are moments between which the fact was written.
    """

    homes: tuple[Home, ...] | None = None
    since: str | None = None
    until: str | None = None


class Action(StrEnum):
    WRITTEN = "written"
    DELETED = "deleted"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class FactChange:
    """One step of a key's history. A deletion has the value that was deleted."""

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
    origin: str = UNKNOWN

    def alive(self, moment: str) -> bool:
        """True if the key had this value at a moment that is after this change and before the next one."""
        return self.action is Action.WRITTEN and (self.expires_at is None or self.expires_at > moment)


MAX_DEPTH = 100
"""Most levels of nesting of a value. The JSON parsers of some clients refuse a message with more than 200 levels."""


def is_plain(value: Any) -> bool:
    """True if every client can read a JSON value: at most MAX_DEPTH levels, and finite numbers only."""
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
    """The levels of nesting of a JSON value: 0 for a text or a number, 1 for a list of these."""
    deepest, waiting = 0, [(value, 0)]
    while waiting:
        part, level = waiting.pop()
        parts = part.values() if isinstance(part, dict) else part if isinstance(part, list) else None
        if parts is not None:
            deepest = max(deepest, level + 1)
            waiting += [(element, level + 1) for element in parts]
    return deepest


def refuse_sharing(person: Person | None, scope: Scope) -> None:
    """Raises Invalid where a person would change a shared fact without the right to it."""
    if scope is Scope.SHARED and not rights.shares(person):
        raise Invalid(
            "A shared fact is changed only by the owner of the memory, and by people with all projects or with the "
            "right to shared facts. Nothing was changed."
        )


WILDCARD = "*"
"""Stands for any text in a pattern. No key that is written holds it; one from before may."""


def matches(key: str, pattern: str) -> bool:
    """True if a key fits a pattern; `*` stands for any text, every other character for itself. Takes linear time."""
    if WILDCARD not in pattern:
        return key == pattern
    first, *middle, last = pattern.split(WILDCARD)
    if len(key) < len(first) + len(last) or not key.startswith(first) or not key.endswith(last):
        return False
    position, end = len(first), len(key) - len(last)
    for part in middle:
        start = key.find(part, position, end)
        if start < 0:
            return False
        position = start + len(part)
    return True


def tagged(tags: tuple[str, ...], filter_tags: tuple[str, ...]) -> bool:
    """True if `tags` has any of `filter_tags`, in upper or lower case, or if there is no tag to filter by."""
    return not filter_tags or not {tag.casefold() for tag in filter_tags}.isdisjoint(
        tag.casefold() for tag in tags
    )


def narrowest(headlines: list[Headline]) -> list[Headline]:
    """The facts that a read of their key without a scope returns, in the same order."""
    narrowest_by_key = {
        headline.key: headline
        for scope in reversed(LOOKUP_ORDER)
        for headline in headlines
        if headline.home.scope is scope
    }
    return [headline for headline in headlines if narrowest_by_key[headline.key] is headline]
