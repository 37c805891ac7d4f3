"""The reads of memories and facts that a briefing and a comparison need, in the way of each store."""

from collections.abc import Sequence
from typing import Protocol

from memory_server.domain.briefing.leading import Leading, Limits
from memory_server.domain.fact import Home
from memory_server.domain.memory import Filter, Memory, MemoryId


class Standing(Protocol):
    """The memories of a project that matter most now, read by the index `memories_by_standing`, so that few are
    read.
    """

    def most_important(self, project: str, limit: int, least: int = 1) -> list[Memory]:
        """The current memories of a project ('' is none) with the highest decayed score, the newest first among equals.
        None that somebody outside has written and no person has confirmed.

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


class LeadingFacts(Protocol):
    """The facts that a briefing looks at."""

    def select(self, homes: Sequence[Home], limits: Limits) -> Leading:
        """Return what `domain.briefing.leading` chooses among the facts of these homes, the narrowest first. If several
        have the same key, the narrowest one counts."""
        ...
