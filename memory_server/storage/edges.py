"""The knowledge graph."""

from collections.abc import Collection
from typing import Any, Protocol

from memory_server.domain.caller import Caller
from memory_server.domain.edge import Edge, Linked, Relation, Step, Walk
from memory_server.domain.memory import Memory, MemoryId
from memory_server.errors import Invalid

REPLACING = (Relation.SUPERSEDES, Relation.SUMMARIZES)
"""What has such an edge to a memory is shown in its place."""


def edge_of(row: tuple[Any, ...]) -> Edge:
    """An edge from its columns, in the order of the fields of `Edge`."""
    return Edge(MemoryId(row[0]), MemoryId(row[1]), Relation(row[2]), row[3], row[4], row[5])


def not_replaceable(edge: Edge) -> Invalid:
    """What is somebody's own would stand for what others see."""
    return Invalid(
        f"Memory {edge.source} cannot replace {edge.target}: one is somebody's own, the other is not. "
        "Nothing was stored."
    )


class Edges(Protocol):
    """The table `edges`: directed, named relations between memories, each with the time in which it holds."""

    def steps(
        self, here: Collection[MemoryId], seen: Collection[MemoryId], walk: Walk, limit: int
    ) -> tuple[list[Step], int]:
        """The way to each unseen memory that is one edge from any of these, the strongest first, and how many there
        are.

        Where several edges lead to one, the strongest counts, then the one from the older memory.
        """
        ...

    def between(self, ids: Collection[MemoryId], walk: Walk) -> list[Edge]:
        """Every edge from one of these memories to another of them, whatever the walk's direction."""
        ...

    def strongest(self, id: MemoryId, limit: int) -> list[Edge]:
        """The strongest edges of a memory that hold, but for what supersedes or summarizes."""
        ...

    def hubs(self, limit: int) -> list[MemoryId]:
        """The memories with most edges that hold, most first."""
        ...

    def answering(self, ids: Collection[MemoryId], length: int) -> dict[MemoryId, list[Linked]]:
        """What solves, contradicts or supersedes each of these memories, with so many characters of its text."""
        ...

    def contradicting(self, ids: Collection[MemoryId]) -> dict[MemoryId, list[MemoryId]]:
        """What contradicts each of these memories, or is contradicted by it, and is not superseded itself."""
        ...

    def disputes(self, project: str, limit: int) -> list[tuple[MemoryId, MemoryId]]:
        """Source and target of the edges by which a memory of a project ('' is none) contradicts another one or is
        contradicted, each pair once, the newest first. What is superseded is settled."""
        ...

    def successors(self, ids: Collection[MemoryId], at: str | None = None) -> dict[MemoryId, MemoryId]:
        """Each of these memories that is superseded, with what did so last; then the same of that, and so on."""
        ...

    def supersedes(self, new: MemoryId, old: MemoryId) -> bool:
        """Whether one memory supersedes another, at whatever distance."""
        ...


class WritableEdges(Edges, Protocol):
    """The same in a transaction that writes."""

    def connect(self, edge: Edge, caller: Caller) -> Edge:
        """Write the edge; where it holds already its strength is renewed.

        Raises:
            Invalid: what is somebody's own would stand for what others see, who would not find it any more.
        """
        ...

    def link(self, source: Memory, target: Memory, relation: Relation, caller: Caller) -> None:
        """As `connect`, without an answer. The memories must be as they are in this transaction.

        Raises:
            Invalid: as `connect`.
        """
        ...

    def end(self, edge: Edge) -> Edge | None:
        """The edge as it ended just now; None where it does not hold."""
        ...
