"""Typed memories, their counts and uses, and what a briefing needs of them."""

from collections.abc import Callable, Sequence
from typing import Protocol

from memory_server.domain.caller import Caller
from memory_server.domain.memory import Filter, Memory, MemoryDraft, MemoryId, MemoryType, Past


class Memories(Protocol):
    """The table `memories` and the history of its texts."""

    def get(self, id: MemoryId) -> Memory:
        """Raises NotFound, or Unavailable where its row cannot be read."""
        ...

    def select(self, ids: Sequence[MemoryId]) -> list[Memory]:
        """Those of the ids that exist, in the order given."""
        ...

    def select_if(self, ids: Sequence[MemoryId], passes: Callable[[str], bool]) -> list[Memory]:
        """The memories with these ids that exist and whose text passes, in any order."""
        ...

    def newest(self, wanted: Filter, limit: int, offset: int) -> list[Memory]:
        """The memories that a filter lets pass, by the moment at which they occurred, the latest first."""
        ...

    def earlier(self, ids: Sequence[MemoryId]) -> dict[MemoryId, list[str]]:
        """The earlier texts of each of these memories that has any, newest first."""
        ...

    def past(self, id: MemoryId) -> list[Past]:
        """The earlier texts of a memory, newest first."""
        ...

    def newest_current(self, project: str, type: MemoryType, limit: int) -> list[Memory]:
        """The current memories of a project and type, by the moment at which they occurred, the latest first."""
        ...

    def newest_of(self, project: str, limit: int) -> list[Memory]:
        """The same of all types."""
        ...

    def ids_like(self, start: str, project: str, limit: int) -> tuple[list[MemoryId], int]:
        """The newest ids that begin with these digits, those of a project first; and how many there are."""
        ...


class WritableMemories(Memories, Protocol):
    """The same in a transaction that writes."""

    def insert(self, draft: MemoryDraft, caller: Caller) -> Memory: ...

    def replace(self, before: Memory, memory: Memory, reason: str) -> Memory:
        """Write every field that a caller may change, and the moment. `before` is how it was in this transaction.

        What gets another project is that project's from now on, and what gets none is the person's own.

        A trigger puts a changed text into the history; `reason` says there whether it was merged or rewritten.
        """
        ...

    def mark_accessed(self, ids: Sequence[MemoryId]) -> None:
        """A hit in a search is one access; `updated_at` stays."""
        ...

    def keep_merged(self, id: MemoryId, text: str) -> None:
        """Into the history: a restatement whose text was not the one kept."""
        ...

    def drop_earlier(self, id: MemoryId, text: str) -> None:
        """Out of the history: a text that is the memory's own again, or never was."""
        ...


class Standing(Protocol):
    """The memories of a project that matter most now, read by the index `memories_by_standing`, so that few are
    read.
    """

    def most_important(self, project: str, limit: int, least: int = 1) -> list[Memory]:
        """The current memories of a project ('' is none) with the highest decayed score, the newest first among equals.

        `least` is the lowest importance. The memories of each type and importance are read in the order of their
        standing:
        first of the group that can have the highest score, and no further than one can still be among those wanted.
        """
        ...


class Peers(Protocol):
    """The memories that may share most words with a text."""

    def find(
        self,
        terms: Sequence[str],
        least: float,
        filter: Filter,
        limit: int,
        space_id: int = 0,
        rare_only: bool = False,
    ) -> list[MemoryId]:
        """The memories that may have at least a share `least` of these terms, those with the most groups of them first.

        No other memory has that share. It lacks only so many terms; where the terms are in one group more than that, it
        holds all of a group, whichever terms stand together (the pigeonhole principle, as in the prefix filter of
        Chaudhuri et al., ICDE 2006). A group is a rare term, or two that are less rare, so few memories hold one.

        `rare_only`: memories that hold no rare term of these groups are left out, for a caller that finds them by their
        meaning. Else many are read in a large store for a text of common words.
        """
        ...
