"""A text from outside that waits until a person confirms it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from memory_server.domain.change import Kind
from memory_server.domain.fact import Scope
from memory_server.domain.handles import Handle

SOURCES = 3
"""Origins that are named with their number; the others are counted together."""


def counted(origins: Iterable[str]) -> str:
    """Count what waits by its origin: `3 from web evil.example, 1 from mcp:wiki`; '' where nothing does."""
    by_number = Counter(origins).most_common()
    counts = [f"{number} from {origin}" for origin, number in by_number[:SOURCES]]
    further = sum(number for _, number in by_number[SOURCES:])
    return ", ".join([*counts, *([f"{further} from others"] if further else [])])


@dataclass(frozen=True, slots=True)
class Waiting:
    """`id` is its row, `name` and `scope` those of a fact or a long-term memory, `place` its project or conversation.

    `at` is when it was written last, `session` in which it was written.
    """

    kind: Kind
    id: int
    text: str
    origin: str
    at: str
    session: str | None
    place: str
    name: str = ""
    scope: Scope | None = None

    @property
    def handle(self) -> Handle:
        return Handle(self.kind, 0 if self.name else self.id, self.name, self.scope)

    def is_meant(self, handle: Handle) -> bool:
        """True if a handle names it; one of a fact may leave out the scope."""
        if handle.kind is not self.kind or handle.name != self.name:
            return False
        return handle.scope in (None, self.scope) if self.name else handle.id == self.id
