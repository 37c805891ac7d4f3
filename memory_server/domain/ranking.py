"""Ranks the hits of a search: the weights of words and meaning, decay, what supersedes what, and edges.

The constants were chosen on development sets in both languages: `scripts/lab/quality/evaluate.py` prints the figures.
"""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from math import exp, log
from typing import TypeVar

from memory_server.domain.edge import Edge, Linked, line_of
from memory_server.domain.embedding import Space
from memory_server.domain.memory import Memory, MemoryId
from memory_server.language.lazy import lazy
from memory_server.language.query import SYMBOL
from memory_server.language.text import SPACELESS, fold, has_han

MEANING_WEIGHT = 0.8
"""Share of the cosine in a score, from 0 to 1; the words have the rest. No development set loses by it."""

TALK_WEIGHT = 0.5
"""The same where most candidates are what people say to each other: neighbours lend the words that a text lacks, so
words tell more. Recall at 10 of dialogues rose from .79 to .82 in English and from .77 to .80 in Chinese."""

TALK = 0.7
"""Share of the candidates that begin with the name of a speaker, from which on they are a dialogue."""

LEXICAL_WEIGHT = 0.3
"""The same for an embedder that knows spelling only: low, because it adds little to the words."""

BLIND_WEIGHT = 0.05
"""The same for a Chinese query and an embedder that does not know Chinese: with an equal half, recall fell from .52 to
.25."""

PRIOR_WEIGHT = 0.05
"""Share of its score that a fully decayed memory loses. Small: a decayed memory is often still the answer."""

PRIOR_SCALE = 10.0
"""Decayed score with which a memory loses PRIOR_WEIGHT / e. A new memory of importance 10 has this score."""

SUPERSEDED_WEIGHT = 0.8
"""Share of its score that a superseded memory keeps; its successor gets the whole score. With .5, questions about the
past did not find it among the first five."""

BELOW = 0.99
"""Most that a superseded memory may have, as a share of its successor's score: so it ranks below its successor in a
line of several, where both were lowered."""

NEIGHBOUR_WEIGHT = 0.6
"""Share of the best hit's score that its neighbour gets, times the strength of the edge: questions whose answer is one
edge away are answered more often, and others no less often (`scripts/lab/quality/edges.py`). Neighbours of further hits
only made answers longer."""

NEIGHBOURS = 3
"""Number of edges of the best hit that are followed, the strongest first: each neighbour takes the room of a hit."""

CUT = 0.3
"""Least share of the best hit's rank with which a neighbour joins: below, none was an answer."""

NEARLY = 0.9
"""Least share of its rank with which what probably replaces a memory comes before it in a search, not behind it: with
.8 questions about other things lost their answer, with .95 outdated ones stayed first."""

LEAST = 0.05
"""Probability below which a hit is left out, unless it is the best: that keeps 84 to 100 % of the answers."""

Key = TypeVar("Key", bound=Hashable)

INEXACT = 0.85
"""Share of its score that a memory keeps if it lacks a token of the query letter by letter (`pve 01` for `pve-01`).
Chosen on the development sets."""

_LETTER = rf"[^\W{SPACELESS}]"
"""A letter, digit or _ in scripts that put spaces between words."""

_A_LETTER = lazy(_LETTER)

_MARKED = lazy(rf"{_LETTER}+(?:[.\-_/:@+#]+{_LETTER}+)+[+#]*|{_LETTER}+[+#]+|{SYMBOL.pattern}")
"""A token with marks in it, such as `C++` or `pve-01`, or a symbol such as 🚀."""


