"""Keeps texts of memories prepared for comparison: a new memory is often compared with the same old ones."""

from collections import OrderedDict
from threading import Lock

from memory_server.domain.consolidation import Text
from memory_server.nlp import Segmenter

CHARACTERS = 300_000
"""Characters of the texts that are kept: their words take about 10 MB, and with all that can be asked of them 40."""


class PreparedTexts:
    """The texts that were asked for last. A text is its own key, so none is ever out of date."""

    def __init__(self, segmenter: Segmenter) -> None:
        self._segmenter = segmenter
        self._lock = Lock()
        self._kept: OrderedDict[str, Text] = OrderedDict()
        self._characters = 0

    def of(self, content: str) -> Text:
        with self._lock:
            text = self._kept.pop(content, None)
            if text is None:
                text = Text(content, self._segmenter.segment)
                self._characters += len(content)
            self._kept[content] = text
            while self._characters > CHARACTERS:
                oldest, _ = self._kept.popitem(last=False)
                self._characters -= len(oldest)
        return text
