"""Sketches of texts: salted hashes of their words and pairs of words, which tell how much of another text stands other.

A sketch holds no word. Words are cut to their stems, so that "deploys" is found as "deploying"; of Chinese each
character is a word. What stands in one place of a long text counts, not what is spread over it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_server.language import sentences
from memory_server.language.query import ENGLISH_STOP_WORDS
from memory_server.language.text import HAN, fold

Hashes = NDArray[np.uint32]
Flags = NDArray[np.bool_]

BLOCK: Final = 16
"""Words of a place. What stands in two places side by side stands together; of a longer text, in as many more."""

SPREAD: Final = 1.5
"""So much more room than a text takes half of the place has in which it is looked for: it may have been shortened."""

ENOUGH: Final = 4
"""Words from which on a part of a text is enough; of Chinese twice as many characters. Less must stand there whole."""

STEM: Final = 6
"""Letters of a word that count."""


class Least(NamedTuple):
    """The least share of words, or else of pairs, with which a text comes from another one."""

    words: float
    pairs: float


OF_WHOLE: Final = Least(0.7, 0.3)
OF_SENTENCE: Final = Least(0.9, 0.6)
"""More than of a whole text: of several sentences one is more often like another text by chance."""

OF_FEW: Final = Least(1.0, 1.0)
"""Of a text of less than ENOUGH words."""

_FRAME = re.compile("用户|团队|我们|说[:：]")
"""The same in Chinese."""

_RUN = re.compile(rf"[{HAN}]+|[^\W_{HAN}]+(?:['’][^\W\d_{HAN}]+)?")
_HAN = re.compile(f"[{HAN}]")
_ENDING = re.compile(r"(?<=[a-z]{3})(?:ments?|ations?|ions?|ings?|edly|ed|ers?|ly|es|s|e|y)$")
_STOPS: Final = ENGLISH_STOP_WORDS | frozenset(
    """
    always never must shall should all any every each please may might will would use used using
    user users user's said says team
    的 了 是 在 和 与 或 也 就 都 而 及 着 把 被 给 对 从 到 由 等 这 那 其 之 不 一 个 有 要 会 可 以 为 我 你 他 们
    """.split()
)
"""Words that tell nothing of a text, and those with which a model begins what it stores of a user."""


@dataclass(frozen=True, slots=True)
class Sketch:
    """The hashes in their order, each with the place in which it stands; both of the shape (hashes,)."""

    hashes: Hashes
    places: NDArray[np.uint16]

    @property
    def size(self) -> int:
        """Return its bytes."""
        return self.hashes.nbytes + self.places.nbytes


@dataclass(frozen=True, slots=True)
class Needle:
    """A text that is looked for in sketches: its words and its pairs in their order, and where its sentences begin."""

    words: Hashes
    pairs: Hashes
    starts: tuple[int, ...] = (0,)
    enough: int = ENOUGH

    def parts(self) -> Iterator[tuple[slice, Least]]:
        """Yield the places of the whole and of each sentence, with the least that must stand in another text."""
        number = len(self.words)
        yield slice(0, number), OF_WHOLE if number >= self.enough else OF_FEW
        if len(self.starts) > 1:
            for start, end in zip(self.starts, (*self.starts[1:], number), strict=True):
                if end - start > self.enough:
                    yield slice(start, end), OF_SENTENCE


@dataclass(frozen=True, slots=True)
class Match:
    """The words and pairs of a needle that stand in a sketch: flags of the shape (words,) and (pairs,)."""

    words: Flags
    pairs: Flags

    @property
    def share(self) -> float:
        """Return the share of the words."""
        return _share(self.words)

    def reaches(self, part: slice, least: Least) -> bool:
        """True if so much of a part stands other."""
        words, pairs = self.words[part], self.pairs[part.start : part.stop - 1]
        if not len(words):
            return False
        enough_words = _share(words) >= least.words
        if least is OF_FEW:
            return bool(enough_words and pairs.all() and len(pairs))
        return enough_words or _share(pairs) >= least.pairs


def sketch(text: str, salt: int) -> Sketch:
    """Return the sketch of a text."""
    words = list(_words(text))
    hashed = [_hash(salt, word) for word in words] + [
        _hash(salt, first, second) for first, second in pairwise(words)
    ]
    place = [number // BLOCK for number in range(len(words))]
    hashes = np.array(hashed, np.uint32)
    places = np.array(place + place[:-1], np.uint32).astype(np.uint16)
    order = np.argsort(hashes, kind="stable")
    return Sketch(hashes[order], places[order])


def needle(text: str, salt: int) -> Needle:
    """Return a text as something to look for, each sentence by itself."""
    words: list[str] = []
    starts = []
    for sentence in sentences.split(text):
        starts.append(len(words))
        words += _words(sentence)
    pairs = [_hash(salt, first, second) for first, second in pairwise(words)]
    return Needle(
        np.array([_hash(salt, word) for word in words], np.uint32),
        np.array(pairs, np.uint32),
        tuple(dict.fromkeys(starts)),
        2 * ENOUGH if _HAN.search(text) else ENOUGH,
    )


def match(sought: Needle, source: Sketch) -> Match:
    """Return what of a text stands anywhere in another one."""
    return _flags(sought, _found(sought, source)[1])


def overlap(sought: Needle, source: Sketch) -> Match | None:
    """Return what of a text stands together in another one, where that is so much of it, or of a sentence of it, that
    it comes from there; else None."""
    first, stands = _found(sought, source)
    anywhere = _flags(sought, stands)
    parts = [(part, least) for part, least in sought.parts() if anywhere.reaches(part, least)]
    if not parts:
        return None
    end = np.searchsorted(source.hashes, _hashes(sought), "right")
    both = np.zeros(len(first), bool)
    for part, least in parts:
        chosen = np.zeros(len(first), bool)
        chosen[part] = True
        chosen[len(sought.words) + part.start : len(sought.words) + part.stop - 1] = True
        wide = max(1, ceil(SPREAD * (part.stop - part.start) / BLOCK))
        together = _together(first, np.where(chosen, end, first), source.places, wide)
        if _flags(sought, together).reaches(part, least):
            both |= together
    return _flags(sought, both) if both.any() else None


def _found(sought: Needle, source: Sketch) -> tuple[NDArray[np.intp], Flags]:
    """Return where each word and each pair would stand first among the hashes, and whether it does."""
    hashes = _hashes(sought)
    first = np.searchsorted(source.hashes, hashes)
    if not len(source.hashes):
        return first, np.zeros(len(first), bool)
    return first, source.hashes.take(first, mode="clip") == hashes


def _hashes(sought: Needle) -> Hashes:
    return np.concatenate([sought.words, sought.pairs])


def _flags(sought: Needle, stands: Flags) -> Match:
    return Match(stands[: len(sought.words)], stands[len(sought.words) :])


def _together(first: NDArray[np.intp], end: NDArray[np.intp], places: NDArray[np.uint16], wide: int) -> Flags:
    """Return what stands in the two neighbouring places, each of so many blocks, that have most of it."""
    counts = end - first
    if not counts.any():
        return np.zeros(len(counts), bool)
    numbers = np.repeat(np.arange(len(counts)), counts)
    offsets = np.arange(len(numbers)) - np.repeat(np.cumsum(counts) - counts, counts)
    at = places[first[numbers] + offsets].astype(np.int64) // wide
    stands = np.zeros((at.max() + 2, len(counts)), bool)
    stands[at, numbers] = stands[at + 1, numbers] = True
    best: Flags = stands[np.count_nonzero(stands, axis=1).argmax()]
    return best


def _share(flags: Flags) -> float:
    return np.count_nonzero(flags) / len(flags) if len(flags) else 0.0


def _words(text: str) -> Iterator[str]:
    """Yield the stems of the words that tell something; of Chinese each character."""
    for run in _RUN.findall(_FRAME.sub(" ", fold(text))):
        if _HAN.match(run):
            yield from (letter for letter in run if letter not in _STOPS)
        elif run not in _STOPS:
            yield _ENDING.sub("", run)[:STEM]


def _hash(salt: int, *words: str) -> int:
    return hash((salt, *words)) & 0xFFFFFFFF
