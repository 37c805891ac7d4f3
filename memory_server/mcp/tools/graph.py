"""The toolset `graph`."""

from dataclasses import dataclass
from typing import Annotated, Self

from pydantic import Field, WithJsonSchema

from memory_server.domain.caller import Caller
from memory_server.domain.edge import Direction, Edge, Relation, Walk
from memory_server.domain.memory import MemoryId
from memory_server.language.tokens import weigh
from memory_server.mcp.tool import READS, WRITES, Tool
from memory_server.mcp.tools.answers import (
    OPTIONAL,
    Answer,
    Degraded,
    MemoryAnswer,
    OptionalNumber,
    OptionalText,
    SupersededBy,
    absent,
    rounded,
    shortened,
)
from memory_server.mcp.tools.fields import AsOf, Id, Limit
from memory_server.services.graph import GraphService

SHOWN = 200
"""Characters of each memory that a walk shows: enough to choose which to read."""

FRAME = 40
"""Tokens that are kept for the fields around the memories and the edges."""

MemoryArgument = Annotated[Id, Field(alias="memoryId")]

NamedRelation = Annotated[Relation, WithJsonSchema({"type": "string", "x-values": [*map(str, Relation)]})]
"""The schema of `graph_connect` lists the relations; a second list would cost 30 tokens."""

Flag = Annotated[bool | None, Field(strict=True)]
"""None means the default, which the tool's description implies, so that the schema need not say it."""


class ConnectedEdge(Answer):
    source: int
    relation: str
    target: int
    strength: float
    valid_from: str
    valid_to: OptionalText = None


class ReachedMemory(MemoryAnswer):
    distance: int
    path: list[int]
    superseded_by: SupersededBy = None


class Exploration(Answer):
    nodes: list[ReachedMemory]
    edges: list[ConnectedEdge]
    left_out: int
    stopped_at: OptionalNumber = None
    degraded: Degraded = None

    def within(self, tokens: int) -> Self:
        """As much as fits: the nearest memories, and the edges between them. The others are counted as left out."""
        place = {node.id: number for number, node in enumerate(self.nodes)}
        room = float(tokens - FRAME)
        for number, node in enumerate(self.nodes):
            node.content = shortened(node.content, SHOWN)
            joined = [edge for edge in self.edges if max(place[edge.source], place[edge.target]) == number]
            room -= sum(weigh(each.model_dump_json()) for each in (node, *joined))
            if room < 0:
                return self._first(number)
        return self

    def _first(self, number: int) -> Self:
        nodes, rest = self.nodes[:number], self.nodes[number:]
        shown = {node.id for node in nodes}
        edges = [edge for edge in self.edges if {edge.source, edge.target} <= shown]
        update = {"left_out": self.left_out + len(rest), "stopped_at": rest[0].distance}
        return self.model_copy(update={"nodes": nodes, "edges": edges, **update})


class NearMemory(MemoryAnswer):
    nearness: Annotated[float, rounded(3)]
    edges: Annotated[list[ConnectedEdge], Field(default_factory=list, exclude_if=absent)]
    meaning: Annotated[float | None, rounded(3), OPTIONAL, Field(validation_alias="cosine")] = None
    superseded_by: SupersededBy = None


class Related(Answer):
    related: Annotated[list[NearMemory], Field(validation_alias="near")]
    degraded: Degraded = None


@dataclass(frozen=True, slots=True)
class GraphTools:
    """Edges between memories: make them, follow them."""

    graph: GraphService

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
        end: Annotated[Flag, Field(description="true ends the edge: it is no longer valid")] = None,
        *,
        caller: Caller,
    ) -> ConnectedEdge:
        """Connect two memories with an edge: source, relation, target. Repeating it updates the strength. supersedes: the source replaces the target, which is outdated."""
        edge = Edge(MemoryId(source), MemoryId(target), relation, strength)
        return ConnectedEdge.of(self.graph.end(edge) if end else self.graph.connect(edge, caller))

    def graph_explore(
        self,
        memory: MemoryArgument,
        depth: Annotated[int, Field(ge=1, le=4, strict=True)] = 2,
        relation: NamedRelation | None = None,
        direction: Direction | None = None,
        at: AsOf | None = None,
        max_tokens: Annotated[int, Field(ge=300, le=8000, strict=True)] = 1500,
    ) -> Exploration:
        """List the memories that edges connect to one, nearest first. Without direction: follows edges both ways."""
        walk = Walk(relation, direction or Direction.BOTH, at)
        return Exploration.of(self.graph.explore(MemoryId(memory), depth, walk)).within(max_tokens)

    def memory_related(
        self,
        memory: MemoryArgument,
        limit: Limit = 10,
        include_graph: Annotated[Flag, Field(alias="includeGraph")] = None,
        include_semantic: Annotated[Flag, Field(alias="includeSemantic")] = None,
    ) -> Related:
        """Find memories related to one, by graph edges and by semantic similarity."""
        graph, semantic = include_graph is not False, include_semantic is not False
        return Related.of(self.graph.related(MemoryId(memory), limit, graph, semantic))
