"""The one search: it ranks memories or turns for a question, by words, meaning, neighbours and what is asked for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Generic, TypeVar

import numpy as np

from memory_server.domain import confidence, parts, ranking, relevance
from memory_server.domain.confidence import Signals
from memory_server.domain.embedding import Embedded
from memory_server.domain.memory import Filter
from memory_server.domain.moment import parse
from memory_server.domain.ranking import Literal
from memory_server.domain.relevance import Boost, Hood, Names, Numbers, Places, Term
from memory_server.errors import Problem
from memory_server.language import background, dates, query, question
from memory_server.language.query import Query
from memory_server.language.text import fold
from memory_server.services.embedding_queue import Meaning, Unanswered
from memory_server.sqlite import candidates, embeddings
from memory_server.sqlite.tx import Tx

BY_WORDS = 100
"""Texts that the words of a question propose, the best by BM25."""

BY_MEANING = 80
"""Texts that its meaning proposes, or as many as are wanted where that is more."""

OF_A_PART = 25
"""Texts that the words and the meaning of one part propose each, where a question has several."""

LOOKED_AT = 100
"""Texts, the best by words and meaning, that are read to see whether they have what the question asks for."""

TELLING = 12
"""Terms of a text, the rarest in ordinary language, by which texts alike are found: each takes some 0.3 ms."""

OPENING = 300
"""Characters of a text whose terms are looked at for that."""

SYMBOL_SHARE = 0.5
"""What an emoji of the query counts, of a full match of its words, where a text has it."""

EXACT = 0.1
"""Added where a text holds the whole query letter by letter: `TODO: x` comes before `x TODO`."""

OTHER_PROJECT = 0.7
"""Share of its score that a text of another project keeps."""

EVERYWHERE = "*"
"""The project that stands for all, none of them first."""

NEWNESS = 0.08
"""Share of its score that the oldest candidate loses; the newest loses nothing, the others in proportion to their time.
A later note often corrects an earlier one."""

NEWNESS_OF_TALK = 0.03
"""The same where most candidates begin with a speaker: in dialogues the order means less, and .08 found less."""

SAME_TALK = 600
"""Seconds between two texts of a session that still belong together, where no speaker is named."""

Thing = TypeVar("Thing")


@dataclass(frozen=True, slots=True)
class Item(Generic[Thing]):
    """A memory or a turn as the ranking reads it. `prior` is the share of its score that it keeps for its own sake."""

    thing: Thing
    text: str
    project: str
    occurred_at: str
    prior: float = 1.0


@dataclass(frozen=True, slots=True)
class Asked(Generic[Thing]):
    """What is searched, and how. `own` is the project that comes first; None: all are equal."""

    kind: Embedded
    load: Callable[[Tx, Sequence[int]], Mapping[int, Item[Thing]]]
    wanted: Filter
    limit: int
    mode: str
    own: str | None


@dataclass(frozen=True, slots=True)
class Ranked(Generic[Thing]):
    """A text found; of a long one `part` is the number of the part that answers best.

    `score` orders the texts, `probability` is how likely it is that this one answers.
    """

    id: int
    item: Item[Thing]
    part: int
    score: float
    signals: Signals
    probability: float = 0.0


def questions(text: str) -> tuple[str, ...]:
    """The texts that are embedded for a search: the parts of a question, or the whole where it has none."""
    return question.read(text).parts or (text,)


def rank(tx: Tx, text: str, asked: Asked[Thing], meaning: Meaning | None) -> list[Ranked[Thing]]:
    """The candidates, best first. `meaning` has a vector for each of `questions`; without it words alone answer."""
    found = question.read(text)
    search = _Search(tx, found, tuple(map(query.parse, (*found.parts, text))), asked, meaning)
    return search.ranked()


def alike(tx: Tx, text: str, asked: Asked[Thing], meaning: Meaning) -> list[Ranked[Thing]]:
    """What says the most alike to a text, best first. `meaning` has the vector of the text."""
    plain = query.parse(text[:OPENING])
    telling = replace(plain, terms=tuple(sorted(plain.terms, key=background.share)[:TELLING]))
    statement = question.Question(plain.text, plain.text, (), when=False, how_many=False, mine=False)
    return _Search(tx, statement, (telling,), asked, meaning).ranked()


def without_meaning(tx: Tx, kind: Embedded, meaning: Meaning | Unanswered | None) -> list[Problem]:
    """Why meaning did not find all that it could."""
    if isinstance(meaning, Unanswered):
        what = "turns were found" if kind is Embedded.TURNS else "found"
        return [Problem(f"{what} by words only: {meaning.problem.text}", meaning.problem.hints)]
    left = embeddings.count_waiting(tx, meaning.space_id, kind) if meaning else 0
    return [Problem(f"{left} {kind} are not embedded yet and were found by words only")] if left else []


@dataclass(frozen=True, slots=True)
class _Scores:
    """Of one part of the question, for each candidate."""

    share: Numbers
    cover: Numbers
    cosine: Numbers
    full: float
    base: Numbers


@dataclass(slots=True)
class _Search(Generic[Thing]):
    tx: Tx
    question: question.Question
    queries: tuple[Query, ...]
    asked: Asked[Thing]
    meaning: Meaning | None
    _terms: dict[str, Term] = field(default_factory=dict)
    _holding: dict[str, list[int]] = field(default_factory=dict)
    _total: int = 0

    def ranked(self) -> list[Ranked[Thing]]:
        self._total = candidates.count(self.tx, self.asked.kind)
        hood = self._hood(self._proposed())
        if not len(hood.rows):
            return []
        scores = self._scores(hood)
        best, _ = relevance.best_places([each.base for each in scores])
        if self.meaning is None:  # what only stands beside a text has no word
            best = best[np.max([each.base for each in scores], axis=0)[best] > 0]
        return self._looked_at(hood.ids[hood.rows].tolist(), scores, best[:LOOKED_AT].tolist())

    def _proposed(self) -> list[int]:
        """The texts that the words or the meaning of any part of the question propose."""
        found: dict[int, object] = {}
        several = len(self.queries) > 1  # then the last is the whole, which proposes nothing of its own
        if self.asked.mode != "semantic":
            most = max(self.asked.limit, OF_A_PART) if several else BY_WORDS
            for asked in self.queries[: len(self.queries) - several]:
                found |= dict.fromkeys(self._by_words(asked)[:most])
        if self.meaning is not None:
            most = max(self.asked.limit, OF_A_PART if several else BY_MEANING)
            space = self.meaning.space_id
            for vector in self.meaning.vectors:
                found |= embeddings.nearest(self.tx, self.asked.kind, space, vector, self.asked.wanted, most)
        return list(found)

    def _by_words(self, asked: Query) -> list[int]:
        """The texts that hold the rarest and most words of a question."""
        terms = [self._term(text) for text in asked.terms]
        symbols = [self._containing(symbol) for symbol in asked.symbols]
        if not terms:
            symbols.append(self._containing(asked.text))
        ids = np.concatenate([np.zeros(0, np.int64), *(term.ids for term in terms), *symbols]).astype(
            np.int64
        )
        weights = [term.weight(self._total) * term.scores for term in terms]
        weights += [np.full(len(found), SYMBOL_SHARE) for found in symbols]
        different, places = np.unique(ids, return_inverse=True)
        totals = np.bincount(places, np.concatenate([np.zeros(0), *weights]), len(different))
        passing = np.isin(different, self._passing(different.tolist()))
        order = np.lexsort((-different, -totals))
        best: list[int] = different[order][passing[order]][:BY_WORDS].tolist()
        return best

    def _containing(self, text: str) -> list[int]:
        """The newest texts that hold this; each text of the store is looked through, so only once."""
        if text not in self._holding:
            self._holding[text] = candidates.containing(self.tx, self.asked.kind, text, BY_WORDS)
        return self._holding[text]

    def _term(self, text: str) -> Term:
        if text not in self._terms:
            posting = candidates.posting(self.tx, self.asked.kind, text)
            rarity = ranking.fts5_idf(posting.everywhere, self._total)
            scores = posting.scores / rarity
            self._terms[text] = Term(posting.ids, scores, posting.everywhere, background.share(text))
        return self._terms[text]

    def _passing(self, ids: list[int]) -> list[int]:
        """Those that the filter lets pass."""
        if self.asked.wanted == Filter():
            return ids
        passing = candidates.passing(self.tx, self.asked.kind, ids, self.asked.wanted)
        return [id for id in ids if parts.memory_of(id) in passing]

    def _hood(self, proposed: Sequence[int]) -> Hood:
        """The candidates: what is proposed and what was said around it in the same talk; with their neighbours."""
        reach = relevance.REACH
        lines = candidates.around(self.tx, self.asked.kind, proposed, 2 * reach)
        beside, first = np.unique(lines[:, reach : -reach or None], return_index=True)
        near = {
            distance: lines[:, reach + distance : lines.shape[1] - reach + distance].ravel()[first]
            for distance in relevance.LEND
        }
        # The newest first among equals.
        ids = np.array(sorted({*proposed, *beside.tolist()} - {0}, reverse=True), np.int64)
        ids = ids[np.isin(ids, self._passing(ids.tolist()))]
        places = np.minimum(np.searchsorted(beside, ids), max(0, len(beside) - 1))
        there = beside[places] == ids if len(beside) else np.zeros(len(ids), bool)
        own = {
            distance: np.where(there, found[places], 0) if len(beside) else np.zeros_like(ids)
            for distance, found in near.items()
        }
        return self._joined(ids, own)

    def _joined(self, ids: Places, near: Mapping[int, Places]) -> Hood:
        """The candidates and those of their neighbours that belong to the same talk."""
        every = np.unique(np.concatenate([ids, *near.values()]))
        every = every[every > 0]
        said = candidates.said(
            self.tx, self.asked.kind, [id for id in every.tolist() if not parts.number_of(id)]
        )
        places = np.searchsorted(every, [each.id for each in said])
        seconds, (speaks, people, asks) = np.zeros(len(every) + 1), np.zeros((3, len(every) + 1), bool)
        speakers = [relevance.speaker_of(each.start) for each in said]
        seconds[places] = [each.seconds for each in said]
        speaks[places] = [bool(each) for each in speakers]
        people[places] = [relevance.is_name(each) for each in speakers]
        asks[places] = [relevance.only_asks(each.end) for each in said]
        rows = np.searchsorted(every, ids)
        found = {}
        for distance, other in near.items():
            place = np.where(other > 0, np.searchsorted(every, other), len(every))
            apart = np.abs(seconds[rows] - seconds[place])
            together = (other > 0) & ((speaks[rows] & speaks[place]) | (apart <= SAME_TALK))
            found[distance] = np.where(together, place, len(every))
        talk = float(people[rows].mean()) if len(rows) else 0.0
        return Hood(every, rows, found, asks, talk)

    def _scores(self, hood: Hood) -> list[_Scores]:
        """The scores of each part of the question."""
        ids = hood.ids[hood.rows].tolist()
        meaning = self.meaning if self.meaning is not None and self.meaning.vectors else None
        wide = None
        if meaning:
            dimensions = len(meaning.vectors[0])
            vectors = meaning.vectors
            if len(vectors) < len(self.queries):  # the middle of its parts stands for the whole
                vectors = (*vectors, relevance.middle(vectors))
            wide = relevance.widened(
                candidates.vectors(self.tx, self.asked.kind, meaning.space_id, hood.ids, dimensions), hood
            )
        found = []
        for place, asked in enumerate(self.queries):
            terms = [] if self.asked.mode == "semantic" else [self._term(text) for text in asked.terms]
            shares = relevance.shares(terms, self._total, hood)
            share = self._with_symbols(asked, ids, shares.share)
            cosine = np.zeros(len(ids))
            if meaning and wide is not None:
                cosine = relevance.cosines(wide, vectors[place])
            weight = ranking.meaning_weight(
                meaning.space if meaning else None, self.asked.mode, asked.chinese, hood.talk
            )
            base = (1 - weight) * share + weight * cosine
            found.append(_Scores(share, shares.cover, cosine, shares.full, base))
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

    def _looked_at(
        self, ids: Sequence[int], scores: Sequence[_Scores], best: Sequence[int]
    ) -> list[Ranked[Thing]]:
        """The best candidates with all that the question asks for, in the order of the answer."""
        if not best:
            return []
        items = self.asked.load(self.tx, list(dict.fromkeys(parts.memory_of(ids[place]) for place in best)))
        best = [place for place in best if parts.memory_of(ids[place]) in items]
        seen = [items[parts.memory_of(ids[place])] for place in best]
        texts = [fold(_part(item.text, ids[place])) for item, place in zip(seen, best, strict=True)]
        boosts = self._boosts(texts, seen)
        literal = Literal(self.question.text)
        keeps = self._keeps(texts, seen, literal)
        lists = [
            np.array([each.base[place] for place in best]) * keeps
            + [boost.amount for boost in boosts]
            + self._exact(texts, literal)
            for each in scores
        ]
        order, lists_of = relevance.best_places(lists)
        spread = [_spread(each.cosine) for each in scores]
        far = [float(np.sort(each)[-min(confidence.FAR, len(each))]) for each in lists]
        ranked: dict[int, Ranked[Thing]] = {}
        least = np.inf
        for row in order.tolist():
            number, id, place = int(lists_of[row]), ids[best[row]], best[row]
            each, own = scores[number], float(lists[number][row])
            signals = Signals(
                share=float(each.share[place]),
                cover=float(each.cover[place]),
                cosine=float(each.cosine[place]),
                distinct=float((each.cosine[place] - spread[number][0]) / spread[number][1]),
                score=own,
                far=far[number],
                boost=boosts[row],
                only_asks=relevance.only_asks(texts[row]),
                full=each.full,
                terms=len(self.queries[number].terms),
            )
            # Of several questions, each has its own best score: the order is that of the places.
            least = min(own, least)
            found = Ranked(parts.memory_of(id), seen[row], parts.number_of(id), least, signals)
            ranked.setdefault(found.id, found)
        return self._with_probabilities(list(ranked.values()))

    def _with_probabilities(self, ranked: list[Ranked[Thing]]) -> list[Ranked[Thing]]:
        meaning = self.meaning is not None and not self.meaning.space.lexical and self.asked.mode != "keyword"
        words = self.asked.mode != "semantic"
        found = confidence.probabilities([each.signals for each in ranked], meaning, words)
        return [replace(each, probability=one) for each, one in zip(ranked, found, strict=True)]

    def _boosts(self, texts: Sequence[str], seen: Sequence[Item[Thing]]) -> list[Boost]:
        folded = fold(self.question.core)
        spans = list(dates.spans(folded, parse(self.tx.now).date()))
        names = Names.of(folded, set(map(relevance.speaker_of, texts)))
        return [
            relevance.boost(self.question, spans, names, text, _day(item.occurred_at) if spans else None)
            for text, item in zip(texts, seen, strict=True)
        ]

    def _exact(self, texts: Sequence[str], literal: Literal) -> Numbers:
        """What is added to each text for holding the whole query."""
        words = self.asked.mode != "semantic"
        return np.array([EXACT * (words and literal.within(text)) for text in texts])

    def _keeps(self, texts: Sequence[str], seen: Sequence[Item[Thing]], literal: Literal) -> Numbers:
        """What share of its score each text keeps, by its marks, its age among the candidates, decay and project."""
        moments = np.array([_seconds(item.occurred_at) for item in seen])
        age = (moments.max() - moments) / max(1e-3, float(moments.max() - moments.min()))
        own = np.array(
            [
                1.0 if self.asked.own is None or item.project in ("", self.asked.own) else OTHER_PROJECT
                for item in seen
            ]
        )
        marks = np.array([literal.share(text) for text in texts])
        talk = np.mean([bool(relevance.speaker_of(text)) for text in texts]) > ranking.TALK
        keeps: Numbers = (
            marks
            * (1 - (NEWNESS_OF_TALK if talk else NEWNESS) * age)
            * own
            * np.array([item.prior for item in seen])
        )
        return keeps


def _part(text: str, id: int) -> str:
    return parts.split(text)[parts.number_of(id)]


def _spread(values: Numbers) -> tuple[float, float]:
    """Mean and standard deviation; never 0."""
    return float(values.mean()), max(1e-3, float(values.std()))


def _day(moment: str) -> date:
    return datetime.fromtimestamp(_seconds(moment), UTC).date()


def _seconds(moment: str) -> float:
    """Seconds since 1970; 0 for a text that is no moment, as a hand edit can leave it."""
    try:
        return parse(moment).timestamp()
    except ValueError:
        return 0.0
