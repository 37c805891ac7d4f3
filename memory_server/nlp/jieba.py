"""Splits Chinese text into words with jieba."""

import logging
import threading
from functools import lru_cache
from pathlib import Path
from typing import Any

from memory_server.nlp.compat import load_tokenizer
from memory_server.nlp.user_words import NO_WORDS, UserWords

logger = logging.getLogger(__name__)

PIECE = 500
"""Characters that jieba splits at a time. Its time for unknown words is quadratic: 90 s for 200,000 characters."""

REMEMBERED = 100
"""Characters of the longest run whose words are cached: with long runs the cache would take gigabytes."""

CACHED = 8192
"""Runs whose words are cached: at most 40 MB, measured with runs of REMEMBERED characters."""


class JiebaSegmenter:
    """Uses jieba's dictionary and its model for unknown words; loads them at the first use (about a second).

    `cache` is a folder that only the user can write to: by default jieba reads its cache from the shared temporary
    folder, where another user could have placed a file. The words of the user are cut whole, as their weights say.
    """

    def __init__(self, cache: Path, user_words: UserWords = NO_WORDS) -> None:
        self._cache = cache
        self._user_words = user_words
        self._lock = threading.Lock()
        self._tokenizer: Any = None
        # A new memory is compared with many old ones, so the same sentences are split again and again.
        self._segment = lru_cache(maxsize=CACHED)(self._cut)

    def load(self) -> None:
        with self._lock:
            if self._tokenizer is not None:
                return
            try:
                self._cache.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as error:
                logger.warning(
                    "the Chinese dictionary cannot be cached, so each start takes longer: %s", error
                )
            tokenizer = load_tokenizer(self._cache)
            for word, weight in self._user_words.weights.items():
                tokenizer.add_word(word, weight)
            self._tokenizer = tokenizer

    def segment(self, text: str) -> list[str]:
        return list(self._segment(text) if len(text) <= REMEMBERED else self._cut(text))

    def overlapping(self, text: str) -> list[str]:
        if self._tokenizer is None:
            self.load()
        return list(self._tokenizer.cut(text, cut_all=True))

    def _cut(self, text: str) -> tuple[str, ...]:
        if self._tokenizer is None:
            self.load()
        pieces = (text[start : start + PIECE] for start in range(0, len(text), PIECE))
        return tuple(word for piece in pieces for word in self._tokenizer.cut(piece))
