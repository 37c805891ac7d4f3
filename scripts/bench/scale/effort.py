"""How often each thing is measured."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Effort:
    """Starts of each server, calls of each kind, processes of each hook; and how many before those are not counted."""

    starts: int = 5
    calls: int = 40
    events: int = 7
    warm: int = 3

    @property
    def asked(self) -> int:
        """Calls of each kind that are made."""
        return self.warm + self.calls
