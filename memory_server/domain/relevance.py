"""Scores texts for a question: shared words, meaning, the neighbours of a text, and what the question asks for.

The recipe and its constants were measured on development sets of dialogues and notes in both languages; docs/search.md
says what each piece gives. All arrays are over the candidates of one search.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
from numpy.typing import NDArray

from memory_server.domain.embedding import Vector
from memory_server.domain.ranking import TALK
from memory_server.language import background
from memory_server.language.dates import Days
from memory_server.language.question import Question

Numbers = NDArray[np.float64]
Places = NDArray[np.int64]

REACH = 3
"""So many texts of the same session before and after a text are read with it."""

LEND = {-3: 0.2, -2: 0.4, -1: 0.6, 1: 0.6, 2: 0.4, 3: 0.2}
"""What a neighbour at this distance lends of its score for a word that a text lacks."""

ANSWER = 0.9
"""The same for the text before, where that ends in a question mark: a reply seldom repeats the words of a question."""

WIDEN = {-2: 0.25, -1: 0.5, 1: 0.5, 2: 0.25}
"""Weights of the neighbours' vectors in what widens a vector."""

WIDENED = 0.5
"""The length of what widens a vector, whose own length is 1."""

NAMED = 0.15
"""Added where a text begins with the name of a speaker that the question names (`Name: …`)."""

OWN_WORDS = 0.07
"""Added to the user's own words (`user: …`) where the question says I, my or 我."""

DATED = 0.15
"""Added where a text is of the time that the question names; half where only the month fits."""

ONLY_ASKS = 0.05
"""Taken from a text that ends in a question mark: it asks, and seldom answers."""

SAYS_WHEN = 0.05
"""Added where the question asks when, and the text names a time."""

SAYS_NUMBER = 0.02
"""Added where the question asks how many, and the text has a number."""

RESTATED = 0.7
"""Cosine from which on two texts say nearly the same."""

ALIKE = 0.5
"""Cosine from which on two texts say the like of different things, as two expenses do."""

_MONTHS = "jan|feb|mar|apr|june?|july?|aug|sept?|oct|nov|dec"
_A_TIME = re.compile(
    rf"\b(?:yesterday|today|tonight|tomorrow|ago|last|next|week(?:end)?s?|month|year|(?:{_MONTHS})(?:[a-z]+)?|may"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|20\d\d|morning|since"
    r"|gestern|heute|morgen|uhr|seit|januar|februar|märz|mai|juni|juli|oktober|dezember"
    r"|(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?|wochen?|monate?n?|jahre?n?)\b"
    r"|\d+[月日号]|昨天|今天|明天|[上下]个?[周月]|[去今明]年|周[一二三四五六日末]|星期|[天年]前|最近|\d+[:：]\d\d|点"
)
_A_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twice|once|couple|several|dozen"
    r"|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|zwölf|einmal|zweimal)\b"
    r"|[一二两三四五六七八九十百千万几]+[个只本次岁位年天条张件名元块]"
)
_SPEAKER = re.compile(r"\s*([^:：\n]{1,30})[:：]")
_ASSISTANTS = frozenset(["user", "assistant", "system", "human", "ai"])


def speaker_of(folded: str) -> str:
    """The speaker of a folded text that begins with `Name:`; '' where it does not."""
    match = _SPEAKER.match(folded)
    return match[1].strip() if match else ""


def is_talk(texts: Sequence[str]) -> bool:
    """True if most folded texts begin with a speaker: they are what people say to each other."""
    return sum(bool(speaker_of(text)) for text in texts) > TALK * len(texts)


def is_name(speaker: str) -> bool:
    """True if a speaker is a person with a name."""
    return bool(speaker) and speaker not in _ASSISTANTS


def only_asks(text: str) -> bool:
    return text.rstrip().endswith(("?", "？"))


@dataclass(frozen=True, slots=True)
class Term:
    """A term of the question: the texts that hold it and the part of their BM25 that does not depend on its rarity.

    `ids` and `scores` have shape (texts,); `ids` ascend. `everywhere` is the number of texts of the store
    that hold it, `usual` the share of ordinary texts that do.
    """

    ids: Places
    scores: Numbers
    everywhere: int
    usual: float

    def weight(self, texts: int) -> float:
        """Its inverse document frequency in a store of so many texts, smoothed by ordinary language."""
        return background.weight(self.everywhere, texts, self.usual)

    def over(self, ids: Places) -> Numbers:
        """The scores of these texts, (len(ids) + 1,): 0 for a text without the term, and one 0 more at the end."""
        scores = np.zeros(len(ids) + 1)
        if len(self.ids):
            places = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
            scores[:-1] = np.where(self.ids[places] == ids, self.scores[places], 0.0)
        return scores


@dataclass(frozen=True, slots=True)
class Hood:
    """The candidates of a search and their neighbours.

    `ids` are all these texts, ascending. `rows` has the place in `ids` of each candidate, `near` by distance the place
    of its neighbour, or the length of `ids` where it has none. `asks`: the text ends in a question mark; one False
    more.
    """

    ids: Places
    rows: Places
    near: Mapping[int, Places]
    asks: NDArray[np.bool_]
    speaking: int
    """Candidates that begin with the name of a speaker."""


@dataclass(frozen=True, slots=True)
class Shares:
    """The share of a full match of each candidate; `cover` is the share of the terms' weight that it holds itself.

    `share` and `cover` have shape (candidates,); `full` is the weight of all terms, `unheld` the part of that weight
    whose terms no text of the store holds, from 0 to 1.
    """

    share: Numbers
    cover: Numbers
    full: float
    unheld: float


