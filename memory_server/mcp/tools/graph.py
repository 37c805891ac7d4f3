"""The toolset `graph`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field, WithJsonSchema

from memory_server.answers.answer import Answer, field
from memory_server.domain.caller import Caller
from memory_server.domain.edge import Direction, Edge, Explored, Reached, Relation, Walk
from memory_server.domain.memory import MemoryId
from memory_server.mcp.tool import READS, WRITES, Tool
from memory_server.mcp.tools.answers import DEGRADED, MEMORY, ORIGIN, SUPERSEDED_BY, cost, degraded, shortened
from memory_server.mcp.tools.fields import AsOf, Id, Limit
from memory_server.services.graph import GraphService, Neighbour, Related

SHOWN = 200
"""Characters of each memory that a walk shows: enough to choose which to read."""

SIMILAR = 5
"""Most memories close in meaning that a walk shows beside those that edges connect."""

NONE = Related([], ())

FRAME = 40
"""Tokens that are kept for the fields around the memories and the edges."""

MemoryArgument = Annotated[Id, Field(alias="memoryId")]

NamedRelation = Annotated[Relation, WithJsonSchema({"type": "string", "x-values": [*map(str, Relation)]})]
"""The schema of `graph_connect` lists the relations; a second list would cost 30 tokens."""

Flag = Annotated[bool | None, Field(strict=True)]
"""None means the default, which the tool's description implies, so that the schema need not say it."""


@dataclass(frozen=True, slots=True)
class Walked:
    """A walk along edges, and the memories close in meaning, the closest first."""

    explored: Explored
    similar: list[Neighbour]


def _short(text: str) -> str:
    return shortened(text, SHOWN)


def _rounded(number: float) -> float:
    return round(number, 3)


EDGE = Answer(Edge, "source relation target strength valid_from valid_to?")
REACHED = Answer(
    Reached,
    "memory.id",
    field("content=memory.excerpt", _short),
    "memory.type distance path",
    ORIGIN,
    SUPERSEDED_BY,
)
NEIGHBOUR = Answer(
    Neighbour,
    MEMORY,
    field("nearness", _rounded),
    field("edges?", EDGE),
    field("meaning?=cosine", _rounded),
    ORIGIN,
    SUPERSEDED_BY,
)
CLOSE = Answer(
    Neighbour,
    "memory.id",
    field("content=memory.excerpt", _short),
    "memory.type",
    field("meaning=cosine", _rounded),
    ORIGIN,
)
WALKED = Answer(
    Walked,
    field("nodes=explored.nodes", REACHED),
    field("edges=explored.edges", EDGE),
    "explored.left_out explored.stopped_at?",
    field("similar?", CLOSE),
    field("degraded?=explored.degraded", degraded),
)
RELATED = Answer(Related, field("related=near", NEIGHBOUR), DEGRADED)


def _affordable(neighbours: Sequence[Neighbour], tokens: float) -> tuple[list[Neighbour], float]:
    """The first neighbours, as many as these tokens are enough for, and what they cost."""
    shown: list[Neighbour] = []
    spent = 0.0
    for neighbour in neighbours:
        price = cost(CLOSE.of(neighbour))
        if spent + price > tokens:
            break
        shown.append(neighbour)
        spent += price
    return shown, spent


def _within(explored: Explored, tokens: float) -> Explored:
    """Keep as much as fits: the nearest memories, and the edges between them. The others are counted as left out."""
    place = {node.memory.id: number for number, node in enumerate(explored.nodes)}
    room = tokens - FRAME
    for number, node in enumerate(explored.nodes):
        edges = [edge for edge in explored.edges if max(place[edge.source], place[edge.target]) == number]
        room -= cost(REACHED.of(node)) + sum(cost(EDGE.of(edge)) for edge in edges)
        if room < 0:
            return _first(explored, number)
    return explored


def _first(explored: Explored, number: int) -> Explored:
    nodes, left = explored.nodes[:number], explored.nodes[number:]
    shown = {node.memory.id for node in nodes}
    edges = tuple(edge for edge in explored.edges if {edge.source, edge.target} <= shown)
    left_out = explored.left_out + len(left)
    return replace(explored, nodes=nodes, edges=edges, left_out=left_out, stopped_at=left[0].distance)


@dataclass(frozen=True, slots=True)
class GraphTools:
    """Edges between memories: make them, follow them."""

    graph: GraphService

    def tools(self) -> list[Tool]:
        return [
            Tool(self.graph_connect, WRITES, "Connect memories", "link notes causes solves supersedes 关联"),
            Tool(self.graph_explore, READS, "Explore connections", "what is connected to a note 关系"),
            Tool(self.memory_related, READS, "Related memories", "similar notes 相似"),
        ]

    def graph_connect(
        self,
        source: Annotated[Id, Field(alias="sourceId")],
        target: Annotated[Id, Field(alias="targetId")],
        relation: Relation,
        strength: Annotated[float, Field(ge=0, le=1, strict=True)] = 1.0,
        end: Annotated[Flag, Field(description="no longer valid")] = None,
        *,
        caller: Caller,
    ) -> Annotated[Edge, EDGE]:
        """Connect two memories with an edge. supersedes: the target is outdated."""
        edge = Edge(MemoryId(source), MemoryId(target), relation, strength)
        return self.graph.end(edge) if end else self.graph.connect(edge, caller)

    def graph_explore(
        self,
        memory: MemoryArgument,
        depth: Annotated[int, Field(ge=1, le=4, strict=True)] = 2,
        relation: NamedRelation | None = None,
        direction: Direction | None = None,
        at: AsOf | None = None,
        max_tokens: Annotated[int, Field(ge=300, le=8000, strict=True)] = 1500,
        similar: Annotated[Flag, Field(description="also close in meaning")] = None,
    ) -> Annotated[Walked, WALKED]:
        """List the memories that edges connect to one, nearest first."""
        walk = Walk(relation, direction or Direction.BOTH, at)
        near = self.graph.related(MemoryId(memory), SIMILAR, False, True) if similar else NONE
        shown, tokens = _affordable(near.near, max_tokens / 2)
        explored = _within(self.graph.explore(MemoryId(memory), depth, walk), max_tokens - tokens)
        return Walked(replace(explored, degraded=(*explored.degraded, *near.degraded)), shown)

    def memory_related(
        self,
        memory: MemoryArgument,
        limit: Limit = 10,
        include_graph: Annotated[Flag, Field(alias="includeGraph")] = None,
        include_semantic: Annotated[Flag, Field(alias="includeSemantic")] = None,
    ) -> Annotated[Related, RELATED]:
        """Find memories related to one, by edges and by meaning."""
        graph, semantic = include_graph is not False, include_semantic is not False
        return self.graph.related(MemoryId(memory), limit, graph, semantic)
