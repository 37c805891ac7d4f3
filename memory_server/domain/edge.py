"""A directed, named relation between two memories."""

from dataclasses import dataclass
from enum import StrEnum

from memory_server.domain.memory import MemoryId


class Relation(StrEnum):
    RELATED_TO = "related_to"
    CAUSES = "causes"
    SOLVES = "solves"
    DEPENDS_ON = "depends_on"
    CONTRADICTS = "contradicts"
    EXTENDS = "extends"
    EXAMPLE_OF = "example_of"


@dataclass(frozen=True, slots=True)
class Edge:
    """`source` relation `target`, with a strength from 0 to 1."""

    source: MemoryId
    target: MemoryId
    relation: Relation = Relation.RELATED_TO
    strength: float = 1.0
