"""The toolset `memories`."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field

from memory_server.domain.caller import Caller
from memory_server.domain.memory import Filter, MemoryChange, MemoryDraft, MemoryId
from memory_server.mcp.tool import DESTROYS, READS, WRITES, Tool
from memory_server.mcp.tools.answers import (
    OPTIONAL,
    Answer,
    Degraded,
    Deletion,
    MemoryAnswer,
    Minutes,
    OptionalNumber,
    OptionalText,
    SupersededBy,
    absent,
    cut,
    part,
    refuse_both,
    rounded,
)
from memory_server.mcp.tools.fields import (
    Content,
    Id,
    Ids,
    Importance,
    Limit,
    Metadata,
    Occurred,
    Project,
    Purge,
    RelatedTo,
    SearchText,
    Session,
    Since,
    Supersedes,
    Tags,
    Type,
    Undo,
)
from memory_server.services.memories import MemoryService
from memory_server.services.search import Found, SearchService


def _of_memory(name: str) -> Any:
    """A field of the memory in the object that a service returned."""
    return part("memory", name)


class SimilarMemory(Answer):
    id: Annotated[int, _of_memory("id")]
    content: Annotated[str, _of_memory("content"), AfterValidator(lambda text: cut(text, SHOWN))]
    differs: Annotated[str, Field(exclude_if=lambda value: not value)]
    superseded_by: SupersededBy = None


class StoredMemory(Answer):
    id: Annotated[int, _of_memory("id")]
    type: Annotated[str, _of_memory("type")]
    importance: Annotated[int, _of_memory("importance")]
    project: Annotated[str | None, _of_memory("project")]
    consolidated: bool
    embedding_queued: Annotated[bool, Field(serialization_alias="embeddingQueued")]
    similar: list[SimilarMemory]
    maybe_supersedes: Annotated[list[int], Field(default_factory=list, exclude_if=absent)]


class WhyFound(Answer):
    words: Annotated[float | None, rounded(2), OPTIONAL] = None
    meaning: Annotated[float | None, rounded(2), OPTIONAL] = None
    decay: Annotated[float | None, rounded(2), OPTIONAL] = None
    also: Annotated[list[str], Field(default_factory=list, exclude_if=absent)]
    edge: OptionalText = None


class LinkedMemory(Answer):
    id: int
    relation: str
    content: str


class ShownMemory(MemoryAnswer):
    tags: Annotated[list[str], _of_memory("tags")]
    project: Annotated[str | None, _of_memory("project")]
    importance: Annotated[int, _of_memory("importance")]
    created_at: Annotated[str, _of_memory("created_at")]
    occurred_at: Annotated[OptionalText, _of_memory("occurred_before")] = None


class FoundMemory(ShownMemory):
    """A hit, in few tokens: without what is empty, usual, or the caller's own."""

    content: str
    tags: Annotated[list[str], OPTIONAL, _of_memory("tags")]
    project: Annotated[OptionalText, _of_memory("project")] = None
    importance: Annotated[int, Field(exclude_if=lambda value: value == USUAL), _of_memory("importance")]
    created_at: Annotated[str, Minutes, _of_memory("created_at")]
    occurred_at: Annotated[OptionalText, Minutes, _of_memory("occurred_before")] = None
    part: OptionalText = None
    score: Annotated[float, rounded(2)]
    why: Annotated[WhyFound | None, OPTIONAL] = None
    superseded_by: SupersededBy = None
    linked: Annotated[list[LinkedMemory], Field(default_factory=list, exclude_if=absent)]


class SearchResults(Answer):
    results: Annotated[list[FoundMemory], Field(validation_alias="hits")]
    embedder: str
    note: OptionalText = None
    degraded: Degraded = None

    @classmethod
    def shown(cls, found: Found, explain: bool) -> Self:
        """Hits need not name the caller's own project; `explain` shows why each was found."""
        answer = cls.of(found)
        for hit in answer.results:
            if hit.project == found.own_project:
                hit.project = None
            if not explain and not found.degraded:
                hit.why = WhyFound(also=[], edge=hit.why.edge) if hit.why and hit.why.edge else None
        return answer


class WholeMemory(ShownMemory):
    content: Annotated[str, _of_memory("content")]
    metadata: Annotated[dict[str, Any], _of_memory("metadata")]
    access_count: Annotated[int, _of_memory("access_count")]
    updated_at: Annotated[str, _of_memory("updated_at")]
    accessed_at: Annotated[str | None, _of_memory("accessed_at")]
    created_by: Annotated[str | None, _of_memory("created_by")]
    superseded_by: SupersededBy = None
    earlier: Annotated[list[str], Field(default_factory=list, exclude_if=absent)]


def _same(id: object) -> object:
    return id and f"Memory {id} says the same. Delete one of the two."


class UpdatedMemory(WholeMemory):
    similar: Annotated[list[SimilarMemory], Field(default_factory=list, exclude_if=absent)]
    note: Annotated[OptionalText, Field(validation_alias="same_as"), BeforeValidator(_same)] = None


class MemoriesRead(Answer):
    memories: Annotated[list[WholeMemory], Field(validation_alias="found")]
    missing: list[int]
    degraded: Degraded = None


class DeletedMemory(Deletion):
    restored: Annotated[WholeMemory | None, OPTIONAL] = None


