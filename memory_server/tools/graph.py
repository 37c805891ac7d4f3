"""The toolset `graph`."""

from dataclasses import dataclass
from typing import Annotated, Self

from pydantic import Field, WithJsonSchema

from memory_server.domain.edge import Direction, Edge, Explored, Reached, Relation, Walk
from memory_server.domain.memory import Caller, MemoryId
from memory_server.services.graph import GraphService, Neighbour
from memory_server.tools.answers import Answer, SupersededBy, absent
from memory_server.tools.fields import Id, Moment
from memory_server.tools.tool import READS, WRITES, Tool

MemoryArgument = Annotated[Id, Field(alias="memoryId")]

NamedRelation = Annotated[Relation, WithJsonSchema({"type": "string"})]
"""The list of relations stands in the schema of `graph_connect` already; a second one would cost 30 tokens."""

Flag = Annotated[bool | None, Field(strict=True)]
"""Not given is the default that the tool's description implies, so the schema need not say it."""


class ConnectedEdge(Answer):
    source: int
    relation: str
    target: int
    strength: float
    valid_from: str
    valid_to: Annotated[str | None, Field(exclude_if=absent)] = None

    @classmethod
    def from_domain(cls, edge: Edge) -> Self:
        return cls(
            source=edge.source,
            relation=edge.relation,
            target=edge.target,
            strength=edge.strength,
            valid_from=edge.valid_from,
            valid_to=edge.valid_to,
        )


class ReachedMemory(Answer):
    id: int
    content: str
    type: str
    distance: int
    path: list[int]
    superseded_by: SupersededBy = None

    @classmethod
    def from_domain(cls, reached: Reached) -> Self:
        memory = reached.memory
        return cls(
            id=memory.id,
            content=memory.content,
            type=memory.type,
            distance=reached.distance,
            path=list(reached.path),
            superseded_by=memory.superseded_by,
        )


class Exploration(Answer):
    nodes: list[ReachedMemory]
    edges: list[ConnectedEdge]
    left_out: int
    stopped_at: Annotated[int | None, Field(exclude_if=absent)] = None

    @classmethod
    def from_domain(cls, explored: Explored) -> Self:
        return cls(
            nodes=[ReachedMemory.from_domain(node) for node in explored.nodes],
            edges=[ConnectedEdge.from_domain(edge) for edge in explored.edges],
            left_out=explored.left_out,
            stopped_at=explored.stopped_at,
        )


class NearMemory(Answer):
    id: int
    content: str
    type: str
    nearness: float
    edges: Annotated[list[ConnectedEdge], Field(default_factory=list, exclude_if=absent)]
    meaning: Annotated[float | None, Field(exclude_if=absent)] = None
    superseded_by: SupersededBy = None

    @classmethod
    def from_domain(cls, near: Neighbour) -> Self:
        return cls(
            id=near.memory.id,
            content=near.memory.content,
            type=near.memory.type,
            nearness=round(near.nearness, 3),
            edges=[ConnectedEdge.from_domain(edge) for edge in near.edges],
            meaning=None if near.cosine is None else round(near.cosine, 3),
            superseded_by=near.memory.superseded_by,
        )


class Related(Answer):
    related: list[NearMemory]
    degraded: Annotated[str | None, Field(exclude_if=absent)] = None


@dataclass(frozen=True, slots=True)
class GraphTools:
    """How memories hang together."""

    graph: GraphService
    session: str | None = None

    def tools(self) -> list[Tool]:
        return [
            Tool(self.graph_connect, WRITES),
            Tool(self.graph_explore, READS),
            Tool(self.memory_related, READS),
        ]

    def graph_connect(
        self,
        source: Annotated[Id, Field(alias="sourceId")],
        target: Annotated[Id, Field(alias="targetId")],
        relation: Relation,
        strength: Annotated[float, Field(ge=0, le=1, strict=True)] = 1.0,
        end: Annotated[Flag, Field(description="it holds no longer")] = None,
        *,
        caller: Caller,
    ) -> ConnectedEdge:
        """Connect two memories: source relation target. Again updates the strength. supersedes: the target is outdated."""
        edge = Edge(MemoryId(source), MemoryId(target), relation, strength)
        done = self.graph.end(edge) if end else self.graph.connect(edge, Caller(caller.client, self.session))
        return ConnectedEdge.from_domain(done)

    def graph_explore(
        self,
        memory: MemoryArgument,
        depth: Annotated[int, Field(ge=1, le=4, strict=True)] = 2,
        relation: NamedRelation | None = None,
        direction: Direction | None = None,
        at: Moment | None = None,
    ) -> Exploration:
        """Walk a memory's edges breadth first, in both directions or one."""
        walk = Walk(relation, direction or Direction.BOTH, at)
        return Exploration.from_domain(self.graph.explore(MemoryId(memory), depth, walk))

    def memory_related(
        self,
        memory: MemoryArgument,
        limit: Annotated[int, Field(ge=1, le=50, strict=True)] = 10,
        include_graph: Annotated[Flag, Field(alias="includeGraph")] = None,
        include_semantic: Annotated[Flag, Field(alias="includeSemantic")] = None,
    ) -> Related:
        """Memories near one, by edge and by meaning."""
        graph, semantic = include_graph is not False, include_semantic is not False
        near, degraded = self.graph.related(MemoryId(memory), limit, graph, semantic)
        return Related(related=[NearMemory.from_domain(each) for each in near], degraded=degraded)
