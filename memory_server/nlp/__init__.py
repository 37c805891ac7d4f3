"""The ports that turn text into words and keywords."""

from typing import Protocol

from memory_server.domain.short_term import Keyword


class Segmenter(Protocol):
    """Splits Chinese text into words. Safe to call from several threads; loads its dictionary at the first call."""

    def load(self) -> None:
        """Load the dictionary now, so that the first call is fast."""
        ...

    def segment(self, text: str) -> list[str]:
        """The words of a run of Han characters, in order; joined, they give the text back."""
        ...

    def overlapping(self, text: str) -> list[str]:
        """Every dictionary word in a run of Han characters, including words inside other words and overlapping ones."""
        ...


class KeywordExtractor(Protocol):
    """Finds the keywords of a text. Safe to call from several threads; loads its data at the first call."""

    def extract(self, text: str) -> list[Keyword]:
        """The keywords of a text, in English and Chinese, scored by TF-IDF, best first."""
        ...
