"""The reads of a search: the texts that hold its words, their neighbours in a session, and their vectors."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from memory_server.domain.embedding import Embedded
from memory_server.domain.memory import Filter, Memory
from memory_server.storage.vectors import TextFilter


@dataclass(frozen=True, slots=True)
class Posting:
    """The texts that hold a term: their ids, ascending, and the BM25 of each, both of shape (texts read,).

    `everywhere` counts the texts of the whole index that hold it.
    """

    ids: NDArray[np.int64]
    scores: NDArray[np.float64]
    everywhere: int


@dataclass(frozen=True, slots=True)
class Postings:
    """The posting of each term of a search.

    `project` is the small project whose memories they are limited to ('' is none); None: not limited.
    `texts` counts the texts of the word index, whoever searches: the index weighs its words by that.
    """

    texts: int
    postings: Sequence[Posting]
    project: str | None

    def joined(self, extra: Sequence[Posting]) -> "Postings":
        """Add the texts of `extra` to the posting of each term; no text is in both."""
        postings = []
        for posting, more in zip(self.postings, extra, strict=True):
            ids, scores = (
                np.concatenate([posting.ids, more.ids]),
                np.concatenate([posting.scores, more.scores]),
            )
            order = np.argsort(ids)
            postings.append(Posting(ids[order], scores[order], posting.everywhere))
        return replace(self, postings=postings)


@dataclass(frozen=True, slots=True)
class Utterances:
    """The beginnings, ends and times of texts: `ids` ascend, `seconds` are those of the julian day; shape (texts,).

    `starts` has by id the first characters, in lower case, of the texts that have a colon there; `ends` the last
    characters of those that have a question mark there.
    """

    ids: NDArray[np.int64]
    seconds: NDArray[np.float64]
    starts: Mapping[int, str]
    ends: Mapping[int, str]

    @classmethod
    def of_rows(cls, rows: Sequence[Sequence[Any]]) -> "Utterances":
        """Read rows of (id, start or '', end or '', seconds), in the order of their ids."""
        ids, starts, ends, seconds = zip(*rows, strict=True) if rows else ((), (), (), ())
        return cls(
            np.array(ids, np.int64),
            np.array(seconds, np.float64),
            {id: start for id, start in zip(ids, starts, strict=True) if start},
            {id: end for id, end in zip(ids, ends, strict=True) if end},
        )


@dataclass(frozen=True, slots=True)
class Proposal:
    """The texts of a kind that a question proposes: of each of `lists`, best first, the first `most` that `filter` lets
    pass, and those of `also` that it lets pass.

    `space_id` is the space of the question, 0 without meaning, and `dimensions` the length of its vectors. `terms` are
    those of the question, and `postings` the texts that hold them.
    """

    kind: Embedded
    lists: Sequence[NDArray[np.int64]]
    most: int
    also: Sequence[int]
    filter: TextFilter
    space_id: int
    dimensions: int
    terms: Sequence[str]
    postings: Postings


class ProposedTexts(Protocol):
    """The proposed texts, and those before and after them in the same session."""

    @property
    def proposed(self) -> Sequence[int]: ...

    @property
    def lines(self) -> NDArray[np.int64]:
        """For each proposed text that is of a session: the ids of the texts before it, its own, and those after it.

        Shape (proposed texts of a session, 2 * reach + 1), with 0 where there is no text. Parts of long texts have no
        row.
        """
        ...

    def lets_pass(self, ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return true for each text that the filter lets pass; shape and order of `ids`."""
        ...

    def utterances(self, ids: NDArray[np.int64]) -> Utterances:
        """Return the beginnings, ends and times of these texts."""
        ...

    def vectors(
        self, ids: NDArray[np.int64], readable: NDArray[np.bool_] | None = None
    ) -> list[NDArray[np.float32]]:
        """Return the vectors of these texts, whose ids ascend: arrays of shape (texts + 1, dimensions).

        The last row is zeros. Turns have two such arrays: one of the summaries, one of the messages. A row is zeros
        where a text has no vector yet, where `readable` (shape of `ids`) is false, and where the stored vector is
        damaged.
        """
        ...

    def postings_with(self, ids: NDArray[np.int64]) -> Postings:
        """Return the postings of the proposal, extended by these texts where they are of other projects."""
        ...


class Candidates(Protocol):
    def postings(self, kind: Embedded, terms: Sequence[str], filter: TextFilter) -> Postings:
        """Return the newest texts that hold each term, of those that the person sees.

        Where the filter names a small project: all memories of it that hold the term.
        """
        ...

    def surroundings(self, proposal: Proposal, reach: int) -> ProposedTexts:
        """Return the proposed texts with up to `reach` texts before and after each."""
        ...

    def containing(self, kind: Embedded, text: str, limit: int) -> list[int]:
        """Return the newest texts that hold this letter by letter: for queries without any word, such as an emoji."""
        ...

    def newest(self, filter: Filter, limit: int, offset: int) -> list[Memory]:
        """Return the memories that a filter lets pass, by the moment at which they occurred, the latest first."""
        ...

    def passing(self, kind: Embedded, ids: Sequence[int], filter: TextFilter) -> set[int]:
        """Return the memories (or turns, or facts) of these texts that a filter lets pass."""
        ...


def first_passing(
    ids: NDArray[np.int64], limit: int, lets_pass: Callable[[NDArray[np.int64]], NDArray[np.bool_]]
) -> list[int]:
    """Return the first `limit` texts that pass; looks at few texts first, then at ever more.

    `lets_pass` returns true for each text that passes, in the shape of its argument.
    """
    passing_ids: list[int] = []
    start, size = 0, 4 * limit
    while start < len(ids) and len(passing_ids) < limit:
        batch = ids[start : start + size]
        passing_ids += batch[lets_pass(batch)].tolist()
        start, size = start + size, 4 * size
    return passing_ids[:limit]


def lines(rows: Sequence[tuple[int, Sequence[int], Sequence[int]]], reach: int) -> NDArray[np.int64]:
    """Make the `ProposedTexts.lines` of rows (id, ids before it, ids after it), both from the nearest to the
    farthest.
    """
    filled = np.zeros((len(rows), 2 * reach + 1), np.int64)
    for line, (id, before, after) in zip(filled, rows, strict=True):
        line[reach] = id
        line[reach - len(before) : reach] = before[::-1]
        line[reach + 1 : reach + 1 + len(after)] = after
    return filled
