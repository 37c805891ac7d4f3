"""The counts of a torture, and the faults that it found."""

from collections.abc import Callable
from dataclasses import dataclass, field

Goes = Callable[[], bool]
"""Whether there is time for another round."""


@dataclass(slots=True)
class Tally:
    """`acknowledged` counts writes that were answered as done; the rest are sentences, none where all is well."""

    what: str
    rounds: int = 0
    acknowledged: int = 0
    lost: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def faults(self) -> list[str]:
        return [*self.lost, *self.damaged, *self.other]