@dataclass(frozen=True, slots=True)
class Why:
    """The reasons for a hit: word share and cosine, both at most 1, and the decayed score (0 is fully decayed).

    `also` names what else the question asks for and the memory has: a speaker, a date, a number.
    """

    words: float
    meaning: float
    decay: float
    also: tuple[str, ...] = ()
    edge: str | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory found. `rank` orders the hits; `score` is the probability that the memory answers.

    `content` is the text that is shown: of a long memory the part that answers best, and `part` says which it is.
    `remark` says what has changed on its ground since, `maybe_supersedes` names other hits that it probably replaces.
    """

    memory: Memory
    rank: float
    score: float
    why: Why
    content: str
    part: str | None = None
    linked: tuple[Linked, ...] = ()
    remark: str | None = None
    maybe_supersedes: tuple[MemoryId, ...] = ()


def meaning_weight(space: Space | None, mode: str, chinese: bool, talk: float = 0.0) -> float:
    """Share of the cosine in a score, from 0 to 1. `talk` is the share of the candidates that name their speaker."""
    if space is None or mode == "keyword":
        return 0.0
    if mode == "semantic":
        return 1.0
    if chinese and not space.chinese:
        return BLIND_WEIGHT
    if space.lexical:
        return LEXICAL_WEIGHT
    return TALK_WEIGHT if talk > TALK else MEANING_WEIGHT


K1, B = 1.2, 0.75
"""The constants of BM25, those of SQLite's FTS5."""


def fts5_idf(holding: int, texts: int) -> float:
    """The inverse document frequency that FTS5's `bm25()` multiplies with: see its documentation."""
    return max(1e-6, log((texts - holding + 0.5) / (holding + 0.5)))


def prior(decayed: float) -> float:
    """The share of its score that a memory with this decayed score keeps: at least 1 - PRIOR_WEIGHT."""
    return 1 - PRIOR_WEIGHT * exp(-decayed / PRIOR_SCALE)


def in_order(hits: Iterable[Hit], successors: Mapping[MemoryId, MemoryId]) -> list[Hit]:
    """The hits, best first, the newest first among equals. `successors` maps each superseded memory to its successor.

    A superseded memory ranks below its successor, but it is not left out because of that.
    """
    return _ordered(_below_successors(_handed_on(list(hits), successors), successors))


def likely(hits: Sequence[Hit]) -> list[Hit]:
    """The best hit, those that are likely enough to answer, and what probably replaces one of these."""
    answering = [place == 0 or hit.score >= LEAST for place, hit in enumerate(hits)]
    ids = {hit.memory.id for hit in compress(hits, answering)}
    return [
        hit
        for hit, is_likely in zip(hits, answering, strict=True)
        if is_likely or ids.intersection(hit.maybe_supersedes)
    ]


def _ordered(hits: Iterable[Hit]) -> list[Hit]:
    return sorted(hits, key=lambda hit: -hit.rank)


def _handed_on(hits: list[Hit], successors: Mapping[MemoryId, MemoryId]) -> list[Hit]:
    """A successor gets the rank of the memory that it superseded, where that is higher; `why` names the edge."""
    handed = {hit.memory.id: hit for hit in hits}
    for hit in sorted(hits, key=lambda hit: hit.rank, reverse=True):
        old = hit.memory.id
        for id in line_of(old, successors):
            above = handed.get(id)
            if above is not None and above.rank < hit.rank:
                why = replace(above.why, edge=f"{id} supersedes {old}")
                handed[id] = replace(above, rank=hit.rank, score=max(above.score, hit.score), why=why)
            old = id
    return list(handed.values())


def _below_successors(hits: list[Hit], successors: Mapping[MemoryId, MemoryId]) -> list[Hit]:
    """Superseded memories get a lower rank, and a lower one than their nearest successor among the hits."""
    lines = {hit.memory.id: line_of(hit.memory.id, successors) for hit in hits}
    ranks: dict[MemoryId, float] = {}
    for hit in sorted(hits, key=lambda hit: len(lines[hit.memory.id])):
        line = lines[hit.memory.id]
        above = next((ranks[id] for id in line if id in ranks), hit.rank)
        ranks[hit.memory.id] = min(SUPERSEDED_WEIGHT * hit.rank, BELOW * above) if line else hit.rank
    return [replace(hit, rank=ranks[hit.memory.id]) if lines[hit.memory.id] else hit for hit in hits]


