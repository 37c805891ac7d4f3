"""The toolset `memories`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from memory_server.answers.answer import Answer, field, rounded
from memory_server.domain import trust
from memory_server.domain.caller import Caller
from memory_server.domain.memory import Filter, MemoryChange, MemoryDraft, MemoryId, Similar
from memory_server.domain.ranking import Hit, Why
from memory_server.errors import Invalid
from memory_server.mcp.tool import DESTROYS, READS, WRITES, Tool
from memory_server.mcp.tools.answers import (
    DEGRADED,
    DELETION,
    ORIGIN,
    SUPERSEDED_BY,
    Deletion,
    cut,
    degraded,
    refuse_both,
    to_minutes,
)
from memory_server.mcp.tools.fields import (
    Content,
    Contents,
    Id,
    Ids,
    Importance,
    Limit,
    Metadata,
    NamedType,
    Occurred,
    Project,
    Purge,
    RelatedTo,
    SearchText,
    Session,
    Since,
    Summarized,
    Supersedes,
    Tags,
    Type,
    Undo,
    Until,
)
from memory_server.mcp.tools.stored import STORED_ALL, StoredAll, shown
from memory_server.mcp.workload import ProcessLoad
from memory_server.services.coverage import Coverage
from memory_server.services.memories import Detailed, MemoryService, Read, Statistics, Updated
from memory_server.services.search import SearchResult, SearchService

DEFAULT_LIMIT = 10

USUAL = 5
"""The importance of a memory whose writer says none: it is not shown."""

SHOWN = 120
"""Characters of a similar memory that are shown."""


def _cut(text: str) -> str:
    return cut(text, SHOWN)


def _handle(id: MemoryId | str) -> MemoryId | str:
    return id


def _same(id: MemoryId | str) -> str:
    return (
        f"Memory {id} says the same. Delete one of the two."
        if isinstance(id, int)
        else f"{id} says the same."
    )


@dataclass(frozen=True, slots=True)
class Reasons:
    """The reasons for a hit. The numbers are shown only on request, and where the answer is degraded."""

    also: tuple[str, ...]
    edge: str | None
    words: float | None = None
    meaning: float | None = None
    decay: float | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """A hit; `project` is None where it is the caller's own."""

    hit: Hit
    project: str | None
    why: Reasons | None


@dataclass(frozen=True, slots=True)
class Results:
    """The results of a search, with what a reader should know of it."""

    results: list[Result]
    found: SearchResult


def results_of(search: SearchResult, explain: bool) -> Results:
    """Hits need not name the caller's own project; `explain` shows why each was found."""
    explain |= bool(search.degraded)
    results = []
    for hit in search.hits:
        project = None if hit.memory.project == search.own_project else hit.memory.project
        results.append(Result(hit, project, _reasons(hit.why, explain)))
    return Results(results, search)


def _reasons(why: Why, explain: bool) -> Reasons | None:
    if explain:
        return Reasons(why.also, why.edge, why.words, why.meaning, why.decay)
    return Reasons((), why.edge) if why.edge else None


SIMILAR = Answer(
    Similar,
    field("memory.id", _handle),
    field("memory.content", _cut),
    field("differs", usual=""),
    field("part", usual=""),
    SUPERSEDED_BY,
    ORIGIN,
)
REASONS = Answer(
    Reasons,
    *(field(f"{name}?", rounded) for name in ("words", "meaning", "decay")),
    "also? edge?",
)
RESULT = Answer(
    Result,
    "hit.memory.id hit.content hit.memory.type hit.memory.tags? project?",
    field("hit.memory.importance", usual=USUAL),
    field("hit.memory.created_at", to_minutes),
    field("occurred_at?=hit.memory.occurred_before", to_minutes),
    "hit.part?",
    field("hit.score", rounded),
    field("why?", REASONS),
    field("origin?=hit.memory.origin", trust.outside),
    "hit.memory.superseded_by? hit.maybe_supersedes? now?=hit.remark hit.linked?",
)
"""A hit, in few tokens: without what is empty, usual, or the caller's own."""
RESULTS = Answer(
    Results,
    field("results", RESULT),
    "found.embedder found.note?",
    field("found.degraded?", degraded),
)
WHOLE = (
    "memory.id memory.content memory.type memory.tags memory.project memory.importance memory.created_at",
    "occurred_at?=memory.occurred_before memory.metadata memory.access_count memory.updated_at",
    "memory.accessed_at memory.created_by memory.superseded_by?",
    field("origin?=memory.origin", trust.told_origin),
    "earlier?",
)
DETAILED = Answer(Detailed, *WHOLE)
UPDATED = Answer(Updated, *WHOLE, field("similar?", SIMILAR), field("note?=same_as", _same))
READ = Answer(Read, field("memories", DETAILED), "missing", DEGRADED)
COVERAGE = Answer(Coverage, "embedder embedded waiting", field("problem?", degraded))


@dataclass(frozen=True, slots=True)
class Counted:
    """The counts of the file, and the work of this process: no person among several is told that."""

    statistics: Statistics
    load: ProcessLoad | None


