"""What words find for those who have no time for a search."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from memory_server.domain.fact import Home

MOST_ROWS = 2_000
"""Rows of one term that are read, the newest: 1 ms. A word that more texts hold decides little."""


COMMON_HAN = "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年"
"""The commonest characters of Chinese texts: together they make up a quarter of one."""


class Index(StrEnum):
    """The word indices that are asked."""

    MEMORY = "memory_words"
    FACT = "fact_words"
    TURN = "turn_words"


class WordHits(Protocol):
    """Which texts hold the words of a prompt, read from the word indices alone and without numpy: a hook has no
    time."""

    def held(self, terms: Sequence[str]) -> tuple[int, list[dict[Index, list[int]]]]:
        """How many texts all indices have together; and for each term, the rows of each index that hold it, the newest
        first, at most MOST_ROWS."""
        ...

    def newer(self, index: Index, ids: Sequence[int], moment: str) -> list[int]:
        """Those of these rows that were written after a moment."""
        ...

    def own_memories(self, ids: Sequence[int], project: str) -> set[int]:
        """Those of these memories that are of the project or of none, and whose time has not ended."""
        ...

    def own_turns(self, ids: Sequence[int], project: str) -> set[int]:
        """Those of these turns that are of the project or of none."""
        ...

    def own_facts(self, ids: Sequence[int], homes: Sequence[Home]) -> set[int]:
        """Those of these facts that are in these scopes and not hidden by one of a narrower scope."""
        ...


class Words(Protocol):
    """The word indices: phrases to ask them with, and whether they hold Chinese."""

    def holds_han(self) -> bool:
        """Whether any memory, fact or turn has one of the commonest Chinese characters, as each Chinese sentence has.

        Or any short-term memory a Chinese keyword.
        """
        ...
