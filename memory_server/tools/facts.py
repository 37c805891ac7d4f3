"""The toolset `facts`."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from memory_server.domain.fact import FactDraft, Scope
from memory_server.domain.memory import Caller
from memory_server.errors import Invalid
from memory_server.services.facts import FactService
from memory_server.services.resume import ResumeService
from memory_server.tools.fact_answers import (
    Change,
    FactDeleted,
    FactRead,
    FactsListed,
    FactsRead,
    FactWritten,
    Resume,
)
from memory_server.tools.fact_fields import FactTags, Key, Moment, Pattern, Place, Ttl, Value, Version
from memory_server.tools.tool import DESTROYS, READS, WRITES, Tool

LISTED = 100
"""So many facts or versions at most that a read answers."""


@dataclass(frozen=True, slots=True)
class FactTools:
    """Exact values under keys, and the briefing of a new session."""

    facts: FactService
    resume: ResumeService

    def tools(self) -> list[Tool]:
        return [
            Tool(self.write_memory, WRITES),
            Tool(self.read_memory, READS),
            Tool(self.list_memories, READS),
            Tool(self.delete_memory, DESTROYS),
            Tool(self.smart_resume, READS),
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
            Field(alias="expectedVersion", description="refuse unless this is current; 0 = no value"),
        ] = None,
        *,
        caller: Caller,
    ) -> FactWritten:
        """Keep an exact JSON value under a key; replaces value, tags and ttl. smart_resume tells keys that begin with current. (task, blockers), project. (decisions), discovered., shared., ai.NAME."""
        draft = FactDraft(key, value, tuple(tags), ttl, expected_version)
        return FactWritten.from_domain(self.facts.write(draft, scope, self._writer(caller)))

    def read_memory(
        self,
        key: Key | None = None,
        pattern: Annotated[Pattern | None, Field(description="* = any text")] = None,
        scope: Scope | None = None,
        tags: FactTags = [],  # noqa: B006 - never changed
        history: Annotated[bool, Field(description="all versions")] = False,
        at: Annotated[Moment | None, Field(description="ISO time: the value then")] = None,
    ) -> FactsRead:
        """Read a key, or all that fit a pattern. Without scope: session, project, shared, global, the first that has it."""
        if key is not None and pattern is None:
            return self._read_key(key, scope, tuple(tags), history, at)
        if key is not None or (pattern is None and not tags):
            raise Invalid(
                "Give either `key`, or `pattern` or `tags`. To see what there is, call `list_memories`."
            )
        if history or at is not None:
            raise Invalid("`history` and `at` need a `key`.")
        found = self.facts.read_matching(pattern or "*", scope, tuple(tags), LISTED)
        listed = FactsListed.from_domain(*found)
        return FactsRead(memories=listed.memories, more=listed.more)

    def _read_key(
        self, key: str, scope: Scope | None, tags: tuple[str, ...], history: bool, at: Moment | None
    ) -> FactsRead:
        if history and at is not None:
            raise Invalid("Give either `history` or `at`.")
        if history:
            changes = self.facts.history(key, scope, LISTED)
            return FactsRead(history=[Change.from_domain(change) for change in changes])
        if at is not None:
            then = self.facts.value_at(key, scope, at)
            return FactsRead(memory=FactRead.from_past(then) if then else None)
        fact = self.facts.read(key, scope, tags)
        return FactsRead(memory=FactRead.from_domain(fact) if fact else None)

    def list_memories(
        self,
        scope: Scope | None = None,
        pattern: Pattern = "*",
        tags: FactTags = [],  # noqa: B006 - never changed
        limit: Annotated[int, Field(ge=1, le=500, strict=True)] = 50,
    ) -> FactsListed:
        """List facts by key; `more` counts what is left out."""
        return FactsListed.from_domain(*self.facts.select(pattern, scope, tuple(tags), limit))

    def delete_memory(
        self,
        key: Key,
        scope: Scope | None = None,
        undo: Annotated[bool, Field(description="bring it back")] = False,
        *,
        caller: Caller,
    ) -> FactDeleted:
        """Delete the fact that read_memory gives. Its history stays."""
        if undo:
            restored = self.facts.undelete(key, scope, self._writer(caller))
            return FactDeleted(
                deleted=False, scope=restored.home.scope, restored=FactRead.from_domain(restored)
            )
        gone = self.facts.delete(key, scope, self._writer(caller))
        return FactDeleted(deleted=gone is not None, scope=gone.home.scope if gone else None)

    def smart_resume(
        self,
        project_path: Place | None = None,
        session_id: Place | None = None,
        max_tokens: Annotated[int, Field(ge=50, le=8000, strict=True)] = 500,
    ) -> Resume:
        """Call first in a session: what blocks, what is under way, what was decided, found and agreed."""
        return Resume.from_domain(self.resume.resume(project_path, session_id, max_tokens))

    def _writer(self, caller: Caller) -> Caller:
        return Caller(caller.client, self.facts.place.session)
