"""A text from outside that waits until a person confirms it."""

from dataclasses import dataclass

from memory_server.domain.change import Kind
from memory_server.domain.fact import Scope
from memory_server.domain.handles import Handle


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
