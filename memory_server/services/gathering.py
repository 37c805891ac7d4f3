"""What can answer a question among the texts of one kind, each with its scores by words, meaning and neighbours."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from memory_server.domain import ranking, relevance
from memory_server.domain.embedding import Embedded, Vector
from memory_server.domain.relevance import Hood, Numbers, Places, Term
from memory_server.language import background
from memory_server.language.query import Query
from memory_server.services.embedding_queue import Meaning
from memory_server.storage.candidates import Held, Proposal, Surroundings
from memory_server.storage.tx import Tx
from memory_server.storage.vectors import Wanted

BY_WORDS = 100
"""Texts that the words of a question propose, the best by BM25."""

BY_MEANING = 80
"""Texts that its meaning proposes, or as many as are wanted where that is more."""

OF_A_PART = 25
"""Texts that the words and the meaning of one part propose each, where a question has several."""

SYMBOL_SHARE = 0.5
"""What an emoji of the query counts, of a full match of its words, where a text has it."""

SAME_TALK = 600
"""Seconds between two texts of a session that still belong together, where no speaker is named."""

Thing = TypeVar("Thing")


@dataclass(frozen=True, slots=True)
class Item(Generic[Thing]):
    """A memory or the like as the ranking reads it.

    `texts` are what it says: a turn has a summary and a message.
    `prior` is the share of its score that it keeps for its own sake, `bonus` what is added to that; `reasons` say why.
    """

    thing: Thing
    texts: tuple[str, ...]
    project: str
    occurred_at: str
    prior: float = 1.0
    bonus: float = 0.0
    reasons: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join(self.texts)


@dataclass(frozen=True, slots=True)
class Asked(Generic[Thing]):
    """What is searched, and how. `own` gives the project that comes first, None: all are equal. It is asked when the
    texts are read."""

    kind: Embedded
    load: Callable[[Tx, Sequence[int]], Mapping[int, Item[Thing]]]
    wanted: Wanted
    limit: int
    mode: str
    own: Callable[[], str | None]


@dataclass(slots=True)
class Words:
    """The terms of a question over all kinds that are searched: a word is as rare in one kind as in another."""

    tx: Tx
    texts: tuple[str, ...]
    wanted: Mapping[Embedded, Wanted]
    total: int = field(init=False)
    _held: dict[Embedded, Held] = field(init=False)

    def __post_init__(self) -> None:
        candidates = self.tx.candidates
        held = self.tx.each(
            [partial(candidates.held, kind, self.texts, wanted) for kind, wanted in self.wanted.items()]
        )
        self._held = dict(zip(self.wanted, held, strict=True))
        self.total = sum(each.texts for each in held)

    def term(self, kind: Embedded, text: str) -> Term:
        """Which texts of a kind hold a term. Where the memories of a small project are wanted, which of these."""
        number, own = self.texts.index(text), self._held[kind]
        posting = own.postings[number]
        everywhere = sum(each.postings[number].everywhere for each in self._held.values())
        rarity = ranking.fts5_idf(posting.everywhere, own.texts)
        return Term(posting.ids, posting.scores / rarity, everywhere, background.share(text))

    def held(self, kind: Embedded) -> Held:
        """Which texts of a kind hold the terms."""
        return self._held[kind]

    def reach(self, kind: Embedded, held: Held) -> None:
        """From now on the terms tell of other texts too, of whatever project."""
        self._held[kind] = held


@dataclass(frozen=True, slots=True)
class Scores:
    """Of one part of the question, for each candidate."""

    share: Numbers
    cover: Numbers
    cosine: Numbers
    full: float

    def base(self, weight: float) -> Numbers:
        """Words and meaning together, with this share of meaning."""
        return (1 - weight) * self.share + weight * self.cosine


@dataclass(frozen=True, slots=True)
class Gathered:
    """The candidates of a kind, by their ids, and their scores for each part of the question.

    `speaking` counts those that begin with the name of a speaker. `vectors` has a row for each, none without meaning.
    """

    ids: list[int]
    scores: list[Scores]
    speaking: int
    vectors: NDArray[np.float32]


def joined(kinds: Sequence[list[Scores]]) -> list[Scores]:
    """The scores of the candidates of several kinds, one after the other."""
    return [
        Scores(
            np.concatenate([each.share for each in part]),
            np.concatenate([each.cover for each in part]),
            np.concatenate([each.cosine for each in part]),
            part[0].full,
        )
        for part in zip(*kinds, strict=True)
    ]


def by_meaning(tx: Tx, asked: Asked[Thing], meaning: Meaning | None, queries: int) -> list[dict[int, float]]:
    """The texts nearest to the question, or to each of its parts where it has so many `queries`."""
    if meaning is None:
        return []
    most = max(asked.limit, OF_A_PART if queries > 1 else BY_MEANING)
    nearest = tx.embeddings.nearest
    return tx.each(
        [partial(nearest, asked.kind, meaning.space_id, each, asked.wanted, most) for each in meaning.vectors]
    )


@dataclass(slots=True)
class Gathering(Generic[Thing]):
    """`queries` are the parts of the question and at last the whole."""

    words: Words
    queries: tuple[Query, ...]
    asked: Asked[Thing]
    meaning: Meaning | None
    near: Sequence[Mapping[int, float]]
    """What `by_meaning` has found."""
    _holding: dict[str, list[int]] = field(default_factory=dict)

    def gathered(self) -> Gathered:
        """What the words or the meaning of a part propose, and what was said around it in the same talk."""
        around = self.tx.candidates.surroundings(self._proposal(), 2 * relevance.REACH)
        hood = self._hood(around)
        self.words.reach(self.asked.kind, around.reached(hood.ids))
        known = self._vectors(hood, around)
        scores = self._scores(hood, known) if len(hood.rows) else []
        own = relevance.middle(known)[hood.rows] if len(known) > 1 else known[0][hood.rows]
        return Gathered(hood.ids[hood.rows].tolist(), scores, hood.speaking, own)

    @property
    def tx(self) -> Tx:
        return self.words.tx

    def _proposal(self) -> Proposal:
        """The texts that the words or the meaning of any part of the question propose."""
        several = len(self.queries) > 1  # then the last is the whole, which proposes nothing of its own
        most = max(self.asked.limit, OF_A_PART) if several else BY_WORDS
        parts_asked = self.queries[: len(self.queries) - several] if self.asked.mode != "semantic" else ()
        vectors = self.meaning.vectors if self.meaning is not None else ()
        return Proposal(
            self.asked.kind,
            self.tx.each([partial(self._by_words, asked) for asked in parts_asked]),
            min(most, BY_WORDS),
            [id for nearest in self.near for id in nearest],
            self.asked.wanted,
            self._space_id,
            len(vectors[0]) if vectors else 0,
            self.words.texts,
            self.words.held(self.asked.kind),
        )

    def _by_words(self, asked: Query) -> Places:
        """The texts that hold the rarest and most words of a question, best first."""
        terms = [self._term(text) for text in asked.terms]
        symbols = [self._containing(symbol) for symbol in asked.symbols]
        if not terms:
            symbols.append(self._containing(asked.text))
        ids = np.concatenate([np.zeros(0, np.int64), *(term.ids for term in terms), *symbols]).astype(
            np.int64
        )
        weights = [term.weight(self.words.total) * term.scores for term in terms]
        weights += [np.full(len(found), SYMBOL_SHARE) for found in symbols]
        different, places = np.unique(ids, return_inverse=True)
        totals = np.bincount(places, np.concatenate([np.zeros(0), *weights]), len(different))
        best: Places = different[np.lexsort((-different, -totals))]
        return best

    def _containing(self, text: str) -> list[int]:
        """The newest texts that hold this; each text of the store is looked through, so only once."""
        if text not in self._holding:
            self._holding[text] = self.tx.candidates.containing(self.asked.kind, text, BY_WORDS)
        return self._holding[text]

    def _term(self, text: str) -> Term:
        return self.words.term(self.asked.kind, text)

    @property
    def _space_id(self) -> int:
        """The space that answers; 0 where none does."""
        return 0 if self.meaning is None else self.meaning.space_id

    def _hood(self, around: Surroundings) -> Hood:
        """The candidates: what is proposed and what was said around it in the same talk; with their neighbours."""
        reach, lines = relevance.REACH, around.lines
        beside, first = np.unique(lines[:, reach : -reach or None], return_index=True)
        near = {
            distance: lines[:, reach + distance : lines.shape[1] - reach + distance].ravel()[first]
            for distance in relevance.LEND
        }
        # The newest first among equals.
        ids = np.array(sorted({*around.proposed, *beside.tolist()} - {0}, reverse=True), np.int64)
        ids = ids[around.lets_pass(ids)]
        places = np.minimum(np.searchsorted(beside, ids), max(0, len(beside) - 1))
        there = beside[places] == ids if len(beside) else np.zeros(len(ids), bool)
        own = {
            distance: np.where(there, found[places], 0) if len(beside) else np.zeros_like(ids)
            for distance, found in near.items()
        }
        return self._joined(ids, own, around)

    def _joined(self, ids: Places, near: Mapping[int, Places], around: Surroundings) -> Hood:
        """The candidates and those of their neighbours that belong to the same talk."""
        every = np.unique(np.concatenate([ids, *near.values()]))
        every = every[every > 0]
        said = around.said(every)
        seconds, (speaks, people, asks) = np.zeros(len(every) + 1), np.zeros((3, len(every) + 1), bool)
        seconds[np.searchsorted(every, said.ids)] = said.seconds
        for place, start in zip(np.searchsorted(every, list(said.starts)), said.starts.values(), strict=True):
            speaker = relevance.speaker_of(start)
            speaks[place], people[place] = bool(speaker), relevance.is_name(speaker)
        for place, end in zip(np.searchsorted(every, list(said.ends)), said.ends.values(), strict=True):
            asks[place] = relevance.only_asks(end)
        rows = np.searchsorted(every, ids)
        found = {}
        for distance, other in near.items():
            place = np.where(other > 0, np.searchsorted(every, other), len(every))
            apart = np.abs(seconds[rows] - seconds[place])
            together = (other > 0) & ((speaks[rows] & speaks[place]) | (apart <= SAME_TALK))
            found[distance] = np.where(together, place, len(every))
        return Hood(every, rows, found, asks, int(people[rows].sum()))

    def _vectors(self, hood: Hood, around: Surroundings) -> list[NDArray[np.float32]]:
        """The vectors of the texts of the hood: see `candidates.vectors`. Without meaning they have no dimension."""
        if self.meaning is None or not self.meaning.vectors:
            return [np.zeros((len(hood.ids) + 1, 0), np.float32)]
        return around.vectors(hood.ids, relevance.read_by_widened(hood))

    def _scores(self, hood: Hood, known: Sequence[NDArray[np.float32]]) -> list[Scores]:
        """The scores of each part of the question. `known` are the vectors of the texts of the hood."""
        ids = hood.ids[hood.rows].tolist()
        vectors: tuple[Vector, ...] = self.meaning.vectors if self.meaning is not None else ()
        if 0 < len(vectors) < len(self.queries):  # the middle of its parts stands for the whole
            vectors = (*vectors, relevance.middle(vectors))
        wide = [relevance.widened(each, hood) for each in known] if vectors else []
        found = []
        for place, asked in enumerate(self.queries):
            terms = [] if self.asked.mode == "semantic" else [self._term(text) for text in asked.terms]
            shares = relevance.shares(terms, self.words.total, hood)
            share = self._with_symbols(asked, ids, shares.share)
            cosine = np.zeros(len(ids))
            for each in wide:
                cosine = np.maximum(cosine, relevance.cosines(each, vectors[place]))
            found.append(Scores(share, shares.cover, cosine, shares.full))
        return found

    def _with_symbols(self, asked: Query, ids: Sequence[int], share: Numbers) -> Numbers:
        """The shares, and those of texts that hold a symbol of the query, or the query itself where it has no word."""
        if self.asked.mode == "semantic":
            return share
        for symbol in asked.symbols:
            holding = set(self._containing(symbol))
            share = np.maximum(share, [SYMBOL_SHARE * (id in holding) for id in ids])
        if not asked.terms:
            holding = set(self._containing(asked.text))
            share = np.maximum(share, [1.0 * (id in holding) for id in ids])
        return share
