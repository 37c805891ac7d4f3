"""Facts and their versions."""

from collections.abc import Sequence
from typing import Protocol

from memory_server.domain.briefing.leading import Leading, Limits
from memory_server.domain.fact import Home


class LeadingFacts(Protocol):
    """The facts that a briefing looks at."""

    def select(self, homes: Sequence[Home], limits: Limits) -> Leading:
        """Return what `domain.briefing.leading` chooses among the facts of these homes, the narrowest first. If several
        have the same key, the narrowest one counts."""
        ...
