"""The toolset `memories`."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from memory_server.domain.memory import Caller, Filter, Memory, MemoryChange, MemoryDraft, MemoryId, Stored
from memory_server.domain.ranking import Hit
from memory_server.services.memories import Detailed, Found, MemoryService, Statistics
from memory_server.tools.answers import Answer, SupersededBy, absent
from memory_server.tools.fields import (
    Content,
    Id,
    Ids,
    Importance,
    Metadata,
    Project,
    QueryText,
    RelatedTo,
    Tags,
    Type,
)
from memory_server.tools.tool import DESTROYS, READS, WRITES, Tool


class StoredMemory(Answer):
    id: int
    type: str
    importance: int
    project: str | None
    consolidated: bool
    embedding_queued: bool = Field(serialization_alias="embeddingQueued")
    similar: list[int]
    superseded_by: SupersededBy = None

    @classmethod
    def from_domain(cls, stored: Stored) -> Self:
        return cls(
            id=stored.memory.id,
            type=stored.memory.type,
            importance=stored.memory.importance,
            project=stored.memory.project,
            consolidated=stored.consolidated,
            embedding_queued=stored.embedding_queued,
            similar=list(stored.similar),
            superseded_by=stored.memory.superseded_by,
        )


class WhyFound(Answer):
    words: float
    meaning: float
    decay: float
    edge: Annotated[str | None, Field(exclude_if=absent)] = None


class FoundMemory(Answer):
    id: int
    content: str
    type: str
    tags: list[str]
    project: str | None
    importance: int
    created_at: str
    score: float
    why: WhyFound
    superseded_by: SupersededBy = None

    @classmethod
    def from_domain(cls, hit: Hit) -> Self:
        why = WhyFound(
            words=round(hit.why.words, 3),
            meaning=round(hit.why.meaning, 3),
            decay=round(hit.why.decay, 2),
            edge=hit.why.edge,
        )
        return cls(**_shared(hit.memory), score=round(hit.score, 4), why=why)


class SearchResults(Answer):
    results: list[FoundMemory]
    embedder: str
    degraded: Annotated[str | None, Field(exclude_if=absent)] = None

    @classmethod
    def from_domain(cls, found: Found) -> Self:
        results = [FoundMemory.from_domain(hit) for hit in found.hits]
        return cls(results=results, embedder=found.embedder, degraded=found.degraded)


class WholeMemory(Answer):
    id: int
    content: str
    type: str
    tags: list[str]
    project: str | None
    importance: int
    created_at: str
    metadata: dict[str, Any]
    access_count: int
    updated_at: str
    accessed_at: str | None
    created_by: str | None
    superseded_by: SupersededBy = None
    earlier: Annotated[list[str], Field(default_factory=list, exclude_if=absent)]

    @classmethod
    def from_domain(cls, memory: Memory, earlier: tuple[str, ...] = ()) -> Self:
        return cls(
            **_shared(memory),
            metadata=dict(memory.metadata),
            access_count=memory.access_count,
            updated_at=memory.updated_at,
            accessed_at=memory.accessed_at,
            created_by=memory.created_by,
            earlier=list(earlier),
        )


class MemoriesRead(Answer):
    memories: list[WholeMemory]
    missing: list[int]

    @classmethod
    def from_domain(cls, details: list[Detailed], missing: list[MemoryId]) -> Self:
        memories = [WholeMemory.from_domain(each.memory, each.earlier) for each in details]
        return cls(memories=memories, missing=list(missing))


class Deleted(Answer):
    deleted: bool


class EmbeddingStats(Answer):
    embedder: str
    embedded: int
    waiting: int
    problem: Annotated[str | None, Field(exclude_if=absent)] = None


class MemoryStats(Answer):
    total: int
    by_type: dict[str, int]
    by_project: dict[str, int]
    embeddings: EmbeddingStats
    database_bytes: int

    @classmethod
    def from_domain(cls, found: Statistics) -> Self:
        coverage = found.coverage
        return cls(
            total=found.total,
            by_type=dict(found.by_type),
            by_project=dict(found.by_project),
            embeddings=EmbeddingStats(
                embedder=coverage.embedder,
                embedded=coverage.embedded,
                waiting=coverage.waiting,
                problem=coverage.problem,
            ),
            database_bytes=found.size,
        )


def _shared(memory: Memory) -> dict[str, Any]:
    return {
        "id": memory.id,
        "content": memory.content,
        "type": memory.type.value,
        "tags": list(memory.tags),
        "project": memory.project,
        "importance": memory.importance,
        "created_at": memory.created_at,
        "superseded_by": memory.superseded_by,
    }


@dataclass(frozen=True, slots=True)
class MemoryTools:
    """Typed knowledge: store it, find it by words and meaning, forget it."""

    memories: MemoryService
    default_project: str | None = None
    session: str | None = None

    def tools(self) -> list[Tool]:
        return [
            Tool(self.memory_store, WRITES),
            Tool(self.memory_search, READS),
            Tool(self.memory_get, READS),
            Tool(self.memory_update, DESTROYS),
            Tool(self.memory_delete, DESTROYS),
            Tool(self.memory_stats, READS),
        ]

    def memory_store(
        self,
        content: Content,
        type: Type,
        project: Annotated[Project | None, Field(description="default: this one; '' = none")] = None,
        tags: Tags = [],  # noqa: B006 - never changed
        importance: Importance = 5,
        related_to: RelatedTo = None,
        metadata: Metadata | None = None,
        *,
        caller: Caller,
    ) -> StoredMemory:
        """Remember one piece of knowledge. A restatement of the same project and type merges (consolidated); `similar` lists ids close in wording that say something else: update or delete those it outdates."""
        draft = MemoryDraft(
            content,
            type,
            self.default_project if project is None else project or None,
            tuple(tags),
            importance,
            metadata,
        )
        writer = Caller(caller.client, self.session)
        return StoredMemory.from_domain(
            self.memories.store(draft, None if related_to is None else MemoryId(related_to), writer)
        )

    def memory_search(
        self,
        query: QueryText,
        type: Type | None = None,
        project: Annotated[Project | None, Field(description="default: all; '' = none")] = None,
        tags: Annotated[Tags, Field(description="any of these")] = [],  # noqa: B006 - never changed
        min_importance: Annotated[Importance | None, Field(alias="minImportance")] = None,
        limit: Annotated[int, Field(ge=1, le=50, strict=True)] = 10,
        mode: Literal["hybrid", "semantic", "keyword"] = "hybrid",
    ) -> SearchResults:
        """Find memories by words and meaning, best first, in English or Chinese and across both. A score below 0.15 is seldom an answer."""
        wanted = Filter(type, project, tuple(tags), min_importance)
        return SearchResults.from_domain(self.memories.search(query, wanted, limit, mode))

    def memory_get(self, ids: Ids) -> MemoriesRead:
        """Read memories whole, with earlier texts that were merged or rewritten."""
        return MemoriesRead.from_domain(*self.memories.get([MemoryId(id) for id in ids]))

    def memory_update(
        self,
        id: Id,
        content: Content | None = None,
        type: Type | None = None,
        tags: Tags | None = None,
        importance: Importance | None = None,
        project: Annotated[Project | None, Field(description="'' = none")] = None,
        metadata: Metadata | None = None,
    ) -> WholeMemory:
        """Change the given fields of a memory; the old text is kept as history."""
        wanted = MemoryChange(
            content, type, project, None if tags is None else tuple(tags), importance, metadata
        )
        return WholeMemory.from_domain(self.memories.update(MemoryId(id), wanted))

    def memory_delete(self, id: Id) -> Deleted:
        """Forget a memory for good: text, history, edges and embedding."""
        self.memories.forget(MemoryId(id))
        return Deleted(deleted=True)

    def memory_stats(
        self, project: Annotated[Project | None, Field(description="default: all")] = None
    ) -> MemoryStats:
        """Counts by type and project, embedding coverage, database size."""
        return MemoryStats.from_domain(self.memories.statistics(project))
