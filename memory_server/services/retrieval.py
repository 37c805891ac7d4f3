"""The one search: it ranks memories or turns for a question, by words, meaning, neighbours and what is asked for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Generic, TypeVar

import numpy as np

from memory_server.domain import confidence, parts, ranking, relevance
from memory_server.domain.confidence import Signals
from memory_server.domain.embedding import Embedded
from memory_server.domain.memory import Filter
from memory_server.domain.moment import parse
from memory_server.domain.ranking import Literal
from memory_server.domain.relevance import Beside, Boost, Names, Numbers, Term
from memory_server.language import background, dates, query, question
from memory_server.language.query import Query
from memory_server.language.text import fold
from memory_server.services.embedding_queue import Meaning
from memory_server.sqlite import candidates, embeddings
from memory_server.sqlite.tx import Tx

BY_WORDS = 200
"""Texts that the words of a question propose, the best by BM25."""

BY_MEANING = 100
"""Texts that its meaning proposes, or as many as are wanted where that is more."""

LOOKED_AT = 200
"""Texts, the best by words and meaning, that are read to see whether they have what the question asks for."""

SYMBOL_SHARE = 0.5
"""What an emoji of the query counts, of a full match of its words, where a text has it."""

OTHER_PROJECT = 0.7
"""Share of its score that a text of another project keeps."""

NEWNESS = 0.03
"""Share of its score that the oldest text loses; the newest loses nothing. A later text often corrects an earlier one.
With .1 the search found less where the order means nothing."""

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
    """The texts that are searched for: the parts of a question, and the whole last."""
    return (*question.read(text).parts, text)


def rank(tx: Tx, text: str, asked: Asked[Thing], meaning: Meaning | None) -> list[Ranked[Thing]]:
    """The candidates, best first. `meaning` has a vector for each of `questions`; without it words alone answer."""
    search = _Search(tx, question.read(text), tuple(map(query.parse, questions(text))), asked, meaning)
    return search.ranked()


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
    _total: int = 0

    def ranked(self) -> list[Ranked[Thing]]:
        self._total = candidates.count(self.tx, self.asked.kind)
        proposed = self._proposed()
        beside = self._beside(proposed)
        ids = self._passing(sorted({*proposed, *beside.ids}, reverse=True))  # the newest first among equals
        if not ids:
            return []
        scores = self._scores(ids, beside)
        best, _ = relevance.best_places([each.base for each in scores])
        return self._looked_at(ids, scores, best[:LOOKED_AT].tolist())

    def _proposed(self) -> list[int]:
        """The texts that the words or the meaning of any part of the question propose."""
        found: dict[int, None] = {}
        for place, asked in enumerate(self.queries):
            if self.asked.mode != "semantic":
                found |= dict.fromkeys(self._by_words(asked))
            if self.meaning is not None and self.meaning.vectors:
                near = embeddings.nearest(
                    self.tx,
                    self.asked.kind,
                    self.meaning.space_id,
                    self.meaning.vectors[place],
                    self.asked.wanted,
                    max(self.asked.limit, BY_MEANING),
                )
                found |= dict.fromkeys(near)
        return list(found)

    def _by_words(self, asked: Query) -> list[int]:
        totals: dict[int, float] = {}
        for text in asked.terms:
            term = self._term(text)
            weight = term.weight(self._total)
            for id, score in term.held.items():
                totals[id] = totals.get(id, 0.0) + weight * score
        if not asked.terms:
            totals |= dict.fromkeys(self._containing(asked.text), 1.0)
        for symbol in asked.symbols:
            totals |= {id: totals.get(id, 0.0) + SYMBOL_SHARE for id in self._containing(symbol)}
        passing = self._passing(list(totals))
        return sorted(passing, key=lambda id: (-totals[id], -id))[:BY_WORDS]

    def _containing(self, text: str) -> list[int]:
        return candidates.containing(self.tx, self.asked.kind, text, BY_WORDS)

    def _term(self, text: str) -> Term:
        if text not in self._terms:
            posting = candidates.posting(self.tx, self.asked.kind, text)
            rarity = ranking.fts5_idf(posting.everywhere, self._total)
            held = {id: score / rarity for id, score in posting.scores.items()}
            self._terms[text] = Term(held, posting.everywhere, background.share(text))
        return self._terms[text]

    def _passing(self, ids: list[int]) -> list[int]:
        """Those that the filter lets pass."""
        if self.asked.wanted == Filter():
            return ids
        passing = candidates.passing(self.tx, self.asked.kind, ids, self.asked.wanted)
        return [id for id in ids if parts.memory_of(id) in passing]

    def _beside(self, proposed: Sequence[int]) -> Beside:
        """What was said in the same talk around the candidates, and around what stands within their reach."""
        reach = relevance.REACH
        windows = candidates.around(self.tx, self.asked.kind, proposed, 2 * reach)
        said = candidates.said(self.tx, self.asked.kind, {id for ids, _ in windows for id in ids})
        near: dict[int, dict[int, int]] = {}
        for ids, centre in windows:
            for place in range(max(0, centre - reach), min(len(ids), centre + reach + 1)):
                if ids[place] in said and ids[place] not in near:
                    near[ids[place]] = _neighbours(ids, place, said)
        return Beside(near, frozenset(id for id, each in said.items() if relevance.only_asks(each.end)))

    def _scores(self, ids: Sequence[int], beside: Beside) -> list[_Scores]:
        """The scores of each part of the question."""
        near = {id for id in ids for id in (id, *beside.ids.get(id, {}).values())}
        meaning = self.meaning if self.meaning is not None and self.meaning.vectors else None
        vectors = candidates.vectors(self.tx, self.asked.kind, meaning.space_id, near) if meaning else {}
        wide = relevance.widened(vectors, ids, beside)
        found = []
        for place, asked in enumerate(self.queries):
            terms = [] if self.asked.mode == "semantic" else [self._term(text) for text in asked.terms]
            shares = relevance.shares(terms, self._total, ids, beside)
            share = self._with_symbols(asked, ids, shares.share)
            cosine = np.zeros(len(ids))
            if meaning and vectors:
                cosine = np.maximum(0.0, wide @ meaning.vectors[place]).astype(np.float64)
            weight = ranking.meaning_weight(
                meaning.space if meaning else None, self.asked.mode, asked.chinese
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
        items = self.asked.load(self.tx, list(dict.fromkeys(parts.memory_of(ids[place]) for place in best)))
        best = [place for place in best if parts.memory_of(ids[place]) in items]
        seen = [items[parts.memory_of(ids[place])] for place in best]
        texts = [fold(_part(item.text, ids[place])) for item, place in zip(seen, best, strict=True)]
        boosts = self._boosts(texts, seen)
        keeps = self._keeps(texts, seen)
        lists = [
            np.array([each.base[place] for place in best]) * keeps + [boost.amount for boost in boosts]
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
        found = confidence.probabilities([each.signals for each in ranked], meaning)
        return [replace(each, probability=one) for each, one in zip(ranked, found, strict=True)]

    def _boosts(self, texts: Sequence[str], seen: Sequence[Item[Thing]]) -> list[Boost]:
        folded = fold(self.question.core)
        spans = list(dates.spans(folded, parse(self.tx.now).date()))
        names = Names.of(folded, set(map(relevance.speaker_of, texts)))
        return [
            relevance.boost(self.question, spans, names, text, _day(item.occurred_at) if spans else None)
            for text, item in zip(texts, seen, strict=True)
        ]

    def _keeps(self, texts: Sequence[str], seen: Sequence[Item[Thing]]) -> Numbers:
        """What share of its score each text keeps: of its marks, its age among the candidates, decay and project."""
        literal = Literal(self.question.text)
        newest_first = sorted(range(len(seen)), key=lambda row: seen[row].occurred_at, reverse=True)
        age = {row: rank / len(seen) for rank, row in enumerate(newest_first)}
        return np.array(
            [
                literal.share(text)
                * (1 - NEWNESS * age[row])
                * item.prior
                * (1.0 if self.asked.own is None or item.project in ("", self.asked.own) else OTHER_PROJECT)
                for row, (text, item) in enumerate(zip(texts, seen, strict=True))
            ]
        )


def _neighbours(ids: Sequence[int], place: int, said: Mapping[int, candidates.Said]) -> dict[int, int]:
    """The texts of the same talk by their distance."""
    return {
        distance: ids[place + distance]
        for distance in relevance.LEND
        if 0 <= place + distance < len(ids) and _same_talk(said, ids[place], ids[place + distance])
    }


def _same_talk(said: Mapping[int, candidates.Said], one: int, other: int) -> bool:
    """Whether two texts of a session belong together: both begin with a speaker, or little time lies between them."""
    if one not in said or other not in said:
        return False
    here, there = said[one], said[other]
    if relevance.speaker_of(here.start) and relevance.speaker_of(there.start):
        return True
    return abs(here.seconds - there.seconds) <= SAME_TALK


def _part(text: str, id: int) -> str:
    return parts.split(text)[parts.number_of(id)]


def _spread(values: Numbers) -> tuple[float, float]:
    """Mean and standard deviation; never 0."""
    return float(values.mean()), max(1e-3, float(values.std()))


def _day(moment: str) -> date | None:
    """The day of a moment; a hand edit can leave a text that is none."""
    try:
        return parse(moment).date()
    except ValueError:
        return None
