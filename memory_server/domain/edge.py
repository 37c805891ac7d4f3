"""Edges: directed, named relations between memories; and the result of a walk along them."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from memory_server.domain.memory import Memory, MemoryId
from memory_server.errors import Problem


class Relation(StrEnum):
    RELATED_TO = "related_to"
    CAUSES = "causes"
    SOLVES = "solves"
    DEPENDS_ON = "depends_on"
    CONTRADICTS = "contradicts"
    EXTENDS = "extends"
    EXAMPLE_OF = "example_of"
    SUPERSEDES = "supersedes"
    SUMMARIZES = "summarizes"


REPLACING = (Relation.SUPERSEDES, Relation.SUMMARIZES)
"""A memory with such an edge to another one is shown in its place."""


class Direction(StrEnum):
    """The edges that a walk follows: those that leave a memory, those that reach it, or both."""

    OUT = "out"
    IN = "in"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Edge:
    """`source` relation `target`, with a strength from 0 to 1. Times are ISO-8601; `valid_to` None: still valid."""

    source: MemoryId
    target: MemoryId
    relation: Relation = Relation.RELATED_TO
    strength: float = 1.0
    valid_from: str = ""
    valid_to: str | None = None

    def other_end(self, id: MemoryId) -> MemoryId:
        return self.target if id == self.source else self.source

    def __str__(self) -> str:
        return f"{self.source} {self.relation} {self.target}"


@dataclass(frozen=True, slots=True)
class Walk:
    """Selects the edges of a walk: of one relation or of all, valid at the moment `at`, or now where it is None."""

    relation: Relation | None = None
    direction: Direction = Direction.BOTH
    at: str | None = None


@dataclass(frozen=True, slots=True)
class EdgeStep:
    """One step of a walk: from the memory `here` to the memory `there`, along the strongest edge between them."""

    here: MemoryId
    there: MemoryId


@dataclass(frozen=True, slots=True)
class Reached:
    """A memory that a walk has reached: its distance in edges, and the ids on a shortest path, both ends included."""

    memory: Memory
    distance: int
    path: tuple[MemoryId, ...]


@dataclass(frozen=True, slots=True)
class Explored:
    """The memories within reach, nearest first, and every edge between two of them.

    A limit may stop the walk: then `left_out` memories at the distance `stopped_at` are not among the nodes.
    `degraded` names the rows that could not be read.
    """

    nodes: tuple[Reached, ...]
    edges: tuple[Edge, ...]
    left_out: int = 0
    stopped_at: int | None = None
    degraded: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Linked:
    """A memory that solves, contradicts or supersedes a hit."""

    id: MemoryId
    relation: str
    content: str


def line_of(id: MemoryId, successors: Mapping[MemoryId, MemoryId]) -> list[MemoryId]:
    """The successor of a memory, its successor, and so on. In a circle, made by hand, each memory comes once."""
    line: list[MemoryId] = []
    visited = {id}
    while id in successors and successors[id] not in visited:
        id = successors[id]
        visited.add(id)
        line.append(id)
    return line
