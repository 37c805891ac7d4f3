"""The JSON that reading commands print with `--json`: a contract. Moments are UTC. `tests/cli/schemas` has it.

What is not known is null; a list may be empty.
"""

from dataclasses import dataclass
from typing import Any

from memory_server.domain.calls import Calls
from memory_server.domain.change import Change, Kind
from memory_server.domain.edge import Edge
from memory_server.domain.fact import Fact, FactChange
from memory_server.domain.long_term import LongTermMemory, Wake
from memory_server.domain.memory import Memory
from memory_server.domain.ranking import Hit
from memory_server.domain.token import State, Token


@dataclass(frozen=True, slots=True)
class MemoryLine:
    id: int
    type: str
    project: str | None
    tags: tuple[str, ...]
    importance: int
    content: str
    occurred_at: str
    created_at: str
    created_by: str | None
    superseded_by: int | None

    @classmethod
    def of(cls, memory: Memory) -> "MemoryLine":
        return cls(
            memory.id,
            memory.type.value,
            memory.project,
            memory.tags,
            memory.importance,
            memory.content,
            memory.occurred_at,
            memory.created_at,
            memory.created_by,
            memory.superseded_by,
        )


@dataclass(frozen=True, slots=True)
class LinkedMemory:
    id: int
    relation: str
    content: str


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """`score` is the probability that the memory answers, 0 to 1; `shown` the part of a long text that does."""

    memory: MemoryLine
    score: float
    shown: str
    part: str | None
    why: tuple[str, ...]
    linked: tuple[LinkedMemory, ...]

    @classmethod
    def of(cls, hit: Hit) -> "FoundMemory":
        why = (*hit.why.also, *([hit.why.edge] if hit.why.edge else []))
        linked = tuple(LinkedMemory(each.id, each.relation, each.content) for each in hit.linked)
        return cls(MemoryLine.of(hit.memory), round(hit.score, 2), hit.content, hit.part, why, linked)


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    results: tuple[FoundMemory, ...]
    embedder: str
    note: str | None
    degraded: str | None


@dataclass(frozen=True, slots=True)
class ListAnswer:
    memories: tuple[MemoryLine, ...]
    note: str | None
    degraded: str | None


@dataclass(frozen=True, slots=True)
class RecalledItem:
    ref: str
    kind: str
    score: float
    why: str | None


@dataclass(frozen=True, slots=True)
class RecallAnswer:
    answer: str
    items: tuple[RecalledItem, ...]
    tokens: int
    left_out: dict[str, int]
    note: str | None
    degraded: str | None


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """`id` is what `undo` takes; null where nothing can be undone. `by` null is by hand."""

    at: str
    by: str | None
    action: str
    kind: str
    handle: str
    text: str
    place: str | None
    id: str | None

    @classmethod
    def of(cls, change: Change) -> "ChangeLine":
        return cls(
            change.at,
            change.by,
            change.action.value,
            change.kind.value,
            handle_of(change),
            change.text,
            change.place,
            None if change.id is None else str(change.id),
        )


_NUMBERED = {Kind.MEMORY: "m", Kind.TURN: "t", Kind.SHORT_TERM: "s"}


def handle_of(change: Change) -> str:
    """What `show` takes."""
    if change.kind is Kind.FACT:
        return f"f:{change.scope}/{change.name}"
    if change.kind is Kind.LONG_TERM:
        return f"w:{change.name}"
    return f"{_NUMBERED[change.kind]}{change.item}"


@dataclass(frozen=True, slots=True)
class LogAnswer:
    changes: tuple[ChangeLine, ...]
    note: str | None
    degraded: str | None


@dataclass(frozen=True, slots=True)
class EdgeLine:
    source: int
    relation: str
    target: int
    strength: float
    since: str
    other: str

    @classmethod
    def of(cls, edge: Edge, other: str) -> "EdgeLine":
        return cls(edge.source, edge.relation.value, edge.target, edge.strength, edge.valid_from, other)


@dataclass(frozen=True, slots=True)
class ShownMemory:
    """`earlier` are the texts that it had, newest first; `history` what happened to it, the latest first."""

    kind: str
    memory: MemoryLine
    updated_at: str
    accessed_at: str | None
    access_count: int
    session: str | None
    metadata: dict[str, Any]
    earlier: tuple[str, ...]
    history: tuple[ChangeLine, ...]
    edges: tuple[EdgeLine, ...]


@dataclass(frozen=True, slots=True)
class FactStep:
    version: int
    action: str
    value: Any
    at: str
    by: str | None

    @classmethod
    def of(cls, change: FactChange) -> "FactStep":
        return cls(change.version, change.action.value, change.value, change.changed_at, change.changed_by)


@dataclass(frozen=True, slots=True)
class FactLine:
    key: str
    scope: str
    owner: str
    value: Any
    tags: tuple[str, ...]
    version: int
    updated_at: str
    updated_by: str | None
    expires_at: str | None

    @classmethod
    def of(cls, fact: Fact) -> "FactLine":
        return cls(
            fact.key,
            fact.home.scope.value,
            fact.home.owner,
            fact.value,
            fact.tags,
            fact.version,
            fact.updated_at,
            fact.updated_by,
            fact.expires_at,
        )


