"""The JSON that commands print of what is there with `--json`: a contract. Moments are UTC. `tests/cli/schemas` has it.

What is not known is null; a list may be empty. `LINES` says how each kind of thing is printed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memory_server.answers.answer import Answer, field, made, rounded
from memory_server.domain import recall
from memory_server.domain.calls import Calls
from memory_server.domain.change import Change
from memory_server.domain.changed_ground import ChangedGround
from memory_server.domain.edge import Edge
from memory_server.domain.fact import Fact, FactChange
from memory_server.domain.injection import HookCapture, Logged
from memory_server.domain.learning import Learnt, OpenQuestion
from memory_server.domain.long_term import LongTermMemory, Wake
from memory_server.domain.lost_rows import LostRows
from memory_server.domain.memory import Memory
from memory_server.domain.outside import Waiting
from memory_server.domain.project import Listed
from memory_server.domain.ranking import Hit
from memory_server.domain.rules import RuleHit
from memory_server.domain.short_term import ShortTermMemory
from memory_server.domain.token import State, Token
from memory_server.domain.turn import Turn
from memory_server.front.running import Running
from memory_server.services.rules import ListedRule


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    results: Sequence[Hit]
    embedder: str
    note: str | None
    degraded: str | None


@dataclass(frozen=True, slots=True)
class ListAnswer:
    memories: Sequence[Memory]
    note: str | None
    degraded: str | None


@dataclass(frozen=True, slots=True)
class RecallAnswer:
    answer: str
    items: Sequence[recall.Found]
    tokens: int
    left_out: dict[str, int]
    note: str | None
    degraded: str | None


@dataclass(frozen=True, slots=True)
class LogAnswer:
    changes: Sequence[Change]
    note: str | None
    degraded: str | None


@dataclass(frozen=True, slots=True)
class ReviewAnswer:
    waiting: Sequence[Waiting]
    changed: Sequence[ChangedGround]


@dataclass(frozen=True, slots=True)
class FactsAnswer:
    """`more` counts the facts that fit too but are left out."""

    facts: Sequence[Fact]
    more: int
    degraded: str | None


@dataclass(frozen=True, slots=True)
class StatedTrigger:
    """A long-term memory, and the state of its trigger: ready, failing or quarantined."""

    memory: LongTermMemory
    state: str


@dataclass(frozen=True, slots=True)
class TriggersAnswer:
    triggers: Sequence[StatedTrigger]
    more: int
    degraded: str | None


@dataclass(frozen=True, slots=True)
class RulesAnswer:
    rules: Sequence[ListedRule]


@dataclass(frozen=True, slots=True)
class RuleLogAnswer:
    """The last acts that rules held, the latest first."""

    hits: Sequence[RuleHit]


@dataclass(frozen=True, slots=True)
class NamedEdge:
    """An edge, and the text of the memory at its other end."""

    edge: Edge
    other_text: str


@dataclass(frozen=True, slots=True)
class ShownMemory:
    """`earlier` are the texts that it had, newest first; `history` what happened to it, the latest first."""

    memory: Memory
    earlier: Sequence[str]
    history: Sequence[Change]
    edges: Sequence[NamedEdge]


@dataclass(frozen=True, slots=True)
class ShownFact:
    """`fact` is None where the key has no value any more."""

    fact: Fact | None
    history: Sequence[FactChange]


@dataclass(frozen=True, slots=True)
class ShownTrigger:
    """`wakes` are its latest, the last one first, each with why it woke."""

    trigger: StatedTrigger
    history: Sequence[Change]
    wakes: Sequence[Wake]


Shown = ShownMemory | ShownFact | Turn | ShownTrigger | ShortTermMemory


@dataclass(frozen=True, slots=True)
class ShowAnswer:
    things: Sequence[Shown]


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
class ProjectsAnswer:
    here: str | None
    projects: Sequence[Listed]


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """A problem. Its `code` stays when its text is reworded; `about` names the job, client, model or place."""

    code: str
    text: str
    about: str | None = None


@dataclass(frozen=True, slots=True)
class DoctorAnswer:
    """`report` has a line for each thing in use, by its name; `fixed` what was mended just now.

    `figures` and `findings` say for programs what `report` and `problems` say in words.
    """

    report: dict[str, str]
    problems: tuple[str, ...]
    fixed: tuple[str, ...]
    figures: dict[str, int | None]
    findings: tuple[DoctorFinding, ...]


@dataclass(frozen=True, slots=True)
class WhereAnswer:
    database: str


@dataclass(frozen=True, slots=True)
class EnginesAnswer:
    engines: Sequence[Running]
    stopped: bool


@dataclass(frozen=True, slots=True)
class RulingAnswer:
    """The effect of the rules on an act, and why; null where no rule holds it."""

    effect: str | None
    text: str | None


@dataclass(frozen=True, slots=True)
class HookLogAnswer:
    """The last texts that hooks said, the latest first, and their tokens; `failures` the last one last."""

    texts: Sequence[Logged]
    tokens: int
    failures: Sequence[str]


@dataclass(frozen=True, slots=True)
class CapturedAnswer:
    captures: Sequence[HookCapture]


@dataclass(frozen=True, slots=True)
class LearntAnswer:
    """Memories that gain or lose by their uses, and questions that found nothing."""

    memories: Sequence[Learnt]
    questions: Sequence[OpenQuestion]


@dataclass(frozen=True, slots=True)
class StatedToken:
    token: Token
    state: State


@dataclass(frozen=True, slots=True)
class TokensAnswer:
    tokens: Sequence[StatedToken]


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
        half, most = (None if time is None else round(time, 1) for time in map(calls.quantile, (0.5, 0.95)))
        counts = (calls.calls, calls.refused, calls.failed, calls.degraded, calls.timed_out)
        return cls(tool, *counts, half, most)


@dataclass(frozen=True, slots=True)
class CallsAnswer:
    """The calls of the last `days` days, by tool, and their sums: writes by toolset, and what was refused or failed.

    Then the work of the processes that had calls: triggers evaluated, and times in seconds.
    """

    days: int
    tools: Sequence[CallLine]
    writes: Mapping[str, int]
    failed_reads: int
    failed_writes: int
    triggers: int
    trigger_seconds: float
    engine_restarts: int
    cpu_seconds: float


def _reasons(hit: Hit) -> tuple[str, ...]:
    return (*hit.why.also, *([hit.why.edge] if hit.why.edge else []))


_SHOWN_AS = {
    ShownMemory: "memory", ShownFact: "fact", Turn: "turn", ShownTrigger: "long_term", ShortTermMemory: "short_term",
}  # fmt: skip


def _kind(item: Shown) -> str:
    return _SHOWN_AS[type(item)]


_KIND = made("kind", _kind)
_WHOLE = "memory memory.updated_at memory.accessed_at memory.access_count memory.session memory.metadata"
_STATED = "memory.error memory.fired_count memory.fired_at memory.cooldown memory.created_at"
_TOKEN = "token.id token.name token.prefix token.projects token.read_only token.shared state"  # noqa: S105

LINES = {
    answer.source: answer
    for answer in (
        Answer(
            Memory,
            "id type project tags importance content occurred_at created_at created_by superseded_by origin",
        ),
        Answer(ChangedGround, "memory remark renewed?"),
        Answer(
            Hit,
            "memory",
            field("score", rounded),
            "shown=content part now?=remark",
            made("why", _reasons),
            "linked",
        ),
        Answer(recall.Found, "ref kind", field("score", rounded), "why origin"),
        Answer(Waiting, field("handle", str), "kind text origin at session place"),
        Answer(Change, "at by action fields? kind handle text place origin", field("id", str)),
        Answer(
            Fact,
            "key scope=home.scope owner=home.owner value tags version updated_at updated_by expires_at origin",
        ),
        Answer(FactChange, "version action value at=changed_at by=changed_by"),
        Answer(
            NamedEdge,
            "edge.source edge.relation edge.target edge.strength since=edge.valid_from other=other_text",
        ),
        Answer(StatedTrigger, "memory.name memory.prompt memory.trigger state", _STATED, "memory.origin"),
        Answer(LostRows, "table ids certain"),
        Answer(
            ListedRule,
            "rule.name rule.effect rule.state words rule.reason rule.trigger rule.holds rule.passes rule.confirmed_at",
            "held=counts.hits overruled=counts.overruled last=counts.last",
        ),
        Answer(RuleHit, "at rule=name effect act client session overruled_at"),
        Answer(Edge, "source relation target strength valid_from valid_to?"),
        Answer(Running, field("path", str), "pid version clients"),
        Answer(Learnt, "memory content factor=uses.factor reason=uses.reason"),
        Answer(StatedToken, _TOKEN, "token.created_at token.expires_at token.last_used"),
        Answer(ShownMemory, _KIND, _WHOLE, "earlier history edges"),
        Answer(ShownFact, _KIND, "fact history"),
        Answer(Turn, _KIND, "id summary message project session occurred_at created_by file? origin"),
        Answer(ShownTrigger, _KIND, "trigger history wakes"),
        Answer(ShortTermMemory, _KIND, "id text score said_at origin"),
    )
}
"""The fields of each kind of thing. Of a Hit, `score` is the probability that the memory answers, 0 to 1, and `shown`
the part of a long text that does. Of a Change, `id` is what `undo` takes; null where nothing can be undone; `by` null
is by hand. A token's `projects` null is all. A long-term memory's `cooldown` is in minutes."""
