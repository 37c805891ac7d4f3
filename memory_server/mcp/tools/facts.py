"""The toolset `facts`."""

from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field

from memory_server.domain.caller import Caller
from memory_server.domain.fact import WILDCARD, FactDraft, Scope
from memory_server.errors import Invalid, Mend
from memory_server.mcp.tool import DESTROYS, READS, WRITES, Tool
from memory_server.mcp.tools.answers import Deletion, degraded, refuse_both
from memory_server.mcp.tools.fact_answers import (
    Change,
    FactDeleted,
    FactRead,
    FactsListed,
    FactsRead,
    FactWritten,
    Resume,
)
from memory_server.mcp.tools.fact_fields import FactTags, Key, Parts, PathOrId, Pattern, Ttl, Value, Version
from memory_server.mcp.tools.fields import Moment, Purge, Undo
from memory_server.services import projects
from memory_server.services.facts import FactService
from memory_server.services.resume import ResumeService, Wording

LISTED = 100
"""Most facts or versions that a read returns: more would fill a model's context."""

WORDING = Wording("`list_memories`, `memory_search`", Resume.overhead)
"""How a briefing says where to read more, and what its answer costs besides."""


@dataclass(frozen=True, slots=True)
class FactTools:
    """Exact values under keys, and the briefing of a session."""

    facts: FactService
    resume: ResumeService

    def tools(self) -> list[Tool]:
        return [
            Tool(self.write_memory, WRITES),
            Tool(self.read_memory, READS),
            Tool(self.list_memories, READS),
            Tool(self.delete_memory, DESTROYS),
            Tool(self.smart_resume, READS, always=True),
        ]

    def write_memory(
        self,
        key: Annotated[Key, Field(description="dotted, e.g. current.task")],
        value: Value,
        scope: Scope = Scope.PROJECT,
        ttl: Annotated[Ttl | None, Field(description="seconds")] = None,
        tags: FactTags = [],  # noqa: B006 - never changed
        expected_version: Annotated[
            Version | None,
            Field(
                alias="expectedVersion",
                description="refuse the write unless this is the current version; 0 = no value",
            ),
        ] = None,
        *,
        caller: Caller,
    ) -> FactWritten:
        """Write an exact JSON value under a key; replaces the value, tags and ttl it had. smart_resume reports keys that start with current. (task, blockers), project. (decisions), discovered., shared., ai.NAME."""
        draft = FactDraft(key, value, tuple(tags), ttl, expected_version)
        return FactWritten.of(self.facts.write(draft, scope, caller))

    def read_memory(
        self,
        key: Annotated[Key | None, Field(description="* = any text")] = None,
        pattern: Pattern | None = None,
        scope: Scope | None = None,
        tags: FactTags = [],  # noqa: B006 - never changed
        history: Annotated[bool, Field(description="all versions")] = False,
        at: Annotated[Moment | None, Field(description="ISO time: the value at this time")] = None,
        *,
        caller: Caller,
    ) -> FactsRead:
        """Read the value of a key, or list those of a pattern, scope or tags. Without scope: the first of session, project, shared, global that has the key."""
        if key is not None and pattern is None and (WILDCARD not in key or history or at is not None):
            return self._read_key(key, scope, tuple(tags), history, at, caller)
        if (key is not None and pattern is not None) or not (key or pattern or scope or tags):
            raise Invalid("Give either `key`, or `pattern`, `scope` or `tags`.", Mend.LIST_FACTS)
        if history or at is not None:
            raise Invalid("`history` and `at` need a `key`.")
        found = self.facts.read_matching(pattern or key or WILDCARD, scope, tuple(tags), LISTED, caller)
        listed = FactsListed.of(found)
        return FactsRead(memories=listed.memories, more=listed.more, degraded=listed.degraded)

    def _read_key(
        self,
        key: str,
        scope: Scope | None,
        tags: tuple[str, ...],
        history: bool,
        at: Moment | None,
        caller: Caller,
    ) -> FactsRead:
        if history and at is not None:
            raise Invalid("Give either `history` or `at`.")
        if history:
            past = self.facts.history(key, scope, LISTED, caller)
            return FactsRead(
                history=[Change.of(change) for change in past.changes], degraded=degraded(past.degraded)
            )
        if at is not None:
            return FactsRead(memory=FactRead.of_past(self.facts.value_at(key, scope, at, caller)))
        fact = self.facts.read(key, scope, tags, caller)
        return FactsRead(memory=FactRead.of(fact) if fact else None)

    def list_memories(
        self,
        scope: Scope | None = None,
        pattern: Pattern = "*",
        tags: FactTags = [],  # noqa: B006 - never changed
        limit: Annotated[int, Field(ge=1, le=500, strict=True)] = 50,
        *,
        caller: Caller,
    ) -> FactsListed:
        """List facts by key. `more` counts those that are left out."""
        return FactsListed.of(self.facts.select(pattern, scope, tuple(tags), limit, caller))

    def delete_memory(
        self,
        key: Key,
        scope: Scope | None = None,
        undo: Undo = False,
        purge: Purge = False,
        *,
        caller: Caller,
    ) -> FactDeleted:
        """Delete the value that read_memory returns for this key. It can be restored for 30 days; purge erases its history too."""
        refuse_both(undo=undo, purge=purge)
        if undo:
            restored = self.facts.undelete(key, scope, caller)
            return FactDeleted(deleted=False, scope=restored.home.scope, restored=FactRead.of(restored))
        if purge:
            where, forgotten = self.facts.purge(key, scope, caller)
            return FactDeleted(**Deletion.told(forgotten, purge), scope=where)
        gone, forgotten = self.facts.delete(key, scope, caller)
        return FactDeleted(**Deletion.told(forgotten, purge), scope=gone.home.scope if gone else None)

    def smart_resume(
        self,
        project_path: PathOrId | None = None,
        session_id: PathOrId | None = None,
        max_tokens: Annotated[int, Field(ge=50, le=8000, strict=True)] = 500,
        include_context: Parts = [],  # noqa: B006 - never changed
        *,
        caller: Caller,
    ) -> Resume:
        """Call this first in a session: blockers, current work, last session, decisions, discoveries, conventions."""
        project = projects.asked(project_path, caller) if project_path else caller.project
        asked = replace(caller, project=project, session=session_id or caller.session)
        return Resume.of(self.resume.resume(max_tokens, frozenset(include_context), WORDING, asked))
