"""The fallback without a model: vectors of hashed spelling, which know nothing of meaning."""

import math
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from memory_server.domain.embedding import Space, Vector
from memory_server.embedding.fingerprint import fingerprinted
from memory_server.language.lazy import lazy

DIMENSIONS = 512
"""Numbers in a vector; a power of two, because one more bit of the hash is the sign. More would mean fewer collisions
and larger files: a choice."""

_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Kana and Han, scripts without spaces between words, as a character class."""

_RUN = lazy(rf"(?P<unspaced>[{_UNSPACED}]+)|(?P<word>[^\W_{_UNSPACED}]+)")
_TRIGRAM = 3
"""Characters of a feature inside a word, so that forms and typos of a word are similar; three is usual."""


class HashingEmbedder:
    """Signed hashing of words, their character trigrams, and 1- and 2-grams of Han and kana.

    A feature's weight is 1 + ln(count). Features are hashed with CRC-32, so vectors are equal on every machine.
    """

    def __init__(self) -> None:
        space = Space(
            provider="hashing",
            model="words-trigrams-cjk",
            revision="1",
            dimensions=DIMENSIONS,
            query_prompt="",
            document_prompt="",
            transform="",
            chinese=True,
            lexical=True,
            fingerprint="",
        )
        self._space = fingerprinted(space, "")

    @property
    def space(self) -> Space:
        return self._space

    def embed_questions(self, texts: Sequence[str]) -> list[Vector]:
        return [_vector(text) for text in texts]

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        return [_vector(text) for text in texts]


def _vector(text: str) -> Vector:
    vector = np.zeros(DIMENSIONS, np.float64)
    for feature, count in Counter(_features(text)).items():
        code = zlib.crc32(feature.encode("utf-8", "replace"))
        sign = 1.0 if code & DIMENSIONS else -1.0
        vector[code % DIMENSIONS] += sign * (1.0 + math.log(count))
    if not vector.any():
        vector[0] = 1.0
    unit: Vector = (vector / np.linalg.norm(vector)).astype(np.float32)
    return unit


def _features(text: str) -> Iterator[str]:
    """The features of a text; the first character of a feature is its kind."""
    for run in _RUN.finditer(unicodedata.normalize("NFKC", text).lower()):
        if run["word"]:
            yield f"w{run['word']}"
            yield from (f"t{gram}" for gram in _grams(f" {run['word']} ", _TRIGRAM))
        else:
            yield from (f"c{gram}" for n in (1, 2) for gram in _grams(run["unspaced"], n))


def _grams(text: str, n: int) -> Iterator[str]:
    return (text[i : i + n] for i in range(len(text) - n + 1))
