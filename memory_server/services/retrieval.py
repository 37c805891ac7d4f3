"""Ranks texts of any kind for a question, by words, meaning, neighbours and what the question asks for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Generic

import numpy as np

from memory_server.domain import confidence, parts, ranking, recall, relevance, token_by_token, wanted
from memory_server.domain.embedding import Embedded, Tokens
from memory_server.domain.moment import parse
from memory_server.errors import Problem
from memory_server.language import background, dates, query, question
from memory_server.language.dates import Days
from memory_server.language.query import Query
from memory_server.language.text import fold
from memory_server.services import showing
from memory_server.services.gathering import (
    Gathering,
    KindSearch,
    QuestionWords,
    Thing,
    by_meaning,
    joined,
    of_days,
)
from memory_server.services.meaning import Meaning, Unanswered
from memory_server.services.ordering import OPENING, Candidate, Ordering, Ranked
from memory_server.storage.tx import Tx

LOOKED_AT = 100
"""Texts, the best by words and meaning, that are read to see whether they have what the question asks for."""

MOST_PERIODS = 4
"""Times that a question names, of which the memories are looked for."""

LIKELY = 8
"""Texts, the best of a ranking, one of which must have the kind of thing that a question asks for."""

TELLING = 12
"""Terms of a text, the rarest in ordinary language, by which texts alike are found: each takes some 0.3 ms."""


def questions(text: str) -> tuple[str, ...]:
    """Return the texts to embed for a search: the parts of a question, or the whole text where it has no parts."""
    return question.read(text).parts or (text,)


def rank_all(
    tx: Tx, text: str, searches: tuple[KindSearch[Thing], ...], meaning: Meaning | None
) -> list[Ranked[Thing]]:
    """Rank the candidates of several kinds by one measure, best first; all `searches` have the same mode.

    `meaning` has one vector for each text of `questions`; without it the words alone decide.
    """
    if not searches:
        return []
    parsed = question.read(text)
    search = _Search(tx, parsed, tuple(map(query.parse, parsed.parts or (text,))), searches, meaning)
    return search.ranked()


def alike(tx: Tx, text: str, search: KindSearch[Thing], meaning: Meaning) -> list[Ranked[Thing]]:
    """Rank the texts that are most like a text, best first. `meaning` has the vector of the text."""
    plain = query.parse(text[:OPENING])
    telling = replace(plain, terms=tuple(sorted(plain.terms, key=background.share)[:TELLING]))
    statement = question.Question(plain.text, plain.text, (), when=False, how_many=False, mine=False)
    return _Search(tx, statement, (telling,), (search,), meaning).ranked()


def is_answered(text: str, ranked: Sequence[Ranked[Thing]], meaning: Meaning | None) -> bool:
    """True if one of the texts of a ranking likely answers, and the likely ones have the kind of thing asked for.

    See `confidence.is_answered` and `wanted.is_there`. Of several questions one that is answered is enough.
    """
    signals, chances = [hit.signals for hit in ranked], [hit.probability for hit in ranked]
    if not confidence.is_answered(signals, chances, meaning is not None and not meaning.space.lexical):
        return False
    if ranked[0].is_query:
        return True
    texts = [
        hit.item.text for hit in ranked[:LIKELY] if hit is ranked[0] or hit.probability >= recall.WITH_WORD
    ]
    parsed = question.read(text)
    return any(wanted.is_there(part, texts) for part in parsed.parts or (parsed.core,))


def without_meaning(tx: Tx, kinds: Sequence[Embedded], meaning: Meaning | Unanswered | None) -> list[Problem]:
    """Return the reasons why a search by meaning found less than it could."""
    if isinstance(meaning, Unanswered):
        return [Problem(f"found by words only: {meaning.problem.text}", meaning.problem.hints)]
    if meaning is None:
        return []
    counts = tx.each([partial(tx.spaces.count_waiting, meaning.space_id, kind) for kind in kinds])
    left = dict(zip(kinds, counts, strict=True))
    return [
        Problem(
            f"{number} {kind} are not embedded yet and were found by words only"
            if number > 1
            else f"1 of the {kind} is not embedded yet and was found by words only"
        )
        for kind, number in left.items()
        if number
    ]


@dataclass(frozen=True, slots=True)
class _Search(Generic[Thing]):
    tx: Tx
    question: question.Question
    queries: tuple[Query, ...]
    searches: tuple[KindSearch[Thing], ...]
    meaning: Meaning | None

    def ranked(self) -> list[Ranked[Thing]]:
        """Return the best candidates with all that the question asks for, in the order of the answer."""
        spans = tuple(dates.named(fold(self.question.core), parse(self.tx.now).date()))
        words, near, dated = self.tx.together(self._words, self._near, lambda: self._of_days(spans))
        gathered = self.tx.each(
            [
                Gathering(words, self.queries, search, self.meaning, [*nearest, *by_date]).gathered
                for search, nearest, by_date in zip(self.searches, near, dated, strict=True)
            ]
        )
        ids = [
            (search, id) for search, texts in zip(self.searches, gathered, strict=True) for id in texts.ids
        ]
        if not ids:
            return []
        scores = joined([texts.scores for texts in gathered if texts.scores])
        vectors = (
            np.concatenate([texts.vectors for texts in gathered]) if gathered[1:] else gathered[0].vectors
        )
        neighbours = {
            distance: np.concatenate([texts.neighbours[distance] for texts in gathered])
            for distance in token_by_token.LEND
        }
        talk = sum(texts.speaking for texts in gathered) / len(ids)
        bases = [
            part_scores.base(self._meaning_weight(query, talk))
            for part_scores, query in zip(scores, self.queries, strict=True)
        ]
        best, _ = relevance.best_places(bases)
        if self.meaning is None:  # what only stands beside a text has no word
            best = best[np.max(bases, axis=0)[best] > 0]
        by_date = {id for of_kind in dated for nearest in of_kind for id in nearest}
        candidates = self._read(
            [
                (place, *ids[place])
                for number, place in enumerate(best.tolist())
                if number < LOOKED_AT
                or (ids[place][0].kind is Embedded.MEMORIES and ids[place][1] in by_date)
            ]
        )
        if not candidates:
            return []
        return Ordering(
            self.question,
            self.queries,
            self.meaning,
            self._mode,
            spans,
            candidates,
            scores,
            bases,
            vectors,
            neighbours,
        ).ranked()

    def _words(self) -> QuestionWords:
        queries = self.queries if self._mode != "semantic" else ()
        texts = dict.fromkeys(term for query in queries for term in query.terms)
        return QuestionWords(self.tx, tuple(texts), {search.kind: search.filter for search in self.searches})

    def _near(self) -> list[list[dict[int, float]]]:
        """Return the texts that the question's meaning proposes: the result of `by_meaning` for each kind."""
        queries = len(self.queries)
        return self.tx.each(
            [partial(by_meaning, self.tx, search, self.meaning, queries) for search in self.searches]
        )

    def _of_days(self, spans: Sequence[Days]) -> list[list[dict[int, float]]]:
        """Return the memories of the days that the question names: the result of `of_days` for each kind."""
        days = [days for span in spans for days in span.periods(parse(self.tx.now).date())][:MOST_PERIODS]
        periods = [
            (f"{first}T00:00:00.000Z", f"{last + timedelta(days=1)}T00:00:00.000Z") for first, last in days
        ]
        return self.tx.each(
            [partial(of_days, self.tx, search, self.meaning, periods) for search in self.searches]
        )

    def _meaning_weight(self, query: Query, talk: float) -> float:
        meaning = self.meaning if self.meaning is not None and self.meaning.vectors else None
        return ranking.meaning_weight(meaning.space if meaning else None, self._mode, query.chinese, talk)

    def _read(self, best: Sequence[tuple[int, KindSearch[Thing], int]]) -> list[Candidate[Thing]]:
        ids = {
            search.kind: list(dict.fromkeys(parts.memory_of(id) for _, owner, id in best if owner is search))
            for search in self.searches
        }
        first_project = self.searches[0].first_project
        loaded, tokens = self.tx.together(
            lambda: self.tx.each(
                [partial(search.load, self.tx, ids[search.kind]) for search in self.searches]
            ),
            lambda: self._tokens(best),
        )
        items = dict(zip(ids, loaded, strict=True))
        texts = [item.thing for of_kind in loaded for item in of_kind.values()]
        left_out = showing.left_out(self.tx, texts)
        candidates = []
        for place, search, id in best:
            item = items[search.kind].get(parts.memory_of(id))
            if item is not None and item.thing not in left_out:
                is_own = first_project is None or item.project in ("", first_project)
                part = parts.split(item.text)[parts.number_of(id)]
                own_tokens = tokens.get((search.kind, id))
                candidates.append(Candidate(place, id, search, item, fold(part), is_own, own_tokens))
        return candidates

    def _tokens(
        self, best: Sequence[tuple[int, KindSearch[Thing], int]]
    ) -> dict[tuple[Embedded, int], Tokens]:
        """Return the tokens of these texts, by kind and id, of those that have any."""
        if self.meaning is None or not self.meaning.tokens:
            return {}
        select, kinds = self.tx.token_vectors.select, [search.kind for search in self.searches]
        tokens = self.tx.each(
            [
                partial(
                    select, self.meaning.space_id, kind, [id for _, search, id in best if search.kind is kind]
                )
                for kind in kinds
            ]
        )
        return {
            (kind, id): of_text
            for kind, of_kind in zip(kinds, tokens, strict=True)
            for id, of_text in of_kind.items()
        }

    @property
    def _mode(self) -> str:
        return self.searches[0].mode