def shares(terms: Sequence[Term], texts: int, hood: Hood) -> Shares:
    """The BM25 of each candidate as a share of a full match, with the words that its neighbours lend.

    A full match has each term once in a text of average length.
    """
    total, cover, full, unheld = np.zeros(len(hood.rows)), np.zeros(len(hood.rows)), 0.0, 0.0
    for term in terms:
        weight = term.weight(texts)
        full += weight
        unheld += weight * (not term.everywhere)
        term_scores = term.over(hood.ids)
        best = term_scores[hood.rows]
        cover += weight * (best > 0)
        for distance, lend in LEND.items():
            np.maximum(best, lend * term_scores[hood.near[distance]], out=best)
        before = hood.near[-1]
        np.maximum(best, ANSWER * term_scores[before] * hood.asks[before], out=best)
        total += weight * best
    if not full:
        return Shares(total, cover, full, 0.0)
    return Shares(np.minimum(1.0, total / full), cover / full, full, unheld / full)


def widened(vectors: NDArray[np.float32], hood: Hood) -> NDArray[np.float32]:
    """The vectors of the candidates, each drawn towards its neighbours: (candidates, dimensions), of length 1.

    `vectors` has a row for each of `hood.ids` and one of zeros. A candidate without a vector has zeros.
    """
    wide = vectors[hood.rows]
    has_vector = wide.any(axis=1, keepdims=True)
    around, lent = (
        np.zeros_like(wide),
        np.empty_like(wide),
    )  # new memory for each step would take half of the time
    for distance, weight in WIDEN.items():
        np.take(vectors, hood.near[distance], axis=0, out=lent, mode="clip")
        lent *= np.float32(weight)
        around += lent
    around = _unit(around)
    around *= WIDENED
    around *= has_vector
    wide += around
    return _unit(wide)


def read_by_widened(hood: Hood) -> NDArray[np.bool_]:
    """A mask (texts of `hood.ids`,) of the vectors that `widened` reads: it looks less far than words do."""
    read = np.zeros(len(hood.ids) + 1, bool)
    read[hood.rows] = True
    for distance in WIDEN:
        read[hood.near[distance]] = True
    return read[:-1]


def cosines(vectors: NDArray[np.float32], question: Vector) -> Numbers:
    """The cosines (rows,) with the question, at least 0. Without BLAS, whose threads busy-wait afterwards."""
    row_cosines: Numbers = np.maximum(0.0, np.einsum("ij,j->i", vectors, question)).astype(np.float64)
    return row_cosines


def repeated(vectors: NDArray[np.float32], first: int, least: float) -> Numbers:
    """The restatements (texts,) of each text by the first: Σ max(0, (cosine - least) / (1 - least)) over the others.

    `vectors` has shape (texts of a ranking, dimensions), in the order of the ranking.
    """
    cosines = np.einsum("id,jd->ij", vectors, vectors[:first])
    np.fill_diagonal(cosines, 0.0)
    repeats: Numbers = np.maximum(0.0, (cosines - least) / (1 - least)).sum(axis=1).astype(np.float64)
    return repeats


def middle(vectors: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """The direction between vectors, row by row where these are arrays of rows.

    It stands for a turn, which has a summary and a message.
    """
    return _unit(np.sum(vectors, axis=0, dtype=np.float32))


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Divide the rows by their lengths, in place."""
    lengths = np.sqrt(np.einsum("...j,...j->...", rows, rows))[..., None]
    rows /= np.maximum(lengths, np.float32(1e-9))
    return rows


@dataclass(frozen=True, slots=True)
class Boost:
    """The addition to the score of a text beyond words and meaning, and its reasons."""

    amount: float
    reasons: tuple[str, ...]
    named: bool
    other_named: bool


def boost(question: Question, spans: Sequence[Days], names: "Names", folded: str, day: date | None) -> Boost:
    """The boost of a text that has what the question asks for: a name, the user's own words, a date, a number."""
    speaker = speaker_of(folded)
    amount, reasons = -ONLY_ASKS * only_asks(folded), []
    if speaker in names.named:
        amount += NAMED
        reasons.append("speaker")
    if question.mine and speaker == "user":
        amount += OWN_WORDS
        reasons.append("own words")
    fits = max((span.fits(day) for span in spans), default=0.0) if day else 0.0
    if fits:
        amount += DATED * fits
        reasons.append("date")
    if question.when and _A_TIME.search(folded):
        amount += SAYS_WHEN
        reasons.append("says when")
    if question.how_many and _A_NUMBER.search(folded):
        amount += SAYS_NUMBER
        reasons.append("says how many")
    return Boost(
        amount, tuple(reasons), speaker in names.named, bool(names.named) and speaker not in names.named
    )


@dataclass(frozen=True, slots=True)
class Names:
    """The speakers that a question names, unless it names all of them."""

    named: frozenset[str]

    @classmethod
    def of(cls, folded_question: str, speakers: set[str]) -> "Names":
        names = filter(is_name, speakers)
        named = {
            name for name in names if re.search(rf"(?<![a-z]){re.escape(name)}(?![a-z])", folded_question)
        }
        return cls(frozenset(named if len(named) < len(speakers - {""}) else ()))


def best_places(scores: Sequence[Numbers]) -> tuple[Places, Places]:
    """The order of the candidates by their best place in any list, and the list of each; both (candidates,)."""
    places = np.empty((len(scores), len(scores[0])))
    for row, score in zip(places, scores, strict=True):
        row[np.argsort(-score, kind="stable")] = np.arange(len(score))
    return np.argsort(places.min(axis=0), kind="stable"), places.argmin(axis=0)
