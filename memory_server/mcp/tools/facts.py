"""The toolset `facts`."""

from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import Field

from memory_server.domain.caller import Caller
from memory_server.domain.fact import WILDCARD, Action, FactChange, FactDraft, Scope
from memory_server.errors import Invalid, Mend
from memory_server.mcp.tool import DESTROYS, READS, WRITES, Tool
from memory_server.mcp.tools.answers import refuse_both, to_minutes
from memory_server.mcp.tools.fact_answers import (
    DELETED_FACT,
    FACT,
    FACTS,
    FACTS_READ,
    HISTORY,
    PAST_FACT,
    RESUMED,
    WRITTEN,
    DeletedFact,
    listed,
    overhead,
)
from memory_server.mcp.tools.fact_fields import (
    FactTags,
    Key,
    NamedScope,
    Parts,
    PathOrId,
    Pattern,
    Ttl,
    Value,
    Version,
)
from memory_server.mcp.tools.fields import Purge, Undo, ValueAt
from memory_server.services import projects
from memory_server.services.facts import FactService, FactsFound, WrittenFact
from memory_server.services.resume import Resumed, ResumeService, Wording

LISTED = 100
"""Most facts or versions that a read returns: more would fill a model's context."""

NEAR = 10
"""Most keys that are told for one that has no value."""

WORDING = Wording("`recall`", overhead)
"""How a briefing says where to read more, and what its answer costs besides."""


def _ended(end: FactChange) -> str:
    if end.action is Action.DELETED:
        return f"`{end.key}` was deleted {to_minutes(end.changed_at)}. `recall` finds what replaced it, if anything did."
    return f"`{end.key}` expired {to_minutes(end.expires_at or end.changed_at)}."


