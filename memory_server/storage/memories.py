"""Typed memories, their counts and uses, and what a briefing needs of them."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from memory_server.domain.caller import Caller
from memory_server.domain.digest import Note
from memory_server.domain.embedding import Vector
from memory_server.domain.learning import How, Learnt, Uses
from memory_server.domain.memory import Filter, Memory, MemoryDraft, MemoryId, MemoryType, Past
from memory_server.storage.vectors import Effort


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

    def newest_of_each(self, project: str, limit: int) -> list[Memory]:
        """The same for each type, at most `limit` of each: one type after the other."""
        ...

    def newest_of(self, project: str, limit: int) -> list[Memory]:
        """The same of all types."""
        ...

    def ids_like(self, start: str, project: str, limit: int) -> tuple[list[MemoryId], int]:
        """The newest ids that begin with these digits, those of a project first; and how many there are."""
        ...


class WritableMemories(Memories, Protocol):
    """The same in a transaction that writes."""

    def expect_insert(self) -> None:
        """Say that an insert probably follows: what it needs can then be asked for together with other reads."""
        ...

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


class MemoryCounts(Protocol):
    """The table `memory_counts`, which triggers keep: how many memories there are, so that nobody has to count them."""

    def by_type(self, project: str | None) -> dict[str, int]:
        """How many memories there are of each type, most first: in a project ('' is none), or in all."""
        ...

    def by_project(self, project: str | None) -> dict[str, int]:
        """How many memories there are in each project ('' is none), most first: in one, or in all."""
        ...

    def total(self, project: str | None = None) -> int:
        """How many memories there are in a project ('' is none), or in all."""
        ...

    def current(self, project: str) -> int:
        """How many memories of a project no other one supersedes or stands for."""
        ...

    def wrong(self) -> list[str]:
        """What is counted wrongly, a line each. Reads all memories."""
        ...


class WritableMemoryCounts(MemoryCounts, Protocol):
    """The same in a transaction that writes."""

    def mend(self) -> None:
        """Count anew."""
        ...


class MemoryUses(Protocol):
    """The table `memory_uses`: which session was shown which memory, and used it."""

    def not_used(self, session: str, limit: int) -> dict[int, bool]:
        """The memories that a session was shown last and has not used, and of each whether it was judged before."""
        ...

    def count(self, ids: Sequence[int]) -> dict[int, Uses]:
        """The uses of those of these memories that were used, or shown and judged."""
        ...

    def select(self, least: int, limit: int) -> list[Learnt]:
        """The memories that were used, the most used first; then those that at least so many sessions did not use."""
        ...


class WritableMemoryUses(MemoryUses, Protocol):
    """The same in a transaction that writes."""

    def show(self, ids: Sequence[int], session: str) -> None:
        """A session was shown these memories; what it was shown before stays as it is."""
        ...

    def judge(self, session: str, ids: Sequence[int]) -> None:
        """Somebody has looked whether a session uses these memories."""
        ...

    def mark_used(self, ids: Sequence[int], session: str | None, how: How) -> None:
        """A session has used those of these memories that it was shown; the first use counts."""
        ...

    def delete(self, memory: int | None) -> int:
        """Forget the uses of a memory, or of all; of how many memories."""
        ...


class Standing(Protocol):
    """Which memories of a project matter most now, without a look at all of them: by the index
    `memories_by_standing`."""

    def most_important(self, project: str, limit: int, least: int = 1) -> list[Memory]:
        """The current memories of a project ('' is none) with the highest decayed score, the newest first among equals.

        `least` is the lowest importance. The memories of each type and importance are read in the order of their
        standing:
        first of the group that can have the highest score, and no further than one can still be among those wanted.
        """
        ...


@dataclass(frozen=True, slots=True)
class Near:
    """Which memories near a vector are wanted: at most `limit`, in a space, with this effort."""

    space_id: int
    vector: Vector
    limit: int
    effort: Effort


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

    def beside(
        self, terms: Sequence[str], least: float, filter: Filter, type: MemoryType, limit: int, near: Near
    ) -> tuple[dict[MemoryId, float], list[MemoryId]]:
        """The memories nearest in meaning, each with its cosine; and what `find` gives for a type.

        If any is near, `find` looks for rare terms only. Parts of long memories are left out.
        """
        ...


class Digests(Protocol):
    """The table `digested`: the observations and turns for which a digest of the server stands."""

    def notes(
        self, before: str, without: Collection[str] = (), among: Sequence[Note] | None = None
    ) -> list[Note]:
        """The observations and turns from before a moment for which nothing stands and that nothing supersedes.

        `without` are sessions that are left out; of `among`, where it is given, those that are still there.
        """
        ...

    def newest_sessions(self) -> set[str]:
        """The session of the newest turn of each project, and that of its newest observation."""
        ...


class WritableDigests(Digests, Protocol):
    """The same in a transaction that writes."""

    def insert(self, digest: MemoryId, group: Sequence[Note]) -> None:
        """Remember for what a digest stands."""
        ...
