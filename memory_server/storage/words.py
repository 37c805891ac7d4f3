"""The word indices: which texts hold words, and how many do."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from memory_server.domain.fact import Fact, Home

MOST_ROWS = 2_000
"""Rows of one term that are read, the newest: 1 ms. A word that more texts hold decides little."""


COMMON_HAN = "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年"
"""The commonest characters of Chinese texts: together they make up a quarter of one."""


class Index(StrEnum):
    """A word index."""

    MEMORY = "memory_words"
    FACT = "fact_words"
    TURN = "turn_words"


WRITTEN_AT = {
    Index.MEMORY: ("memories", "updated_at"),
    Index.FACT: ("facts", "updated_at"),
    Index.TURN: ("turns", "created_at"),
}
"""The table of each index, and the column with the time at which a row was written."""


class WordHits(Protocol):
    """The texts that hold words."""

    def hits(self, terms: Sequence[str]) -> tuple[int, list[dict[Index, list[int]]]]:
        """Return the number of texts in all indices, and for each term the rows of each index that hold it.

        The newest row comes first; there are at most MOST_ROWS of an index.
        """
        ...

    def mentioned_facts(self, homes: Sequence[Home], terms: Sequence[str], limit: int) -> list[Fact]:
        """Return the facts of these scopes whose key or value holds any of these terms, best first."""
        ...


class Words(Protocol):
    """The word indices as a whole."""

    def holds_han(self) -> bool:
        """True if a memory, fact or turn has one of the commonest Chinese characters, as each Chinese sentence has.

        True too if a short-term memory has a Chinese keyword.
        """
        ...
