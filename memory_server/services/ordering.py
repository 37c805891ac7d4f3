"""Orders the texts that may answer a question, and says how likely each one answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Generic

import numpy as np
from numpy.typing import NDArray

from memory_server.domain import bridging, confidence, parts, ranking, relevance, token_by_token
from memory_server.domain.confidence import Signals
from memory_server.domain.embedding import Embedded, Tokens
from memory_server.domain.moment import parse
from memory_server.domain.ranking import Literal
from memory_server.domain.relevance import Boost, Names, Numbers, Places
from memory_server.language import kinds, query, question
from memory_server.language.dates import Days
from memory_server.language.query import Query
from memory_server.language.text import fold, has_han, is_chinese
from memory_server.services.gathering import KindSearch, Scores, SearchItem, Thing
from memory_server.services.meaning import Meaning

OPENING = 300
"""Characters of a text that are looked at for what leads to another one."""

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
    `vector` has 0 dimensions where meaning does not answer.
    """

    kind: Embedded
    id: int
    item: SearchItem[Thing]
    part: int
    score: float
    signals: Signals
    is_query: bool
    probability: float
    vector: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Candidate(Generic[Thing]):
    """A text that may answer: its place in the arrays of scores, its id, search and item, and the text itself, folded.

    `is_own`: it is of the project that comes first, or of none; true for all where no project comes first. `tokens`
    are None where they are not known.
    """

    place: int
    id: int
    search: KindSearch[Thing]
    item: SearchItem[Thing]
    text: str
    is_own: bool
    tokens: Tokens | None


