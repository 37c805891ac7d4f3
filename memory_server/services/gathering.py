"""Gathers the texts of one kind that can answer a question, each with its scores by words, meaning and neighbours."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from memory_server.domain import ranking, relevance, token_by_token
from memory_server.domain.embedding import Embedded, Vector
from memory_server.domain.memory import Filter
from memory_server.domain.relevance import Hood, Numbers, Places, Term
from memory_server.language import background
from memory_server.language.query import Query
from memory_server.services.meaning import Meaning
from memory_server.storage.candidates import Postings, Proposal, ProposedTexts
from memory_server.storage.tx import Tx
from memory_server.storage.vectors import TextFilter

BY_WORDS = 100
"""Texts that the words of a question propose, the best by BM25."""

BY_MEANING = 80
"""Texts that its meaning proposes, or as many as are wanted where that is more."""

OF_A_PART = 25
"""Texts that the words and the meaning of one part propose each, where a question has several."""

OF_DAYS = 20
"""Memories of the days that a question names, the nearest in meaning, which are candidates because of their date: with
50 no more was found."""

SYMBOL_SHARE = 0.5
"""What an emoji of the query counts, of a full match of its words, where a text has it."""

SAME_TALK = 600
"""Seconds between two texts of a session that still belong together, where no speaker is named."""

Thing = TypeVar("Thing")


@dataclass(frozen=True, slots=True)
class SearchItem(Generic[Thing]):
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
class KindSearch(Generic[Thing]):
    """A search in the texts of one kind.

    `first_project` is the name of the project that comes first; with None all projects are equal.
    """

    kind: Embedded
    load: Callable[[Tx, Sequence[int]], Mapping[int, SearchItem[Thing]]]
    filter: TextFilter
    limit: int
    mode: str
    first_project: str | None


@dataclass(slots=True)
class QuestionWords:
    """The terms of a question over all kinds that are searched: a word is as rare in one kind as in another."""

    tx: Tx
    texts: tuple[str, ...]
    filters: Mapping[Embedded, TextFilter]
    total: int = field(init=False)
    _by_kind: dict[Embedded, Postings] = field(init=False)

    def __post_init__(self) -> None:
        candidates = self.tx.candidates
        holdings = self.tx.each(
            [partial(candidates.postings, kind, self.texts, filter) for kind, filter in self.filters.items()]
        )
        self._by_kind = dict(zip(self.filters, holdings, strict=True))
        self.total = sum(holding.texts for holding in holdings)

    def term(self, kind: Embedded, text: str) -> Term:
        """Return the texts of a kind that hold a term: in a search of a small project's memories, only these."""
        number, holding = self.texts.index(text), self._by_kind[kind]
        posting = holding.postings[number]
        everywhere = sum(kind_holding.postings[number].everywhere for kind_holding in self._by_kind.values())
        rarity = ranking.fts5_idf(posting.everywhere, holding.texts)
        return Term(posting.ids, posting.scores / rarity, everywhere, background.share(text))

    def held(self, kind: Embedded) -> Postings:
        """Return the texts of a kind that hold the terms."""
        return self._by_kind[kind]

    def reach(self, kind: Embedded, holding: Postings) -> None:
        """Replace the texts that hold the terms: `holding` covers other texts too, of whatever project."""
        self._by_kind[kind] = holding


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of the candidates for one part of the question; each array is float64 of the shape (candidates,).

    `share` and `cover` are shares of the weight of its words, from 0 to 1; `cosine` is from -1 to 1. `full` is the
    weight of all its words, `unheld` the share of `full` whose words no text of the store holds, `unknown` these words.
    """

    share: Numbers
    cover: Numbers
    cosine: Numbers
    full: float
    unheld: float
    unknown: frozenset[str]

    def base(self, weight: float) -> Numbers:
        """Return words and meaning together, with `weight` as the share of meaning."""
        return (1 - weight) * self.share + weight * self.cosine


@dataclass(frozen=True, slots=True)
class Gathered:
    """The candidates of a kind, by their ids, and their scores for each part of the question.

    `speaking` counts those that begin with the name of a speaker. `vectors` is float32 of the shape (candidates,
    dimensions); without meaning it has 0 dimensions. `neighbours` has by distance the ids of the texts that were said
    so many places later in the same talk, or 0; int64 of the shape (candidates,).
    """

    ids: list[int]
    scores: list[Scores]
    speaking: int
    vectors: NDArray[np.float32]
    neighbours: Mapping[int, Places]


def joined(kinds: Sequence[list[Scores]]) -> list[Scores]:
    """Join the scores of several kinds: for each part of the question, the candidates of one kind after the other."""
    return [
        Scores(
            np.concatenate([scores.share for scores in part]),
            np.concatenate([scores.cover for scores in part]),
            np.concatenate([scores.cosine for scores in part]),
            part[0].full,
            part[0].unheld,
            part[0].unknown,
        )
        for part in zip(*kinds, strict=True)
    ]


def _nothing(dimensions: int) -> Gathered:
    """Return the candidates of a kind without texts that fit."""
    no_ids = np.zeros(0, np.int64)
    vectors = np.zeros((0, dimensions), np.float32)
    return Gathered([], [], 0, vectors, dict.fromkeys(token_by_token.LEND, no_ids))


def by_meaning(
    tx: Tx, search: KindSearch[Thing], meaning: Meaning | None, queries: int
) -> list[dict[int, float]]:
    """Return the texts nearest to each vector of `meaning`, as cosines by id.

    `queries` is the number of parts: above 1, each of them proposes fewer texts.
    """
    if meaning is None:
        return []
    most = max(search.limit, OF_A_PART if queries > 1 else BY_MEANING)
    nearest = tx.embeddings.nearest
    return tx.each(
        [
            partial(nearest, search.kind, meaning.space_id, vector, search.filter, most)
            for vector in meaning.vectors
        ]
    )


def of_days(
    tx: Tx, search: KindSearch[Thing], meaning: Meaning | None, periods: Sequence[tuple[str, str]]
) -> list[dict[int, float]]:
    """Return the memories of each period that are nearest to each vector of `meaning`, as cosines by id.

    A period is two moments. Texts of other kinds have none.
    """
    if meaning is None or search.kind is not Embedded.MEMORIES or not isinstance(search.filter, Filter):
        return []
    nearest = tx.embeddings.nearest_within
    return tx.each(
        [
            partial(nearest, meaning.space_id, vector, search.filter, since, until, OF_DAYS)
            for since, until in periods
            for vector in meaning.vectors
        ]
    )


@dataclass(slots=True)
class Gathering(Generic[Thing]):
    """Gathers the candidates of one kind. `queries` are the parts of the question, or the whole."""

    words: QuestionWords
    queries: tuple[Query, ...]
    search: KindSearch[Thing]
    meaning: Meaning | None
    near: Sequence[Mapping[int, float]]
    """The results of `by_meaning` and `of_days`."""
    _holding: dict[str, list[int]] = field(default_factory=dict)

    def gathered(self) -> Gathered:
        """Return what the words or the meaning of a part propose, and what was said around it in the same talk."""
        proposal = self._proposal()
        if not (proposal.also or any(map(len, proposal.lists))):
            return _nothing(proposal.dimensions)
        around = self.tx.candidates.surroundings(proposal, 2 * relevance.REACH)
        hood = self._hood(around)
        self.words.reach(self.search.kind, around.postings_with(hood.ids))
        text_vectors = self._vectors(hood, around)
        scores = self._scores(hood, text_vectors) if len(hood.rows) else []
        candidate_vectors = (
            relevance.middle(text_vectors)[hood.rows] if len(text_vectors) > 1 else text_vectors[0][hood.rows]
        )
        every = np.append(hood.ids, 0)
        neighbours = {distance: every[hood.near[distance]] for distance in token_by_token.LEND}
        return Gathered(hood.ids[hood.rows].tolist(), scores, hood.speaking, candidate_vectors, neighbours)

    @property
    def tx(self) -> Tx:
        return self.words.tx

    def _proposal(self) -> Proposal:
        """Return the texts that the words or the meaning of any part of the question propose."""
        most = max(self.search.limit, OF_A_PART) if len(self.queries) > 1 else BY_WORDS
        parts_asked = self.queries if self.search.mode != "semantic" else ()
        vectors = self.meaning.vectors if self.meaning is not None else ()
        return Proposal(
            self.search.kind,
            self.tx.each([partial(self._by_words, query) for query in parts_asked]),
            min(most, BY_WORDS),
            [id for nearest in self.near for id in nearest],
            self.search.filter,
            self.meaning.space_id if self.meaning is not None else 0,
            len(vectors[0]) if vectors else 0,
            self.words.texts,
            self.words.held(self.search.kind),
        )

    def _by_words(self, query: Query) -> Places:
        """Return the ids of the texts that hold the rarest and most words of a question, best first; int64."""
        terms = [self._term(text) for text in query.terms]
        symbols = [self._containing(symbol) for symbol in query.symbols]
        if not terms:
            symbols.append(self._containing(query.text))
        ids = np.concatenate([np.zeros(0, np.int64), *(term.ids for term in terms), *symbols]).astype(
            np.int64
        )
        weights = [term.weight(self.words.total) * term.scores for term in terms]
        weights += [np.full(len(holders), SYMBOL_SHARE) for holders in symbols]
        different, places = np.unique(ids, return_inverse=True)
        totals = np.bincount(places, np.concatenate([np.zeros(0), *weights]), len(different))
        best: Places = different[np.lexsort((-different, -totals))]
        return best

    def _containing(self, text: str) -> list[int]:
        """Return the newest texts that hold this; each text of the store is looked through, so only once."""
        if text not in self._holding:
            self._holding[text] = self.tx.candidates.containing(self.search.kind, text, BY_WORDS)
        return self._holding[text]

    def _term(self, text: str) -> Term:
        return self.words.term(self.search.kind, text)

    def _hood(self, around: ProposedTexts) -> Hood:
        """Return the candidates, proposed or said around a proposed one in the same talk, with their neighbours."""
        reach, lines = relevance.REACH, around.lines
        around_ids, first = np.unique(lines[:, reach : -reach or None], return_index=True)
        near = {
            distance: lines[:, reach + distance : lines.shape[1] - reach + distance].ravel()[first]
            for distance in relevance.LEND
        }
        # The newest first among equals.
        ids = np.array(sorted({*around.proposed, *around_ids.tolist()} - {0}, reverse=True), np.int64)
        ids = ids[around.lets_pass(ids)]
        places = np.minimum(np.searchsorted(around_ids, ids), max(0, len(around_ids) - 1))
        is_around = around_ids[places] == ids if len(around_ids) else np.zeros(len(ids), bool)
        neighbours = {
            distance: np.where(is_around, neighbour_ids[places], 0) if len(around_ids) else np.zeros_like(ids)
            for distance, neighbour_ids in near.items()
        }
        return self._joined(ids, neighbours, around)

    def _joined(self, ids: Places, near: Mapping[int, Places], around: ProposedTexts) -> Hood:
        """Return the candidates and those of their neighbours that belong to the same talk.

        `ids` is int64 of the shape (candidates,), as is each array of `near`: the id of the neighbour at that distance,
        or 0.
        """
        every = np.unique(np.concatenate([ids, *near.values()]))
        every = every[every > 0]
        spoken = around.utterances(every)
        seconds, (speaks, people, asks) = np.zeros(len(every) + 1), np.zeros((3, len(every) + 1), bool)
        seconds[np.searchsorted(every, spoken.ids)] = spoken.seconds
        for place, start in zip(
            np.searchsorted(every, list(spoken.starts)), spoken.starts.values(), strict=True
        ):
            speaker = relevance.speaker_of(start)
            speaks[place], people[place] = bool(speaker), relevance.is_name(speaker)
        for place, end in zip(np.searchsorted(every, list(spoken.ends)), spoken.ends.values(), strict=True):
            asks[place] = relevance.only_asks(end)
        rows = np.searchsorted(every, ids)
        neighbour_places = {}
        for distance, neighbour_ids in near.items():
            place = np.where(neighbour_ids > 0, np.searchsorted(every, neighbour_ids), len(every))
            apart = np.abs(seconds[rows] - seconds[place])
            together = (neighbour_ids > 0) & ((speaks[rows] & speaks[place]) | (apart <= SAME_TALK))
            neighbour_places[distance] = np.where(together, place, len(every))
        return Hood(every, rows, neighbour_places, asks, int(people[rows].sum()))

    def _vectors(self, hood: Hood, around: ProposedTexts) -> list[NDArray[np.float32]]:
        """Return the vectors of the texts of the hood: see `candidates.vectors`. Without meaning: 0 dimensions.

        Each array is float32 of the shape (texts of the hood + 1, dimensions).
        """
        if self.meaning is None or not self.meaning.vectors:
            return [np.zeros((len(hood.ids) + 1, 0), np.float32)]
        return around.vectors(hood.ids, relevance.read_by_widened(hood))

    def _scores(self, hood: Hood, text_vectors: Sequence[NDArray[np.float32]]) -> list[Scores]:
        """Return the scores for each part of the question. `text_vectors` are those that `_vectors` returns."""
        ids = hood.ids[hood.rows].tolist()
        vectors: tuple[Vector, ...] = self.meaning.vectors if self.meaning is not None else ()
        wide = [relevance.widened(matrix, hood) for matrix in text_vectors] if vectors else []
        scores = []
        for place, query in enumerate(self.queries):
            terms = [] if self.search.mode == "semantic" else [self._term(text) for text in query.terms]
            shares = relevance.shares(terms, self.words.total, hood)
            share = self._with_symbols(query, ids, shares.share)
            cosine = np.zeros(len(ids))
            for matrix in wide:
                cosine = np.maximum(cosine, relevance.cosines(matrix, vectors[place]))
            unknown = frozenset(
                text for text, term in zip(query.terms, terms, strict=False) if not term.everywhere
            )
            scores.append(Scores(share, shares.cover, cosine, shares.full, shares.unheld, unknown))
        return scores

    def _with_symbols(self, query: Query, ids: Sequence[int], share: Numbers) -> Numbers:
        """Raise the shares of texts that hold a symbol of the query, or the query itself where it has no word.

        `share` is float64 of the shape (candidates,), in the order of `ids`.
        """
        if self.search.mode == "semantic":
            return share
        for symbol in query.symbols:
            holding = set(self._containing(symbol))
            share = np.maximum(share, [SYMBOL_SHARE * (id in holding) for id in ids])
        if not query.terms:
            holding = set(self._containing(query.text))
            share = np.maximum(share, [1.0 * (id in holding) for id in ids])
        return share