@dataclass(frozen=True, slots=True)
class FactTools:
    """Exact values under keys, and the briefing of a session."""

    facts: FactService
    resume: ResumeService

    def tools(self) -> list[Tool]:
        return [
            Tool(
                self.write_memory,
                WRITES,
                "Write a fact",
                "save setting number password hint task under a key 保存",
            ),
            Tool(self.read_memory, READS, "Read facts", "look up setting number task by key 读取"),
            Tool(self.list_memories, READS, "List facts", "list settings and keys 列出"),
            Tool(self.delete_memory, DESTROYS, "Delete a fact", "remove a key 删除"),
            Tool(self.smart_resume, READS, "Briefing", evaluates=True, always=True),
        ]

    def write_memory(
        self,
        key: Annotated[Key, Field(description="dotted")],
        value: Value,
        scope: Scope = Scope.PROJECT,
        ttl: Ttl | None = None,
        tags: FactTags = [],  # noqa: B006 - never changed
        expected_version: Annotated[
            Version | None,
            Field(
                alias="expectedVersion",
                description="0 = no value",
            ),
        ] = None,
        *,
        caller: Caller,
    ) -> Annotated[WrittenFact, WRITTEN]:
        """Write an exact value (number, setting, task) under a key; what it means or why: memory_store. smart_resume reports keys under current. (task, blockers), project., discovered., shared., ai.NAME."""
        draft = FactDraft(key, value, tuple(tags), ttl, expected_version)
        return self.facts.write(draft, scope, caller)

    def read_memory(
        self,
        key: Annotated[Key | None, Field(description="* = any text")] = None,
        pattern: Pattern | None = None,
        scope: NamedScope | None = None,
        tags: FactTags = [],  # noqa: B006 - never changed
        history: Annotated[bool, Field(description="versions")] = False,
        at: ValueAt | None = None,
        *,
        caller: Caller,
    ) -> Annotated[dict[str, Any], FACTS_READ]:
        """Read the value of a key, or list facts. Key unknown: recall. Without scope: the first that has the key."""
        if key is not None and pattern is None and (WILDCARD not in key or history or at is not None):
            return self._read_key(key, scope, tuple(tags), history, at, caller)
        if key is not None and pattern is not None:
            raise Invalid("Give either `key`, or `pattern`, `scope` or `tags`.", Mend.LIST_FACTS)
        if history or at is not None:
            raise Invalid("`history` and `at` need a `key`.")
        pattern = pattern or key or WILDCARD
        return FACTS.of(listed(self.facts.read_matching(pattern, scope, tuple(tags), LISTED, caller)))

    def _read_key(
        self,
        key: str,
        scope: Scope | None,
        tags: tuple[str, ...],
        history: bool,
        at: str | None,
        caller: Caller,
    ) -> dict[str, Any]:
        if history and at is not None:
            raise Invalid("Give either `history` or `at`.")
        if history:
            return HISTORY.of(self.facts.history(key, scope, LISTED, caller))
        if at is not None:
            past = self.facts.value_at(key, scope, at, caller)
            return {"memory": PAST_FACT.of(past) if past else None}
        fact = self.facts.read(key, scope, tags, caller)
        return {"memory": FACT.of(fact)} if fact else self._read_near(key, scope, tags, caller)

    def _read_near(
        self, key: str, scope: Scope | None, tags: tuple[str, ...], caller: Caller
    ) -> dict[str, Any]:
        """Read the fact whose key ends with this one: `wifi` finds `project.wifi`. Of several only the keys are told."""
        near = self.facts.select(f"*.{key}", scope, tags, NEAR, caller).facts
        keys = list(dict.fromkeys(fact.key for fact in near))
        if not keys:
            end = self.facts.end(key, scope, caller)
            return {"memory": None, **({"note": _ended(end)} if end else {})}
        names = ", ".join(f"`{name}`" for name in keys)
        if len(keys) > 1:
            return {"memory": None, "note": f"No fact `{key}`. There are: {names}."}
        fact = self.facts.read(keys[0], scope, tags, caller)
        return {"memory": fact and FACT.of(fact), "note": f"No fact `{key}`: this is {names}."}

    def list_memories(
        self,
        scope: Scope | None = None,
        pattern: Pattern = "*",
        tags: FactTags = [],  # noqa: B006 - never changed
        limit: Annotated[int, Field(ge=1, le=500, strict=True)] = 50,
        *,
        caller: Caller,
    ) -> Annotated[FactsFound, FACTS]:
        """Facts (keys and values), not memories: list them. `more` counts those left out."""
        return listed(self.facts.select(pattern, scope, tuple(tags), limit, caller))

    def delete_memory(
        self,
        key: Key,
        scope: Scope | None = None,
        undo: Undo = False,
        purge: Purge = False,
        *,
        caller: Caller,
    ) -> Annotated[DeletedFact, DELETED_FACT]:
        """Delete a fact: the value that read_memory returns for this key. It can be restored for 30 days."""
        refuse_both(undo=undo, purge=purge)
        if undo:
            restored = self.facts.undelete(key, scope, caller)
            return DeletedFact(scope=restored.home.scope, restored=restored)
        if purge:
            purged_in, forgotten = self.facts.purge(key, scope, caller)
            return DeletedFact(forgotten, purged_in)
        deleted, forgotten = self.facts.delete(key, scope, caller)
        return DeletedFact(forgotten, deleted.home.scope if deleted else None)

    def smart_resume(
        self,
        project_path: PathOrId | None = None,
        session_id: PathOrId | None = None,
        max_tokens: Annotated[int, Field(ge=50, le=8000, strict=True)] = 500,
        include_context: Parts = [],  # noqa: B006 - never changed
        *,
        caller: Caller,
    ) -> Annotated[Resumed, RESUMED]:
        """Call first in a session: blockers, current work, decisions, prompts due."""
        project = projects.asked(project_path, caller) if project_path else caller.project
        caller = replace(caller, project=project, session=session_id or caller.session)
        return self.resume.resume(max_tokens, frozenset(include_context), WORDING, caller)
