"""Chinese words by jieba."""

import logging
import threading
import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)


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
        return list(self._segment(text))

    def _cut(self, text: str) -> tuple[str, ...]:
        if self._tokenizer is None:
            self.load()
        return tuple(self._tokenizer.cut(text))