LOAD = Answer(
    ProcessLoad,
    field("writes=workload.writes", usual={}),
    field("failed_reads=workload.failed_reads", usual=0),
    field("failed_writes=workload.failed_writes", usual=0),
    field("triggers", usual=0),
    field("trigger_seconds", usual=0),
    field("engine_restarts", usual=0),
    "cpu_seconds",
)
COUNTED = Answer(
    Counted,
    "statistics.total statistics.by_type statistics.by_project",
    field("embeddings=statistics.coverage", COVERAGE),
    "database_bytes?=statistics.size",
    field("problems=statistics.jobs", usual={}),
    field("since_start?=load", LOAD),
    "note?=statistics.note",
)


@dataclass(frozen=True, slots=True)
class DeletedMemory(Deletion):
    restored: Detailed | None = None


DELETED_MEMORY = Answer(DeletedMemory, *DELETION, field("restored?", DETAILED))


@dataclass(frozen=True, slots=True)
class MemoryTools:
    """Typed knowledge: store it, find it by words and meaning, delete it."""

    memories: MemoryService
    search: SearchService
    load: Callable[[], ProcessLoad]

    def tools(self) -> list[Tool]:
        return [
            Tool(self.memory_store, WRITES, "Store a memory", always=True),
            Tool(
                self.memory_search,
                READS,
                "Search memories",
                "find notes decisions preferences by filter 搜索",
            ),
            Tool(self.memory_get, READS, "Read memories", "read whole note history 读取"),
            Tool(self.memory_update, DESTROYS, "Change a memory", "correct edit a note 更新"),
            Tool(self.memory_delete, DESTROYS, "Delete a memory", "remove a note 删除"),
            Tool(self.memory_stats, READS, "Count memories", "how many notes, health, size 统计"),
        ]

    def memory_store(
        self,
        content: Contents,
        type: Type,
        project: Annotated[Project | None, Field(description="'' = about the user, for all projects")] = None,
        tags: Tags = [],  # noqa: B006 - never changed
        importance: Importance = 5,
        related_to: RelatedTo = None,
        supersedes: Supersedes = None,
        metadata: Metadata | None = None,
        occurred_at: Occurred | None = None,
        session: Session | None = None,
        summarizes: Summarized = [],  # noqa: B006 - never changed
        *,
        caller: Caller,
    ) -> Annotated[StoredAll, STORED_ALL]:
        """Store one statement in words. A value that people ask for by name: write_memory. Merged if one says the same. `similar`: close ones, differences (theirs → yours), `part` to replace by memory_update. `maybe_supersedes`: confirm with supersedes."""
        where = caller.project.key if project is None else project
        texts = content if isinstance(content, list) else [content]
        if len(texts) > 1 and supersedes is not None:
            raise Invalid("`content` has several entries: store the one that supersedes on its own.")
        drafts = [
            MemoryDraft(text, type, where or None, tuple(tags), importance, metadata, occurred_at, session)
            for text in texts
        ]
        related = None if related_to is None else MemoryId(related_to)
        older = (
            ()
            if supersedes is None
            else (MemoryId(supersedes) if isinstance(supersedes, int) else supersedes,)
        )
        summarized = list(map(MemoryId, summarizes))
        for draft in drafts[1:]:
            self.memories.check(draft)
        return shown([self.memories.store(draft, related, caller, summarized, older) for draft in drafts])

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
        until: Until | None = None,
        offset: Annotated[int, Field(ge=0, le=100_000, strict=True)] = 0,
        explain: bool = False,
        *,
        caller: Caller,
    ) -> Annotated[Results, RESULTS]:
        """Find memories alone, with filters; recall searches all kinds. Best first. score: the probability that the memory answers; note tells when none does."""
        filters = Filter(type, project, tuple(tags), min_importance, since, until)
        found = self.search.search(
            query,
            filters,
            limit or DEFAULT_LIMIT,
            mode,
            offset=offset,
            likely=limit is None,
            caller=caller,
        )
        return results_of(found, explain)

    def memory_get(self, ids: Ids) -> Annotated[Read, READ]:
        """Read whole memories by id, with their earlier texts."""
        return self.memories.get([MemoryId(id) for id in ids])

    def memory_update(
        self,
        id: Id,
        content: Content | None = None,
        type: NamedType | None = None,
        tags: Tags | None = None,
        importance: Importance | None = None,
        project: Annotated[Project | None, Field(description="'' = the user's")] = None,
        metadata: Metadata | None = None,
        *,
        caller: Caller,
    ) -> Annotated[Updated, UPDATED]:
        """Correct a memory. What has changed in the world: memory_store with supersedes."""
        change = MemoryChange(
            content, type, project, None if tags is None else tuple(tags), importance, metadata
        )
        return self.memories.update(MemoryId(id), change, caller)

    def memory_delete(
        self, id: Id, undo: Undo = False, purge: Purge = False, *, caller: Caller
    ) -> Annotated[DeletedMemory, DELETED_MEMORY]:
        """Delete a memory with its history and edges; forget deletes any kind. It can be restored for 30 days."""
        refuse_both(undo=undo, purge=purge)
        if undo:
            return DeletedMemory(restored=self.memories.restore(MemoryId(id)))
        return DeletedMemory(self.memories.forget(MemoryId(id), purge, caller))

    def memory_stats(
        self, project: Annotated[Project | None, Field(description="default: all")] = None, *, caller: Caller
    ) -> Annotated[Counted, COUNTED]:
        """Count memories by type and project; embedding coverage, database size, problems."""
        statistics = self.memories.statistics(project, caller)
        return Counted(statistics, None if caller.person else self.load())