@dataclass(frozen=True, slots=True)
class FactsAnswer:
    """`more` counts the facts that fit too but are left out."""

    facts: tuple[FactLine, ...]
    more: int
    degraded: str | None


@dataclass(frozen=True, slots=True)
class ShownFact:
    """`fact` is null where the key has no value any more."""

    kind: str
    fact: FactLine | None
    history: tuple[FactStep, ...]


@dataclass(frozen=True, slots=True)
class ShownTurn:
    kind: str
    id: int
    summary: str
    message: str
    project: str
    session: str | None
    occurred_at: str
    created_by: str | None


@dataclass(frozen=True, slots=True)
class WakeLine:
    at: str
    client: str | None
    why: str

    @classmethod
    def of(cls, wake: Wake) -> "WakeLine":
        return cls(wake.at, wake.client, wake.why)


@dataclass(frozen=True, slots=True)
class TriggerLine:
    """`state` is ready, failing or quarantined; `cooldown` is in minutes."""

    name: str
    prompt: str
    trigger: str
    state: str
    error: str | None
    fired_count: int
    fired_at: str | None
    cooldown: int
    created_at: str

    @classmethod
    def of(cls, memory: LongTermMemory, now: str) -> "TriggerLine":
        return cls(
            memory.name,
            memory.prompt,
            memory.trigger,
            memory.state(now),
            memory.error,
            memory.fired_count,
            memory.fired_at,
            memory.cooldown,
            memory.created_at,
        )


@dataclass(frozen=True, slots=True)
class TriggersAnswer:
    triggers: tuple[TriggerLine, ...]
    more: int
    degraded: str | None


@dataclass(frozen=True, slots=True)
class ShownTrigger:
    """`wakes` are its latest, the last one first, each with why it woke."""

    kind: str
    trigger: TriggerLine
    history: tuple[ChangeLine, ...]
    wakes: tuple[WakeLine, ...]


@dataclass(frozen=True, slots=True)
class ShownShortTerm:
    kind: str
    id: int
    text: str
    score: float
    said_at: str


@dataclass(frozen=True, slots=True)
class ShowAnswer:
    things: tuple[ShownMemory | ShownFact | ShownTurn | ShownTrigger | ShownShortTerm, ...]


@dataclass(frozen=True, slots=True)
class StatsAnswer:
    """Counts of memories by type and by project ('' is none); `jobs` are problems of background jobs."""

    memories: int
    by_type: dict[str, int]
    by_project: dict[str, int]
    embedder: str
    embedded: int
    waiting: int
    database: str
    bytes: int
    jobs: dict[str, str]
    note: str | None


@dataclass(frozen=True, slots=True)
class ProjectLine:
    name: str
    keys: tuple[str, ...]
    former_names: tuple[str, ...]
    folder: str | None
    memories: int
    facts: int
    turns: int


@dataclass(frozen=True, slots=True)
class ProjectsAnswer:
    here: str | None
    projects: tuple[ProjectLine, ...]


@dataclass(frozen=True, slots=True)
class DoctorAnswer:
    """`report` has a line for each thing in use, by its name; `fixed` what was mended just now."""

    report: dict[str, str]
    problems: tuple[str, ...]
    fixed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TokenLine:
    """A token without the token itself; `projects` null is all. These, and those with `shared`, write shared facts."""

    id: int
    name: str
    prefix: str
    projects: tuple[str, ...] | None
    read_only: bool
    shared: bool
    state: str
    created_at: str
    expires_at: str | None
    last_used: str | None

    @classmethod
    def of(cls, token: Token, state: State) -> "TokenLine":
        return cls(
            token.id,
            token.name,
            token.prefix,
            token.projects,
            token.read_only,
            token.shared,
            state.value,
            token.created_at,
            token.expires_at,
            token.last_used,
        )


@dataclass(frozen=True, slots=True)
class TokensAnswer:
    tokens: tuple[TokenLine, ...]


@dataclass(frozen=True, slots=True)
class CallLine:
    """The calls of a tool. `p50` and `p95` are milliseconds that half and 95 % of them did not exceed."""

    tool: str
    calls: int
    refused: int
    failed: int
    degraded: int
    timed_out: int
    p50: float | None
    p95: float | None

    @classmethod
    def of(cls, tool: str, calls: Calls) -> "CallLine":
        half, most = (None if each is None else round(each, 1) for each in map(calls.quantile, (0.5, 0.95)))
        counts = (calls.calls, calls.refused, calls.failed, calls.degraded, calls.timed_out)
        return cls(tool, *counts, half, most)


@dataclass(frozen=True, slots=True)
class CallsAnswer:
    """The calls of the last `days` days, by tool."""

    days: int
    tools: tuple[CallLine, ...]
