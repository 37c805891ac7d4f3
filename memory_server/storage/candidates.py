"""What a search reads: which texts hold its words, what stands beside them, and their vectors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memory_server.domain.embedding import Embedded
from memory_server.storage.vectors import Wanted


@dataclass(frozen=True, slots=True)
class Posting:
    """The texts that hold a term, their ids ascending, each with its BM25; `everywhere` is how many there are."""

    ids: NDArray[np.int64]
    scores: NDArray[np.float64]
    everywhere: int


@dataclass(frozen=True, slots=True)
class Held:
    """The postings of some terms. `project` is the small one whose memories they are of ('' is none), None: of all.

    `texts` is how many texts the word index has, whoever asks: it weighs its words by that.
    """

    texts: int
    postings: Sequence[Posting]
    project: str | None


@dataclass(frozen=True, slots=True)
class Said:
    """How texts begin and end, and when they were said: `ids` ascend, beside `seconds` of the julian day.

    `starts` has the first characters, in lower case, of those that have a colon there, `ends` the last ones of those
    that have a question mark there, by their ids.
    """

    ids: NDArray[np.int64]
    seconds: NDArray[np.float64]
    starts: Mapping[int, str]
    ends: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a question proposes of a kind: of each of `lists`, best first, as many as `most` that `wanted` lets pass,
    and all of `also`, of which it does.

    `space_id` is the space of the question, 0 where none answers, with so many `dimensions`. `terms` are those of the
    question, and `held` which texts hold them.
    """

    kind: Embedded
    lists: Sequence[NDArray[np.int64]]
    most: int
    also: Sequence[int]
    wanted: Wanted
    space_id: int
    dimensions: int
    terms: Sequence[str]
    held: Held


class Surroundings(Protocol):
    """What is proposed, and what was said before and after it in the same session."""

    @property
    def proposed(self) -> Sequence[int]: ...

    @property
    def lines(self) -> NDArray[np.int64]:
        """For each proposed text that was said in a session: so many before it, itself, and so many after it.

        A row each, in order, with 0 where there is none. Parts of long texts stand for themselves.
        """
        ...

    def lets_pass(self, ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of these texts the filter lets pass."""
        ...

    def said(self, ids: NDArray[np.int64]) -> Said:
        """How these texts begin and end, and when they were said."""
        ...

    def vectors(
        self, ids: NDArray[np.int64], wanted: NDArray[np.bool_] | None = None
    ) -> list[NDArray[np.float32]]:
        """The vectors of these texts, whose ids ascend: a row each and one of zeros.

        Turns have two such arrays: those of the summaries and those of the messages. A text that has none yet has
        zeros, and so has one that is not `wanted`, and one whose vector holds no numbers, as in a damaged row.
        """
        ...

    def reached(self, ids: NDArray[np.int64]) -> Held:
        """What holds the terms, these texts of other projects too."""
        ...


class Candidates(Protocol):
    """What a search reads: which texts hold its words, what stands beside them, and their vectors."""

    def held(self, kind: Embedded, terms: Sequence[str], wanted: Wanted) -> Held:
        """The newest texts that hold each term, of those that the person sees.

        Where a filter wants the memories of a small project: all of these that hold it.
        """
        ...

    def surroundings(self, proposal: Proposal, reach: int) -> Surroundings:
        """What a question proposes, with so many texts before and after each, and all that is told of them."""
        ...

    def containing(self, kind: Embedded, text: str, limit: int) -> list[int]:
        """The newest texts that hold this letter by letter: for queries without any word, such as an emoji."""
        ...

    def passing(self, kind: Embedded, ids: Sequence[int], wanted: Wanted) -> set[int]:
        """Those of the memories (or turns, or facts) of these texts that a filter lets pass."""
        ...