def with_neighbours(hits: list[Hit], near: Sequence[Edge], candidates: Sequence[Hit]) -> list[Hit]:
    """The hits and the neighbours of the best hit along the edges `near`; `why` names the edge.

    A neighbour that was found with a better rank keeps that. A superseded neighbour is not added.
    """
    joined = {hit.memory.id: hit for hit in hits}
    current_hits = {hit.memory.id: hit for hit in candidates if hit.memory.superseded_by is None}
    top = hits[0]
    for edge in near:
        id, share = edge.other_end(top.memory.id), NEIGHBOUR_WEIGHT * edge.strength
        if id in current_hits and share >= CUT and (id not in joined or joined[id].rank < share * top.rank):
            neighbour = current_hits[id]
            joined[id] = replace(
                neighbour,
                rank=share * top.rank,
                score=max(neighbour.score, share * top.score),
                why=replace(neighbour.why, edge=str(edge)),
            )
    return _ordered(joined.values())


def with_newer(order: Sequence[Key], newer: Mapping[Key, Key], led: Collection[Key]) -> list[Key]:
    """The order of an answer, each text beside the one that probably replaces it, unless that comes earlier.

    `newer` maps the older one to that, which comes right before it if it is `led`, else right behind it.
    """
    placed: dict[Key, None] = {}

    def place(key: Key, below: frozenset[Key]) -> None:
        if key in placed or key in below:
            return
        update, below = newer.get(key), below | {key}
        if update is not None and key in led:
            place(update, below)
        placed.setdefault(key)
        if update is not None:
            place(update, below)

    for key in order:
        place(key, frozenset())
    return list(placed)


def with_linked(hits: Sequence[Hit], linked: Mapping[MemoryId, Sequence[Linked]]) -> list[Hit]:
    """The hits, each with the memories that solve, contradict or supersede it inside; these are no hits below it."""
    outer_hits: list[Hit] = []
    inside: set[MemoryId] = set()
    for hit in hits:
        if hit.memory.id in inside:
            continue
        before = {outer_hit.memory.id for outer_hit in outer_hits}
        links = tuple(link for link in linked.get(hit.memory.id, ()) if link.id not in before)
        inside.update(link.id for link in links)
        outer_hits.append(replace(hit, linked=links))
    return outer_hits


class Literal:
    """The tokens of a query that a text should contain letter by letter, as whole words.

    In a question these are the tokens with marks (`C++`, `pve-01`, `foo_bar`, 🚀), because the word index has only
    their parts. A query of one word is such a token itself: it means this word, not its stem.
    """

    def __init__(self, query: str) -> None:
        folded = fold(query).strip()
        self._folded = " ".join(folded.split())
        self._whole = _Words(folded)
        tokens = _MARKED.findall(folded) if any(map(str.isspace, folded)) or has_han(folded) else [folded]
        self._tokens = [_Words(token) for token in tokens]

    def within(self, folded: str) -> bool:
        """True if a folded text contains the whole query."""
        return self._whole.within(folded)

    def is_all_of(self, text: str) -> bool:
        """True if a text equals the query, case, width and spaces apart."""
        return " ".join(fold(text).split()) == self._folded

    def share(self, folded: str) -> float:
        """1 where a folded text contains every such token, INEXACT where it lacks one."""
        return 1.0 if all(token.within(folded) for token in self._tokens) else INEXACT


class _Words:
    """A text that is found where no letter stands directly before or after it, in scripts with spaces between words.

    A regular expression would be compiled for each question: that takes longer than the search with it.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._first = _A_LETTER.match(text[:1]) is not None
        self._last = _A_LETTER.match(text[-1:]) is not None

    def within(self, folded: str) -> bool:
        place = folded.find(self._text)
        while place >= 0:
            before, after = folded[max(0, place - 1) : place], folded[place + len(self._text) :][:1]
            if not (self._first and _A_LETTER.match(before)) and not (self._last and _A_LETTER.match(after)):
                return True
            place = folded.find(self._text, place + 1)
        return False
