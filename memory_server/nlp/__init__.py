"""The port through which a run of Han characters becomes words."""

from typing import Protocol


class Segmenter(Protocol):
    """Cuts Chinese text into words. Safe to call from several threads; loads what it needs at the first call."""

    def load(self) -> None:
        """Load the dictionary now, so that a later call does not wait for it."""
        ...

    def segment(self, text: str) -> list[str]:
        """The words of a run of Han characters, in order; joined they are the text again."""
        ...