@dataclass(frozen=True, slots=True)
class Ordering(Generic[Thing]):
    """Orders candidates that were read; the `place` of each is its index in the arrays.

    `scores` and `bases` have one element for each query, with arrays of float64 of the shape (gathered texts,): shares
    of the question from 0 to 1, and cosines from -1 to 1. `vectors` are float32 of the shape (gathered texts,
    dimensions), with 0 dimensions where meaning does not answer. `neighbours`: see `Gathered`.
    """

    question: question.Question
    queries: tuple[Query, ...]
    meaning: Meaning | None
    mode: str
    spans: Sequence[Days]
    candidates: Sequence[Candidate[Thing]]
    scores: Sequence[Scores]
    bases: Sequence[Numbers]
    vectors: NDArray[np.float32]
    neighbours: Mapping[int, Places]

    def ranked(self) -> list[Ranked[Thing]]:
        """Return the texts in the order of the answer; of a long one the part that answers best."""
        literal = Literal(self.question.text)
        very = [any(map(literal.is_all_of, candidate.item.texts)) for candidate in self.candidates]
        boosts = self._boosts()
        plain = self._totals(literal, very, boosts)
        lists = [scores + read for scores, read in zip(plain, self._token_by_token(), strict=True)]
        order, lists_of = relevance.best_places(lists)
        best_parts: dict[tuple[Embedded, int], tuple[int, float]] = {}
        least = np.inf
        for row in order.tolist():
            # Of several questions, each has its own best score: the order is that of the places.
            least = min(float(lists[lists_of[row]][row]), least)
            candidate = self.candidates[row]
            best_parts.setdefault((candidate.search.kind, parts.memory_of(candidate.id)), (row, least))
        rows = [row for row, _ in best_parts.values()]
        signals = self._signals(rows, plain, lists_of, boosts)
        return [
            Ranked(
                *key,
                self.candidates[row].item,
                parts.number_of(self.candidates[row].id),
                score,
                its_signals,
                very[row],
                1.0 if very[row] else chance,
                self.vectors[self.candidates[row].place],
            )
            for (key, (row, score)), its_signals, chance in zip(
                best_parts.items(), signals, self._probabilities(signals), strict=True
            )
        ]

    def _totals(self, literal: Literal, very: Sequence[bool], boosts: Sequence[Boost]) -> list[Numbers]:
        """Return the whole scores for each query, arrays of the shape (candidates,)."""
        keeps = self._keeps(literal)
        added = self._added(literal) + VERY_TEXT * np.array(very)
        places = [candidate.place for candidate in self.candidates]
        lists = [base[places] * keeps + [boost.amount for boost in boosts] + added for base in self.bases]
        return self._bridged(lists) if self._by_words else lists

    def _token_by_token(self) -> list[Numbers]:
        """Return what is added to the scores for each query because of the tokens, arrays of the shape (candidates,).

        The probabilities know nothing of it: they mean the same where no tokens are known.
        """
        questions = self.meaning.tokens if self.meaning is not None else ()
        weight = (
            token_by_token.weight([relevance.speaker_of(row.text) for row in self.candidates])
            if questions
            else 0
        )
        if not weight:
            return [np.zeros(len(self.candidates)) for _ in self.queries]
        texts, near = [candidate.tokens for candidate in self.candidates], self._near()
        return [weight * token_by_token.likeness(tokens, texts, near) for tokens in questions]

    def _near(self) -> dict[int, Places]:
        """Return by distance the number of the candidate that stands so far from each one, or -1: (candidates,)."""
        numbers = {(row.search.kind, row.id): number for number, row in enumerate(self.candidates)}
        return {
            distance: np.array(
                [numbers.get((row.search.kind, int(ids[row.place])), -1) for row in self.candidates]
            )
            for distance, ids in self.neighbours.items()
        }

    def _signals(
        self, rows: Sequence[int], lists: Sequence[Numbers], lists_of: Places, boosts: Sequence[Boost]
    ) -> list[Signals]:
        """Return the signals of the candidates in these rows of `lists`, each for the query where it is best.

        `lists_of` has the number of that query for each candidate, int64 of the shape (candidates,).
        """
        spread = [_spread(part_scores.cosine) for part_scores in self.scores]
        far = [_far(totals) for totals in lists]
        restated, summed = self._repeated([self.candidates[row] for row in rows])
        names_unknown = self._names_unknown()
        signals = []
        for row, again, like in zip(rows, restated, summed, strict=True):
            candidate, number = self.candidates[row], int(lists_of[row])
            place, part_scores = candidate.place, self.scores[number]
            signals.append(
                Signals(
                    share=float(part_scores.share[place]),
                    cover=float(part_scores.cover[place]),
                    cosine=float(part_scores.cosine[place]),
                    distinct=float((part_scores.cosine[place] - spread[number][0]) / spread[number][1]),
                    score=float(lists[number][row]),
                    far=far[number],
                    boost=boosts[row],
                    only_asks=relevance.only_asks(candidate.text),
                    full=part_scores.full,
                    unheld=part_scores.unheld,
                    translated=is_chinese(candidate.text) != self.queries[number].chinese,
                    terms=len(self.queries[number].terms),
                    questions=max(1, len(self.question.parts)),
                    restated=again,
                    summed=like,
                    names_unknown=names_unknown,
                )
            )
        return signals

    def _names_unknown(self) -> bool:
        """Return true if the question names somebody or something, other than the project, that no text has."""
        names = kinds.names(self.question.core)
        terms = {term for name in names for term in query.parse(name).terms} & frozenset().union(
            *(part_scores.unknown for part_scores in self.scores)
        )
        terms.difference_update(query.parse(self.candidates[0].search.first_project or "").terms)
        stems = [*map(query.stem, terms), *filter(has_han, names)]
        return any(all(stem not in candidate.text for candidate in self.candidates) for stem in stems)

    def _repeated(self, shown: Sequence[Candidate[Thing]]) -> tuple[list[float], list[float]]:
        """Return how often the first texts of its kind restate each text of the ranking, and how often they add to it.

        Each kind is counted alone, because a memory and the fact that was read from it are one thing said once.
        """
        vectors = self.vectors[[candidate.place for candidate in shown]]
        kinds = [candidate.search.kind for candidate in shown]
        restated, summed = np.zeros((2, len(kinds)))
        for kind in set(kinds):
            of_kind = np.array([row_kind is kind for row_kind in kinds])
            restated[of_kind] = relevance.repeated(vectors[of_kind], confidence.FIRST, relevance.RESTATED)
            if self.question.adds_up:
                summed[of_kind] = relevance.repeated(vectors[of_kind], confidence.FIRST, relevance.ALIKE)
        return restated.tolist(), summed.tolist()

    def _bridged(self, lists: Sequence[Numbers]) -> list[Numbers]:
        """Return the scores for each part of the question, with what two hops add; arrays of shape (candidates,)."""
        texts = bridging.Texts([candidate.text[:OPENING] for candidate in self.candidates])
        return [
            bridging.with_bridges(texts, query, scores)
            for query, scores in zip(self.queries, lists, strict=True)
        ]

    def _probabilities(self, signals: Sequence[Signals]) -> list[float]:
        meaning = self.meaning is not None and not self.meaning.space.lexical and self.mode != "keyword"
        return confidence.probabilities(signals, meaning, self._by_words)

    @property
    def _by_words(self) -> bool:
        return self.mode != "semantic"

    def _boosts(self) -> list[Boost]:
        folded = fold(self.question.core)
        names = Names.of(folded, {relevance.speaker_of(candidate.text) for candidate in self.candidates})
        return [
            relevance.boost(
                self.question,
                self.spans,
                names,
                candidate.text,
                _day(candidate.item.occurred_at) if self.spans else None,
            )
            for candidate in self.candidates
        ]

    def _added(self, literal: Literal) -> Numbers:
        """Return what is added to each score, shape (candidates,): the bonus, and EXACT if a text holds the query."""
        return np.array(
            [
                candidate.item.bonus + EXACT * (self._by_words and literal.within(candidate.text))
                for candidate in self.candidates
            ]
        )

    def _keeps(self, literal: Literal) -> Numbers:
        """Return the share of its score that each text keeps, by marks, age among the candidates, decay and project.

        The shape is (candidates,).
        """
        moments = np.array([_seconds(candidate.item.occurred_at) for candidate in self.candidates])
        age = (moments.max() - moments) / max(1e-3, float(moments.max() - moments.min()))
        talk = (
            np.mean([bool(relevance.speaker_of(candidate.text)) for candidate in self.candidates])
            > ranking.TALK
        )
        shares = [
            literal.share(candidate.text)
            * candidate.item.prior
            * (1.0 if candidate.is_own else OTHER_PROJECT)
            for candidate in self.candidates
        ]
        keeps: Numbers = np.array(shares) * (1 - (NEWNESS_OF_TALK if talk else NEWNESS) * age)
        return keeps


def _spread(cosines: Numbers) -> tuple[float, float]:
    """Return the mean and the standard deviation, which is never 0."""
    compared = cosines if len(cosines) > 1 else np.append(cosines, confidence.UNRELATED)
    return float(compared.mean()), max(1e-3, float(compared.std()))


def _far(totals: Numbers) -> float:
    """Return the score of the text at place FAR, or of the last one."""
    return (
        float(np.sort(totals)[-min(confidence.FAR, len(totals))]) if len(totals) > 1 else confidence.UNRELATED
    )


def _day(moment: str) -> date:
    return datetime.fromtimestamp(_seconds(moment), UTC).date()


@lru_cache(maxsize=4096)
def _seconds(moment: str) -> float:
    """Return the seconds since 1970; 0 for a text that is no moment, as a hand edit can leave it."""
    try:
        return parse(moment).timestamp()
    except ValueError:
        return 0.0
