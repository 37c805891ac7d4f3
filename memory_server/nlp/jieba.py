"""Chinese words by jieba."""

import logging
import threading
import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)

PIECE = 500
"""Characters that jieba cuts at once: of unknown words it takes quadratic time, 90 s for 200,000 characters."""

REMEMBERED = 100
"""Characters of the longest run whose words are kept: 8,192 of them take 40 MB, long ones would take gigabytes."""


class JiebaSegmenter:
    """jieba's dictionary and its model for unknown words; loaded at the first use (about a second).

    `cache` is a folder of the user's own: jieba would otherwise read its cache from the shared
    temporary folder, where anybody could have planted one.
    """

    def __init__(self, cache: Path) -> None:
        self._cache = cache
        self._lock = threading.Lock()
        self._tokenizer: Any = None
        # A new memory is compared with many old ones, and their sentences with the next one's again.
        self._segment = lru_cache(maxsize=8192)(self._cut)

    def load(self) -> None:
        with self._lock:
            if self._tokenizer is not None:
                return
            with warnings.catch_warnings():
                # jieba 0.42 has invalid escapes in its patterns and may import pkg_resources; both only warn.
                warnings.simplefilter("ignore")
                import jieba
            jieba.setLogLevel(logging.WARNING)
            try:
                self._cache.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as error:
                logger.warning("no cache for the Chinese dictionary, so each start takes longer: %s", error)
            tokenizer = jieba.Tokenizer()
            tokenizer.tmp_dir = str(self._cache)
            tokenizer.initialize()
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
