"""How often each thing is measured."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Effort:
    """Starts of each server, calls of each kind, processes of each hook.

    `warm` calls and `cold` processes come before these and are not counted.
    """

    starts: int = 5
    calls: int = 40
    events: int = 7
    warm: int = 3
    cold: int = 1

    @property
    def asked(self) -> int:
        """Calls of each kind that are made."""
        return self.warm + self.calls
