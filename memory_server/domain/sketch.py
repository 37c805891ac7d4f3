"""Sketches of texts: salted hashes of their words and pairs of words, which tell how much of another text stands there.

A sketch holds no word. Words are cut to their stems, so that "deploys" is found as "deploying", and numbers are in
digits; of Chinese each character is a word. What stands in one place of a long text counts, not what is spread over it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_server.domain import telling_words
from memory_server.language import background, sentences

Hashes = NDArray[np.uint32]
Flags = NDArray[np.bool_]

BLOCK: Final = 16
"""Words of a place. What stands in two places side by side stands together; of a longer text, in as many more."""

SPREAD: Final = 1.5
"""So much more room than a text takes half of the place has in which it is looked for: it may have been shortened."""

ENOUGH: Final = 4
"""Words from which on a part of a text is enough; of Chinese twice as many characters. Less must stand there whole."""


class Least(NamedTuple):
    """The least share of words, or else of pairs, with which a text comes from another one."""

    words: float
    pairs: float


OF_WHOLE: Final = Least(0.7, 0.3)
OF_SENTENCE: Final = Least(0.9, 0.6)
"""More than of a whole text: of several sentences one is more often like another text by chance."""

OF_FEW: Final = Least(1.0, 1.0)
"""Of a text of less than ENOUGH words."""

OF_CHARACTER: Final = 0.15
OF_PAIR: Final = 0.5
"""Parts of their rarity with which a Chinese character and a pair of them count: together they tell what a word
does."""

_SIGNED: Final = "±"
"""Before a word that has a sign, whichever."""


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
    shares: NDArray[np.float32]
    """Shares of ordinary texts that hold each word and then each pair."""
    scales: NDArray[np.float32]
    """Parts of its rarity with which each of them counts: 0 where it repeats, and of pairs but Chinese ones."""
    starts: tuple[int, ...]
    enough: int
    is_foreign: Flags | None
    """True for each word that is not Chinese, in a text that is."""
    signed: Hashes
    """Each word with its sign; where it has none, with any: of the shape (words,)."""
    has_sign: Flags
    triples: Hashes
    """Three words in their order, of the shape (words - 2,): they tell swapped words, whose pairs are the same."""
    codes: Hashes
    """Numbers of four digits and more, codes and addresses: each tells by itself where it comes from."""
    name: int | None
    """The hash of a text that is one rare word."""

    @property
    def hashes(self) -> Hashes:
        """Return those of the words and of the pairs."""
        return np.concatenate([self.words, self.pairs])

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
        """True if so much of a part stands there."""
        words, pairs = self.words[part], self.pairs[part.start : part.stop - 1]
        if not len(words):
            return False
        enough_words = _share(words) >= least.words
        if least is OF_FEW:
            return bool(enough_words and pairs.all() and len(pairs))
        return enough_words or _share(pairs) >= least.pairs


def sketch(text: str, salt: int) -> Sketch:
    """Return the sketch of a text."""
    signed = list(telling_words.words(text))
    words = [word for word, _, _ in signed]
    hashed = [_hash(salt, word) for word in words] + [
        _hash(salt, first, second) for first, second in pairwise(words)
    ]
    place = [number // BLOCK for number in range(len(words))]
    place += place[:-1]
    by_sign = [_hash(salt, before, word) for word, _, sign in signed if sign for before in (sign, _SIGNED)]
    by_sign += _triples(words, salt)
    by_sign += _codes(text, salt)
    hashes = np.array(hashed + by_sign, np.uint32)
    places = np.array(place + [0] * len(by_sign), np.uint32).astype(np.uint16)
    order = np.argsort(hashes, kind="stable")
    return Sketch(hashes[order], places[order])


def needle(text: str, salt: int) -> Needle:
    """Return a text as something to look for, each sentence by itself."""
    words: list[tuple[str, str, str]] = []
    starts = []
    for sentence in sentences.split(text):
        starts.append(len(words))
        words += telling_words.words(sentence)
    stems = [stem for stem, _, _ in words]
    pairs = list(pairwise(stems))
    hashes = [_hash(salt, stem) for stem in stems] + [_hash(salt, *pair) for pair in pairs]
    is_chinese = [telling_words.HAN_LETTER.match(stem) is not None for stem in stems]
    scales = [OF_CHARACTER if chinese else 1.0 for chinese in is_chinese]
    scales += [OF_PAIR if first and second else 0.0 for first, second in pairwise(is_chinese)]
    repeats = np.ones(len(hashes), bool)
    repeats[np.unique(hashes, return_index=True)[1]] = False
    shares = [background.share(word) for _, word, _ in words] + [
        background.share(" ".join(pair)) for pair in pairs
    ]
    return Needle(
        words=np.array(hashes[: len(words)], np.uint32),
        pairs=np.array(hashes[len(words) :], np.uint32),
        shares=np.array(shares, np.float32),
        scales=np.where(repeats, 0, np.array(scales, np.float32)),
        starts=tuple(dict.fromkeys(starts)),
        enough=2 * ENOUGH if any(is_chinese) else ENOUGH,
        is_foreign=~np.array(is_chinese, bool) if any(is_chinese) else None,
        signed=np.array([_hash(salt, sign or _SIGNED, stem) for stem, _, sign in words], np.uint32),
        has_sign=np.array([bool(sign) for _, _, sign in words], bool),
        triples=np.array(_triples(stems, salt), np.uint32),
        codes=np.array(_codes(text, salt), np.uint32),
        name=hashes[0] if _is_rare_name(stems, shares) else None,
    )


def match(sought: Needle, source: Sketch) -> Match:
    """Return what of a text stands anywhere in another one."""
    return _flags(sought, standing(sought, source)[1])


def overlaps(sought: Needle, source: Sketch) -> list[tuple[slice, Match]]:
    """Return the parts of a text, the whole or a sentence, of which so much stands together in another one that they
    come from there, each with what stands there."""
    first, stands = standing(sought, source)
    anywhere = _flags(sought, stands)
    parts = [(part, least) for part, least in sought.parts() if anywhere.reaches(part, least)]
    if not parts:
        return []
    end = np.searchsorted(source.hashes, sought.hashes, "right")
    matches = []
    for part, least in parts:
        chosen = np.zeros(len(first), bool)
        chosen[part] = True
        chosen[len(sought.words) + part.start : len(sought.words) + part.stop - 1] = True
        wide = max(1, ceil(SPREAD * (part.stop - part.start) / BLOCK))
        together = _flags(sought, _together(first, np.where(chosen, end, first), source.places, wide))
        if together.reaches(part, least):
            matches.append((part, together))
    return matches


def signs(sought: Needle, source: Sketch) -> Flags:
    """Return whether the text has each word with the sign that it has in the needle, a "never" or none, if it has the
    word at all; of the shape (words,)."""
    agrees: Flags = standing_of(sought.signed, source) == sought.has_sign
    return agrees


def standing_of(hashes: Hashes, source: Sketch) -> Flags:
    """Return whether each hash stands in a sketch."""
    if not len(source.hashes):
        return np.zeros(len(hashes), bool)
    stands: Flags = source.hashes.take(np.searchsorted(source.hashes, hashes), mode="clip") == hashes
    return stands


def standing(sought: Needle, source: Sketch) -> tuple[NDArray[np.intp], Flags]:
    """Return where each word and each pair would stand first among the hashes, and whether it does."""
    hashes = sought.hashes
    first = np.searchsorted(source.hashes, hashes)
    if not len(source.hashes):
        return first, np.zeros(len(first), bool)
    return first, source.hashes.take(first, mode="clip") == hashes


def _flags(sought: Needle, stands: Flags) -> Match:
    return Match(stands[: len(sought.words)], stands[len(sought.words) :])


def _together(first: NDArray[np.intp], end: NDArray[np.intp], places: NDArray[np.uint16], wide: int) -> Flags:
    """Return what stands in the two neighbouring places, each of so many blocks, that have most of it."""
    rows = by_place(first, end, places, wide)
    best: Flags = rows[np.count_nonzero(rows, axis=1).argmax()]
    return best


def by_place(first: NDArray[np.intp], end: NDArray[np.intp], places: NDArray[np.uint16], wide: int) -> Flags:
    """Return what stands in each two neighbouring places of so many blocks; of the shape (places, hashes)."""
    counts = end - first
    if not counts.any():
        return np.zeros((1, len(counts)), bool)
    hashes = np.repeat(np.arange(len(counts)), counts)
    offsets = np.arange(len(hashes)) - np.repeat(np.cumsum(counts) - counts, counts)
    at = places[first[hashes] + offsets].astype(np.int64) // wide
    rows = np.zeros((at.max() + 2, len(counts)), bool)
    rows[at, hashes] = rows[at + 1, hashes] = True
    return rows


def _share(flags: Flags) -> float:
    return np.count_nonzero(flags) / len(flags) if len(flags) else 0.0


def _codes(text: str, salt: int) -> list[int]:
    return [_hash(salt, "#", code) for code in dict.fromkeys(telling_words.codes(text))]


def _triples(stems: Sequence[str], salt: int) -> list[int]:
    return [_hash(salt, *triple) for triple in zip(stems, stems[1:], stems[2:], strict=False)]


def _is_rare_name(stems: Sequence[str], shares: Sequence[float]) -> bool:
    return len(stems) == 1 and stems[0].isalpha() and len(stems[0]) > 3 and shares[0] <= background.UNSEEN


def _hash(salt: int, *words: str) -> int:
    return hash((salt, *words)) & 0xFFFFFFFF
