"""The data that a trigger can read when it is evaluated."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from memory_server.domain.message import Message


@dataclass(frozen=True, slots=True)
class Situation:
    """`now` is in the user's own zone; `seed` decides all random numbers in the triggers of one search."""

    messages: tuple[Message, ...]
    conversation_id: str
    now: datetime
    seed: int
    participants: Mapping[str, Any] = field(default_factory=dict)
    act: Mapping[str, Any] | None = None

    @property
    def zone(self) -> str | None:
        """The name of the zone, whose rules are known then; None if only its offset is."""
        return "UTC" if self.now.tzinfo is UTC else getattr(self.now.tzinfo, "key", None)
