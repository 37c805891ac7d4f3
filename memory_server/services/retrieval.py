"""Ranks texts of any kind for a question, by words, meaning, neighbours and what the question asks for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import lru_cache, partial
from typing import Generic

import numpy as np
from numpy.typing import NDArray

from memory_server.domain import bridging, confidence, parts, ranking, relevance
from memory_server.domain.confidence import Signals
from memory_server.domain.embedding import Embedded
from memory_server.domain.moment import parse
from memory_server.domain.ranking import Literal
from memory_server.domain.relevance import Boost, Names, Numbers
from memory_server.errors import Problem
from memory_server.language import background, dates, query, question
from memory_server.language.query import Query
from memory_server.language.text import fold
from memory_server.services.gathering import (
    Gathering,
    Item,
    KindSearch,
    Scores,
    Thing,
    Words,
    by_meaning,
    joined,
)
from memory_server.services.meaning import Meaning, Unanswered
from memory_server.storage.tx import Tx

LOOKED_AT = 100
"""Texts, the best by words and meaning, that are read to see whether they have what the question asks for."""

TELLING = 12
"""Terms of a text, the rarest in ordinary language, by which texts alike are found: each takes some 0.3 ms."""

OPENING = 300
"""Characters of a text whose terms are looked at for that."""

EXACT = 0.1
"""Added where a text holds the whole query letter by letter: `TODO: x` comes before `x TODO`."""

VERY_TEXT = 1.0
"""Added where a text is the query: then it comes first, and surely answers."""

OTHER_PROJECT = 0.7
"""Share of its score that a text of another project keeps."""

NEWNESS = 0.08
"""Share of its score that the oldest candidate loses; the newest loses nothing, the others in proportion to their time.
A later note often corrects an earlier one."""

NEWNESS_OF_TALK = 0.03
"""The same where most candidates begin with a speaker: in dialogues the order means less, and .08 found less."""


@dataclass(frozen=True, slots=True)
class Ranked(Generic[Thing]):
    """A text that was found; of a long one, `part` is the number of the part that answers best.

    `score` orders the texts, `probability` is how likely this one answers. `is_query`: the text equals the query.
    """

    kind: Embedded
    id: int
    item: Item[Thing]
    part: int
    score: float
    signals: Signals
    is_query: bool
    probability: float


def questions(text: str) -> tuple[str, ...]:
    """Return the texts to embed for a search: the parts of a question, or the whole text where it has no parts."""
    return question.read(text).parts or (text,)


def rank(tx: Tx, text: str, search: KindSearch[Thing], meaning: Meaning | None) -> list[Ranked[Thing]]:
    """Rank the candidates of one kind, best first; see `rank_all`."""
    return rank_all(tx, text, (search,), meaning)


def rank_all(
    tx: Tx, text: str, searches: tuple[KindSearch[Thing], ...], meaning: Meaning | None
) -> list[Ranked[Thing]]:
    """Rank the candidates of several kinds by one measure, best first; all `searches` have the same mode.

    `meaning` has one vector for each text of `questions`; without it the words alone decide.
    """
    parsed = question.read(text)
    search = _Search(tx, parsed, tuple(map(query.parse, (*parsed.parts, text))), searches, meaning)
    return search.ranked()


def alike(tx: Tx, text: str, search: KindSearch[Thing], meaning: Meaning) -> list[Ranked[Thing]]:
    """Rank the texts that are most like a text, best first. `meaning` has the vector of the text."""
    plain = query.parse(text[:OPENING])
    telling = replace(plain, terms=tuple(sorted(plain.terms, key=background.share)[:TELLING]))
    statement = question.Question(plain.text, plain.text, (), when=False, how_many=False, mine=False)
    return _Search(tx, statement, (telling,), (search,), meaning).ranked()


def without_meaning(tx: Tx, kinds: Sequence[Embedded], meaning: Meaning | Unanswered | None) -> list[Problem]:
    """Return the reasons why a search by meaning found less than it could."""
    if isinstance(meaning, Unanswered):
        return [Problem(f"found by words only: {meaning.problem.text}", meaning.problem.hints)]
    if meaning is None:
        return []
    counts = tx.each([partial(tx.embeddings.count_waiting, meaning.space_id, kind) for kind in kinds])
    left = dict(zip(kinds, counts, strict=True))
    return [
        Problem(f"{number} {kind} are not embedded yet and were found by words only")
        for kind, number in left.items()
        if number
    ]


@dataclass(frozen=True, slots=True)
class _Candidate(Generic[Thing]):
    """A text that may answer: its place in the arrays of scores, its id, search and item, and the text itself, folded.

    `is_own`: it is of the project that comes first, or of none; true for all where no project comes first.
    """

    place: int
    id: int
    search: KindSearch[Thing]
    item: Item[Thing]
    text: str
    is_own: bool


@dataclass(frozen=True, slots=True)
class _Search(Generic[Thing]):
    tx: Tx
    question: question.Question
    queries: tuple[Query, ...]
    searches: tuple[KindSearch[Thing], ...]
    meaning: Meaning | None

    def ranked(self) -> list[Ranked[Thing]]:
        """Return the best candidates with all that the question asks for, in the order of the answer."""
        words, near = self.tx.together(self._words, self._near)
        gathered = self.tx.each(
            [
                Gathering(words, self.queries, search, self.meaning, nearest).gathered
                for search, nearest in zip(self.searches, near, strict=True)
            ]
        )
        ids = [
            (search, id) for search, texts in zip(self.searches, gathered, strict=True) for id in texts.ids
        ]
        if not ids:
            return []
        scores = joined([texts.scores for texts in gathered if texts.scores])
        vectors = np.concatenate([texts.vectors for texts in gathered])
        talk = sum(texts.speaking for texts in gathered) / len(ids)
        bases = [
            part_scores.base(self._meaning_weight(query, talk))
            for part_scores, query in zip(scores, self.queries, strict=True)
        ]
        best, _ = relevance.best_places(bases)
        if self.meaning is None:  # what only stands beside a text has no word
            best = best[np.max(bases, axis=0)[best] > 0]
        candidates = self._read([(place, *ids[place]) for place in best[:LOOKED_AT].tolist()])
        return self._in_order(candidates, scores, bases, vectors) if candidates else []

    def _words(self) -> Words:
        texts = dict.fromkeys(term for query in self.queries for term in query.terms if self._by_words)
        return Words(self.tx, tuple(texts), {search.kind: search.filter for search in self.searches})

    def _near(self) -> list[list[dict[int, float]]]:
        """Return the texts that the question's meaning proposes: the result of `by_meaning` for each kind."""
        queries = len(self.queries)
        return self.tx.each(
            [partial(by_meaning, self.tx, search, self.meaning, queries) for search in self.searches]
        )

    def _meaning_weight(self, query: Query, talk: float) -> float:
        meaning = self.meaning if self.meaning is not None and self.meaning.vectors else None
        return ranking.meaning_weight(meaning.space if meaning else None, self._mode, query.chinese, talk)

    def _read(self, best: Sequence[tuple[int, KindSearch[Thing], int]]) -> list[_Candidate[Thing]]:
        ids = {
            search.kind: list(dict.fromkeys(parts.memory_of(id) for _, owner, id in best if owner is search))
            for search in self.searches
        }
        first_project = self.searches[0].first_project
        loaded = self.tx.each([partial(search.load, self.tx, ids[search.kind]) for search in self.searches])
        items = dict(zip(ids, loaded, strict=True))
        candidates = []
        for place, search, id in best:
            item = items[search.kind].get(parts.memory_of(id))
            if item is not None:
                is_own = first_project is None or item.project in ("", first_project)
                candidates.append(_Candidate(place, id, search, item, fold(_part(item.text, id)), is_own))
        return candidates

    def _in_order(
        self,
        candidates: Sequence[_Candidate[Thing]],
        scores: Sequence[Scores],
        bases: Sequence[Numbers],
        vectors: NDArray[np.float32],
    ) -> list[Ranked[Thing]]:
        """Order the candidates that were read; the `place` of each is its index in the arrays below.

        `scores` and `bases` have one element for each query, with arrays of shape (gathered texts,); `vectors` has the
        shape (gathered texts, dimensions).
        """
        boosts = self._boosts(candidates)
        literal = Literal(self.question.text)
        keeps, added = self._keeps(candidates, literal), self._added(candidates, literal)
        very = [any(map(literal.is_all_of, candidate.item.texts)) for candidate in candidates]
        added = added + VERY_TEXT * np.array(very)
        best = [candidate.place for candidate in candidates]
        lists = [base[best] * keeps + [boost.amount for boost in boosts] + added for base in bases]
        if self._by_words:
            lists = self._bridged(lists, candidates)
        order, lists_of = relevance.best_places(lists)
        spread = [_spread(part_scores.cosine) for part_scores in scores]
        far = [float(np.sort(totals)[-min(confidence.FAR, len(totals))]) for totals in lists]
        best_parts: dict[tuple[Embedded, int], tuple[int, float]] = {}
        least = np.inf
        for row in order.tolist():
            # Of several questions, each has its own best score: the order is that of the places.
            least = min(float(lists[lists_of[row]][row]), least)
            key = (candidates[row].search.kind, parts.memory_of(candidates[row].id))
            best_parts.setdefault(key, (row, least))
        rows = [row for row, _ in best_parts.values()]
        restated, summed = self._repeated(
            vectors[[best[row] for row in rows]], [kind for kind, _ in best_parts]
        )
        ranked = []
        for row, again, like in zip(rows, restated, summed, strict=True):
            number, place = int(lists_of[row]), best[row]
            part_scores = scores[number]
            ranked.append(
                Signals(
                    share=float(part_scores.share[place]),
                    cover=float(part_scores.cover[place]),
                    cosine=float(part_scores.cosine[place]),
                    distinct=float((part_scores.cosine[place] - spread[number][0]) / spread[number][1]),
                    score=float(lists[number][row]),
                    far=far[number],
                    boost=boosts[row],
                    only_asks=relevance.only_asks(candidates[row].text),
                    full=part_scores.full,
                    terms=len(self.queries[number].terms),
                    questions=max(1, len(self.question.parts)),
                    restated=again,
                    summed=like,
                )
            )
        chances = self._probabilities(ranked)
        return [
            Ranked(
                *key,
                candidates[row].item,
                parts.number_of(candidates[row].id),
                score,
                signals,
                very[row],
                1.0 if very[row] else chance,
            )
            for (key, (row, score)), signals, chance in zip(best_parts.items(), ranked, chances, strict=True)
        ]

    def _repeated(
        self, vectors: NDArray[np.float32], kinds: Sequence[Embedded]
    ) -> tuple[list[float], list[float]]:
        """Return how often the first texts of its kind restate each text of the ranking, and how often they add to it.

        `vectors` has the shape (texts of the ranking, dimensions), in the order of `kinds`. Each kind is counted alone,
        because a memory and the fact that was read from it are one thing said once.
        """
        restated, summed = np.zeros((2, len(kinds)))
        for kind in set(kinds):
            of_kind = np.array([row_kind is kind for row_kind in kinds])
            restated[of_kind] = relevance.repeated(vectors[of_kind], confidence.FIRST, relevance.RESTATED)
            if self.question.adds_up:
                summed[of_kind] = relevance.repeated(vectors[of_kind], confidence.FIRST, relevance.ALIKE)
        return restated.tolist(), summed.tolist()

    def _bridged(self, lists: Sequence[Numbers], candidates: Sequence[_Candidate[Thing]]) -> list[Numbers]:
        """Return the scores for each part of the question, with what two hops add; arrays of shape (candidates,)."""
        texts = bridging.Texts([candidate.text[:OPENING] for candidate in candidates])
        # The whole of several parts asks nothing more.
        queries = self.queries[: max(1, len(self.queries) - 1)]
        bridged = [
            bridging.with_bridges(texts, query, scores) for query, scores in zip(queries, lists, strict=False)
        ]
        return [*bridged, *lists[len(bridged) :]]

    def _probabilities(self, signals: Sequence[Signals]) -> list[float]:
        meaning = self.meaning is not None and not self.meaning.space.lexical and self._mode != "keyword"
        return confidence.probabilities(signals, meaning, self._by_words)

    @property
    def _mode(self) -> str:
        return self.searches[0].mode

    @property
    def _by_words(self) -> bool:
        return self._mode != "semantic"

    def _boosts(self, candidates: Sequence[_Candidate[Thing]]) -> list[Boost]:
        folded = fold(self.question.core)
        spans = list(dates.spans(folded, parse(self.tx.now).date()))
        names = Names.of(folded, {relevance.speaker_of(candidate.text) for candidate in candidates})
        return [
            relevance.boost(
                self.question,
                spans,
                names,
                candidate.text,
                _day(candidate.item.occurred_at) if spans else None,
            )
            for candidate in candidates
        ]

    def _added(self, candidates: Sequence[_Candidate[Thing]], literal: Literal) -> Numbers:
        """Return what is added to each score, shape (candidates,): the bonus, and EXACT if a text holds the query."""
        return np.array(
            [
                candidate.item.bonus + EXACT * (self._by_words and literal.within(candidate.text))
                for candidate in candidates
            ]
        )

    def _keeps(self, candidates: Sequence[_Candidate[Thing]], literal: Literal) -> Numbers:
        """Return the share of its score that each text keeps, by marks, age among the candidates, decay and project.

        The shape is (candidates,).
        """
        moments = np.array([_seconds(candidate.item.occurred_at) for candidate in candidates])
        age = (moments.max() - moments) / max(1e-3, float(moments.max() - moments.min()))
        talk = (
            np.mean([bool(relevance.speaker_of(candidate.text)) for candidate in candidates]) > ranking.TALK
        )
        shares = [
            literal.share(candidate.text)
            * candidate.item.prior
            * (1.0 if candidate.is_own else OTHER_PROJECT)
            for candidate in candidates
        ]
        keeps: Numbers = np.array(shares) * (1 - (NEWNESS_OF_TALK if talk else NEWNESS) * age)
        return keeps


def _part(text: str, id: int) -> str:
    return parts.split(text)[parts.number_of(id)]


def _spread(values: Numbers) -> tuple[float, float]:
    """Return the mean and the standard deviation, which is never 0."""
    return float(values.mean()), max(1e-3, float(values.std()))


def _day(moment: str) -> date:
    return datetime.fromtimestamp(_seconds(moment), UTC).date()


@lru_cache(maxsize=4096)
def _seconds(moment: str) -> float:
    """Return the seconds since 1970; 0 for a text that is no moment, as a hand edit can leave it."""
    try:
        return parse(moment).timestamp()
    except ValueError:
        return 0.0
