"""A choice of things to delete together: by where they come from, a tag, a project, their age or their ids."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory_server.domain.change import Kind
from memory_server.domain.fact import Scope
from memory_server.domain.handles import Handle


@dataclass(frozen=True, slots=True)
class Choice:
    """All of these must be true of a thing, each where it is given.

    `source` is a format of imports, `path` a file or a folder that was imported, `ranges` are ids from one to another.
    """

    source: str | None = None
    path: str | None = None
    tag: str | None = None
    project: str | None = None
    since: str | None = None
    ranges: Sequence[tuple[Kind, int, int]] = ()

    def __str__(self) -> str:
        """Name what was chosen."""
        conditions = {
            "from": self.source or self.path,
            "tag": self.tag,
            "project": self.project,
            "since": self.since,
        }
        parts = [f"{name} {value}" for name, value in conditions.items() if value is not None]
        return ", ".join([*parts, *map(_range, self.ranges)])


def _range(ends: tuple[Kind, int, int]) -> str:
    kind, first, last = ends
    return f"{kind.value} {first}" if first == last else f"{kind.value} {first}..{last}"


@dataclass(frozen=True, slots=True)
class Chosen:
    """A thing that is chosen. `name` and `scope` are those of a fact or a long-term memory, `owner` is a fact's."""

    kind: Kind
    id: int
    text: str
    name: str | None = None
    scope: str | None = None
    owner: str | None = None

    @property
    def handle(self) -> Handle:
        """Return how people name it."""
        scope = None if self.scope is None else Scope(self.scope)
        return Handle(self.kind, 0 if self.name else self.id, self.name or "", scope)
