"""The one search: it ranks texts of any kind for a question, by words, meaning, neighbours and what is asked for."""

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
from memory_server.services.embedding_queue import Meaning, Unanswered
from memory_server.services.gathering import Asked, Gathering, Item, Scores, Thing, Words, by_meaning, joined
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
    """A text found; of a long one `part` is the number of the part that answers best.

    `score` orders the texts, `probability` is how likely it is that this one answers. `is_query`: it is the very text.
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
    """The texts that are embedded for a search: the parts of a question, or the whole where it has none."""
    return question.read(text).parts or (text,)


def rank(tx: Tx, text: str, asked: Asked[Thing], meaning: Meaning | None) -> list[Ranked[Thing]]:
    """The candidates of one kind, best first; see `rank_all`."""
    return rank_all(tx, text, (asked,), meaning)


def rank_all(
    tx: Tx, text: str, asked: tuple[Asked[Thing], ...], meaning: Meaning | None
) -> list[Ranked[Thing]]:
    """The candidates of several kinds, best first, measured alike; all in the same mode.

    `meaning` has a vector for each of `questions`; without it words alone answer.
    """
    found = question.read(text)
    search = _Search(tx, found, tuple(map(query.parse, (*found.parts, text))), asked, meaning)
    return search.ranked()


def alike(tx: Tx, text: str, asked: Asked[Thing], meaning: Meaning) -> list[Ranked[Thing]]:
    """What says the most alike to a text, best first. `meaning` has the vector of the text."""
    plain = query.parse(text[:OPENING])
    telling = replace(plain, terms=tuple(sorted(plain.terms, key=background.share)[:TELLING]))
    statement = question.Question(plain.text, plain.text, (), when=False, how_many=False, mine=False)
    return _Search(tx, statement, (telling,), (asked,), meaning).ranked()


def without_meaning(tx: Tx, kinds: Sequence[Embedded], meaning: Meaning | Unanswered | None) -> list[Problem]:
    """Why meaning did not find all that it could."""
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
    """A text that may answer: its place among the scores, its id, what it is, and the text itself, folded.

    `is_own`: it is of the project that comes first, or of none.
    """

    place: int
    id: int
    asked: Asked[Thing]
    item: Item[Thing]
    text: str
    is_own: bool


@dataclass(frozen=True, slots=True)
class _Search(Generic[Thing]):
    tx: Tx
    question: question.Question
    queries: tuple[Query, ...]
    asked: tuple[Asked[Thing], ...]
    meaning: Meaning | None

    def ranked(self) -> list[Ranked[Thing]]:
        """The best candidates with all that the question asks for, in the order of the answer."""
        words, near = self.tx.together(self._words, self._near)
        gathered = self.tx.each(
            [
                Gathering(words, self.queries, each, self.meaning, found).gathered
                for each, found in zip(self.asked, near, strict=True)
            ]
        )
        ids = [(asked, id) for asked, each in zip(self.asked, gathered, strict=True) for id in each.ids]
        if not ids:
            return []
        scores = joined([each.scores for each in gathered if each.scores])
        vectors = np.concatenate([each.vectors for each in gathered])
        talk = sum(each.speaking for each in gathered) / len(ids)
        bases = [
            each.base(self._meaning_weight(asked, talk))
            for each, asked in zip(scores, self.queries, strict=True)
        ]
        best, _ = relevance.best_places(bases)
        if self.meaning is None:  # what only stands beside a text has no word
            best = best[np.max(bases, axis=0)[best] > 0]
        seen = self._read([(place, *ids[place]) for place in best[:LOOKED_AT].tolist()])
        return self._in_order(seen, scores, bases, vectors) if seen else []

    def _words(self) -> Words:
        texts = dict.fromkeys(term for each in self.queries for term in each.terms if self._by_words)
        return Words(self.tx, tuple(texts), {each.kind: each.wanted for each in self.asked})

    def _near(self) -> list[list[dict[int, float]]]:
        """What the question's meaning proposes, of each kind."""
        queries = len(self.queries)
        return self.tx.each(
            [partial(by_meaning, self.tx, asked, self.meaning, queries) for asked in self.asked]
        )

    def _meaning_weight(self, asked: Query, talk: float) -> float:
        meaning = self.meaning if self.meaning is not None and self.meaning.vectors else None
        return ranking.meaning_weight(meaning.space if meaning else None, self._mode, asked.chinese, talk)

    def _read(self, best: Sequence[tuple[int, Asked[Thing], int]]) -> list[_Candidate[Thing]]:
        ids = {
            asked.kind: list(dict.fromkeys(parts.memory_of(id) for _, kind, id in best if kind is asked))
            for asked in self.asked
        }
        own, loaded = self.tx.together(
            self.asked[0].own,
            lambda: self.tx.each([partial(asked.load, self.tx, ids[asked.kind]) for asked in self.asked]),
        )
        items = dict(zip(ids, loaded, strict=True))
        found = []
        for place, asked, id in best:
            item = items[asked.kind].get(parts.memory_of(id))
            if item is not None:
                is_own = own is None or item.project in ("", own)
                found.append(_Candidate(place, id, asked, item, fold(_part(item.text, id)), is_own))
        return found

    def _in_order(
        self,
        seen: Sequence[_Candidate[Thing]],
        scores: Sequence[Scores],
        bases: Sequence[Numbers],
        vectors: NDArray[np.float32],
    ) -> list[Ranked[Thing]]:
        boosts = self._boosts(seen)
        literal = Literal(self.question.text)
        keeps, added = self._keeps(seen, literal), self._added(seen, literal)
        very = [any(map(literal.is_all_of, each.item.texts)) for each in seen]
        added = added + VERY_TEXT * np.array(very)
        best = [each.place for each in seen]
        lists = [each[best] * keeps + [boost.amount for boost in boosts] + added for each in bases]
        if self._by_words:
            lists = self._bridged(lists, seen)
        order, lists_of = relevance.best_places(lists)
        spread = [_spread(each.cosine) for each in scores]
        far = [float(np.sort(each)[-min(confidence.FAR, len(each))]) for each in lists]
        best_parts: dict[tuple[Embedded, int], tuple[int, float]] = {}
        least = np.inf
        for row in order.tolist():
            # Of several questions, each has its own best score: the order is that of the places.
            least = min(float(lists[lists_of[row]][row]), least)
            key = (seen[row].asked.kind, parts.memory_of(seen[row].id))
            best_parts.setdefault(key, (row, least))
        rows = [row for row, _ in best_parts.values()]
        restated, summed = self._repeated(
            vectors[[best[row] for row in rows]], [kind for kind, _ in best_parts]
        )
        ranked = []
        for row, again, like in zip(rows, restated, summed, strict=True):
            number, place = int(lists_of[row]), best[row]
            each = scores[number]
            ranked.append(
                Signals(
                    share=float(each.share[place]),
                    cover=float(each.cover[place]),
                    cosine=float(each.cosine[place]),
                    distinct=float((each.cosine[place] - spread[number][0]) / spread[number][1]),
                    score=float(lists[number][row]),
                    far=far[number],
                    boost=boosts[row],
                    only_asks=relevance.only_asks(seen[row].text),
                    full=each.full,
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
                seen[row].item,
                parts.number_of(seen[row].id),
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
        """For each text of the ranking how often the first ones of its kind restate it, and add to it.

        A memory and the fact that was read from it are one thing said once.
        """
        restated, summed = np.zeros((2, len(kinds)))
        for kind in set(kinds):
            of_kind = np.array([each is kind for each in kinds])
            restated[of_kind] = relevance.repeated(vectors[of_kind], confidence.FIRST, relevance.RESTATED)
            if self.question.adds_up:
                summed[of_kind] = relevance.repeated(vectors[of_kind], confidence.FIRST, relevance.ALIKE)
        return restated.tolist(), summed.tolist()

    def _bridged(self, lists: Sequence[Numbers], seen: Sequence[_Candidate[Thing]]) -> list[Numbers]:
        """The scores of each part of the question, with what two hops add."""
        texts = bridging.Texts([each.text[:OPENING] for each in seen])
        asked = self.queries[: max(1, len(self.queries) - 1)]  # the whole of several parts asks nothing more
        found = [
            bridging.with_bridges(texts, query, scores) for query, scores in zip(asked, lists, strict=False)
        ]
        return [*found, *lists[len(found) :]]

    def _probabilities(self, signals: Sequence[Signals]) -> list[float]:
        meaning = self.meaning is not None and not self.meaning.space.lexical and self._mode != "keyword"
        return confidence.probabilities(signals, meaning, self._by_words)

    @property
    def _mode(self) -> str:
        return self.asked[0].mode

    @property
    def _by_words(self) -> bool:
        return self._mode != "semantic"

    def _boosts(self, seen: Sequence[_Candidate[Thing]]) -> list[Boost]:
        folded = fold(self.question.core)
        spans = list(dates.spans(folded, parse(self.tx.now).date()))
        names = Names.of(folded, {relevance.speaker_of(each.text) for each in seen})
        return [
            relevance.boost(
                self.question, spans, names, each.text, _day(each.item.occurred_at) if spans else None
            )
            for each in seen
        ]

    def _added(self, seen: Sequence[_Candidate[Thing]], literal: Literal) -> Numbers:
        """What is added to the score of each for its own sake, and for holding the whole query."""
        return np.array(
            [each.item.bonus + EXACT * (self._by_words and literal.within(each.text)) for each in seen]
        )

    def _keeps(self, seen: Sequence[_Candidate[Thing]], literal: Literal) -> Numbers:
        """What share of its score each text keeps, by its marks, its age among the candidates, decay and project."""
        moments = np.array([_seconds(each.item.occurred_at) for each in seen])
        age = (moments.max() - moments) / max(1e-3, float(moments.max() - moments.min()))
        talk = np.mean([bool(relevance.speaker_of(each.text)) for each in seen]) > ranking.TALK
        kept = [
            literal.share(each.text) * each.item.prior * (1.0 if each.is_own else OTHER_PROJECT)
            for each in seen
        ]
        keeps: Numbers = np.array(kept) * (1 - (NEWNESS_OF_TALK if talk else NEWNESS) * age)
        return keeps


def _part(text: str, id: int) -> str:
    return parts.split(text)[parts.number_of(id)]


def _spread(values: Numbers) -> tuple[float, float]:
    """Mean and standard deviation; never 0."""
    return float(values.mean()), max(1e-3, float(values.std()))


def _day(moment: str) -> date:
    return datetime.fromtimestamp(_seconds(moment), UTC).date()


@lru_cache(maxsize=4096)
def _seconds(moment: str) -> float:
    """Seconds since 1970; 0 for a text that is no moment, as a hand edit can leave it."""
    try:
        return parse(moment).timestamp()
    except ValueError:
        return 0.0
