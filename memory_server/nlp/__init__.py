"""The ports through which text becomes words."""

from typing import Protocol

from memory_server.domain.short_term import Keyword


class Segmenter(Protocol):
    """Cuts Chinese text into words. Safe to call from several threads; loads what it needs at the first call."""

    def load(self) -> None:
        """Load the dictionary now, so that a later call does not wait for it."""
        ...

    def segment(self, text: str) -> list[str]:
        """The words of a run of Han characters, in order; joined they are the text again."""
        ...

    def overlapping(self, text: str) -> list[str]:
        """Every word of the dictionary that stands in a run of Han characters, one inside or across another too."""
        ...


class KeywordExtractor(Protocol):
    """Finds what a text is about. Safe to call from several threads; loads what it needs at the first call."""

    def extract(self, text: str) -> list[Keyword]:
        """The best words of a text, in English and Chinese, weighed by TF-IDF, best first."""
        ...