class EmbeddingStats(Answer):
    embedder: str
    embedded: int
    waiting: int
    problem: Degraded = None


class MemoryStats(Answer):
    total: int
    by_type: dict[str, int]
    by_project: dict[str, int]
    embeddings: Annotated[EmbeddingStats, Field(validation_alias="coverage")]
    database_bytes: Annotated[OptionalNumber, Field(validation_alias="size")] = None
    problems: Annotated[
        dict[str, str],
        Field(default_factory=dict, exclude_if=lambda value: not value, validation_alias="jobs"),
    ]
    note: OptionalText = None


DEFAULT_LIMIT = 10

USUAL = 5
"""The importance of a memory whose writer says none: it is not shown."""

SHOWN = 120
"""Characters of a similar memory that are shown."""


@dataclass(frozen=True, slots=True)
class MemoryTools:
    """Typed knowledge: store it, find it by words and meaning, delete it."""

    memories: MemoryService
    search: SearchService

    def tools(self) -> list[Tool]:
        return [
            Tool(self.memory_store, WRITES, always=True),
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
        project: Annotated[
            Project | None, Field(description="default: this one; '' = about the user, for all projects")
        ] = None,
        tags: Tags = [],  # noqa: B006 - never changed
        importance: Importance = 5,
        related_to: RelatedTo = None,
        supersedes: Supersedes = None,
        metadata: Metadata | None = None,
        occurred_at: Occurred | None = None,
        session: Session | None = None,
        summarizes: Annotated[
            list[Id], Field(max_length=100, description="ids that it stands for in briefings")
        ] = [],  # noqa: B006 - never changed
        *,
        caller: Caller,
    ) -> StoredMemory:
        """Store one piece of knowledge. If a memory of the same project and type says the same, both are merged (consolidated). `similar`: close memories and what differs (theirs → yours). `maybe_supersedes`: it may replace these; confirm with graph_connect."""
        where = caller.project.key if project is None else project
        draft = MemoryDraft(
            content, type, where or None, tuple(tags), importance, metadata, occurred_at, session
        )
        related, replaced = (None if id is None else MemoryId(id) for id in (related_to, supersedes))
        summarized = list(map(MemoryId, summarizes))
        return StoredMemory.of(self.memories.store(draft, related, caller, summarized, replaced))

    def memory_search(
        self,
        query: Annotated[SearchText, Field(description="'' lists the newest")],
        type: Type | None = None,
        project: Annotated[
            Project | None,
            Field(description="default: all, this one first; '*' = all equally; '' = the user's"),
        ] = None,
        tags: Annotated[Tags, Field(description="any of these")] = [],  # noqa: B006 - never changed
        min_importance: Annotated[Importance | None, Field(alias="minImportance")] = None,
        limit: Annotated[Limit | None, Field(description="default: up to 10 likely ones")] = None,
        mode: Literal["hybrid", "semantic", "keyword"] = "hybrid",
        since: Since | None = None,
        until: Since | None = None,
        offset: Annotated[int, Field(ge=0, le=100_000, strict=True)] = 0,
        explain: Annotated[bool, Field(description="say why")] = False,
        *,
        caller: Caller,
    ) -> SearchResults:
        """Find memories by words and meaning, best first. Ask in your own words, in English or Chinese; several questions in one are answered together. score: the probability that the memory answers."""
        wanted = Filter(type, project, tuple(tags), min_importance, since, until)
        found = self.search.search(
            query,
            wanted,
            limit or DEFAULT_LIMIT,
            mode,
            offset=offset,
            likely=limit is None,
            caller=caller,
        )
        return SearchResults.shown(found, explain)

    def memory_get(self, ids: Ids) -> MemoriesRead:
        """Read whole memories by id, with the earlier texts of those that were merged or rewritten."""
        return MemoriesRead.of(self.memories.get([MemoryId(id) for id in ids]))

    def memory_update(
        self,
        id: Id,
        content: Content | None = None,
        type: Type | None = None,
        tags: Tags | None = None,
        importance: Importance | None = None,
        project: Annotated[Project | None, Field(description="'' = the user's")] = None,
        metadata: Metadata | None = None,
        *,
        caller: Caller,
    ) -> UpdatedMemory:
        """Change the given fields of a memory. The old text is kept as history."""
        wanted = MemoryChange(
            content, type, project, None if tags is None else tuple(tags), importance, metadata
        )
        return UpdatedMemory.of(self.memories.update(MemoryId(id), wanted, caller))

    def memory_delete(
        self, id: Id, undo: Undo = False, purge: Purge = False, *, caller: Caller
    ) -> DeletedMemory:
        """Delete a memory with its history and edges. It can be restored for 30 days; purge when the user wants it gone."""
        refuse_both(undo=undo, purge=purge)
        if undo:
            return DeletedMemory(deleted=False, restored=WholeMemory.of(self.memories.restore(MemoryId(id))))
        return DeletedMemory(**Deletion.told(self.memories.forget(MemoryId(id), purge, caller), purge))

    def memory_stats(
        self, project: Annotated[Project | None, Field(description="default: all")] = None, *, caller: Caller
    ) -> MemoryStats:
        """Count memories by type and project; report embedding coverage, database size and problems."""
        return MemoryStats.of(self.memories.statistics(project, caller))
