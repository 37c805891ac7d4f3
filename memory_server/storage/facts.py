"""Facts and their versions."""

from collections.abc import Sequence
from typing import Protocol

from memory_server.domain.briefing.leading import Leading, Limits
from memory_server.domain.caller import Caller
from memory_server.domain.fact import Fact, FactDraft, Headline, Home


class Facts(Protocol):
    """The table `facts` and the index of its words."""

    def find(self, home: Home, key: str) -> Fact | None:
        """The fact, unless it has expired."""
        ...

    def first(self, homes: Sequence[Home], key: str) -> Fact | None:
        """The fact of the first of these scopes that has the key, unless it has expired."""
        ...

    def expired(self, moment: str, limit: int) -> list[Fact]:
        """Facts whose time was over at a moment and that are still in the table."""
        ...

    def expired_at(self, home: Home, key: str) -> Fact | None:
        """The fact of this key, if its time is over."""
        ...

    def headlines(
        self, homes: Sequence[Home], prefix: str = "", tags: tuple[str, ...] = (), newest_first: bool = False
    ) -> list[Headline]:
        """The facts of these scopes whose key begins with a text and that have any of the tags; by key, or newest
        first."""
        ...

    def select(self, ids: Sequence[int]) -> list[Fact]:
        """These facts, in the order given."""
        ...

    def mentioned(self, homes: Sequence[Home], terms: Sequence[str], limit: int) -> list[Fact]:
        """The facts whose key or value holds words of a query, best first."""
        ...


class WritableFacts(Facts, Protocol):
    """The same in a transaction that writes."""

    def insert(self, home: Home, draft: FactDraft, expires_at: str | None, caller: Caller) -> Fact: ...

    def replace(self, fact: Fact, draft: FactDraft, expires_at: str | None, caller: Caller) -> Fact:
        """A new version of the fact; the old value is in the history already."""
        ...

    def delete(self, fact: Fact, caller: Caller) -> None:
        """Remove the fact; its last value stays in the history, with who took it."""
        ...

    def let_go(self, fact: Fact) -> None:
        """Remove a fact whose time is over. The history says when that was, and holds no value of the key any more."""
        ...

    def erase(self, home: Home, key: str) -> int:
        """Erase a key with its history, for good; how many steps it had."""
        ...

    def mark_accessed(self, ids: Sequence[int]) -> None:
        """Reading counts an access; `updated_at` stays."""
        ...


class LeadingFacts(Protocol):
    """Which facts a briefing looks at."""

    def select(self, homes: Sequence[Home], limits: Limits) -> Leading:
        """What `domain.briefing.leading` chooses among the facts of these homes, the narrowest first. If several have
        the same key, the narrowest one counts."""
        ...
