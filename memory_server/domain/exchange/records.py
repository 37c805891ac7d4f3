"""The records of exports and imports: one for each kind, with everything that belongs to it.

An id is the one that the item has in its source. Items of our own files are known by `NUMBER@MOMENT`: the id of the row
and the moment at which it was created. Moments are ISO-8601 UTC text; an empty one means the moment of the import.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from memory_server.domain.effect import Effect
from memory_server.domain.embedding import Space
from memory_server.domain.trust import UNKNOWN

OWN: Final = "memory-server"
"""The source of what comes from a file of ours."""

VERSION = 1
"""Of the form of these records as JSON."""


def own_id(number: int, created_at: str) -> str:
    """The id by which an item of our own files is known in all of them."""
    return f"{number}@{created_at}"


def number_of(id: str) -> int | None:
    """The row's id in an own id; None where it has none."""
    number = id.partition("@")[0]
    return int(number) if number.isascii() and number.isdigit() and len(number) < 19 else None


def place(id: str) -> tuple[int, str]:
    """Own ids in order: by number, then by moment."""
    return number_of(id) or 0, id


@dataclass(frozen=True, slots=True)
class Origin:
    """Another source that has the same item; `digest` is of its text as it was imported."""

    source: str
    id: str
    digest: str = ""
    imported_at: str = ""


@dataclass(frozen=True, slots=True)
class Earlier:
    """A text that a memory had until a moment."""

    content: str
    reason: Literal["merged", "rewritten"]
    replaced_at: str


@dataclass(frozen=True, slots=True)
class Capture:
    """The mark of what a hook has kept unasked."""

    session: str
    event: str
    captured_at: str


@dataclass(frozen=True, slots=True)
class Header:
    """The first record of an export."""

    kind: Literal["memory-server"] = OWN
    version: int = VERSION


@dataclass(frozen=True, slots=True)
class ProjectRecord:
    """A project with its keys, each a kind (remote, folder, name) and a text."""

    name: str
    folder: str | None = None
    created_at: str = ""
    keys: tuple[tuple[str, str], ...] = ()
    kind: Literal["project"] = "project"


@dataclass(frozen=True, slots=True)
class SpaceRecord(Space):
    """A model whose vectors follow."""

    kind: Literal["space"] = "space"


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """A memory. `also` are own ids that it has had in other files, `tags` any JSON that somebody has written.

    `person` is whose own it is, None that of nobody, here and below. `writer` is the person who alone has written it,
    `origin` who said it first, as `domain.trust` has it.

    `vectors` are, of each model by its fingerprint, those of its parts in base64. `place` is where it stands in a
    source of another program, `FILE#HEADING`; without it it stands somewhere in the file.
    """

    id: str
    content: str
    type: str = "observation"
    project: str | None = None
    tags: tuple[Any, ...] = ()
    importance: int = 5
    metadata: Mapping[str, Any] = field(default_factory=dict)
    access_count: int = 0
    created_at: str = ""
    updated_at: str = ""
    accessed_at: str | None = None
    created_by: str | None = None
    session: str | None = None
    occurred_at: str | None = None
    person: str | None = None
    writer: str | None = None
    origin: str = UNKNOWN
    history: tuple[Earlier, ...] = ()
    captured: Capture | None = None
    also: tuple[str, ...] = ()
    origins: tuple[Origin, ...] = ()
    vectors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    place: str = ""
    kind: Literal["memory"] = "memory"


@dataclass(frozen=True, slots=True)
class EdgeRecord:
    """An edge between the memories with two ids of the same source."""

    source: str
    target: str
    relation: str = "related_to"
    strength: float = 1.0
    valid_from: str = ""
    valid_to: str | None = None
    created_by: str | None = None
    kind: Literal["edge"] = "edge"


@dataclass(frozen=True, slots=True)
class FactStep:
    """One step of a key's history. `writer` is the person who wrote its value."""

    version: int
    action: Literal["written", "deleted", "expired"]
    value: Any
    tags: tuple[Any, ...] = ()
    expires_at: str | None = None
    changed_at: str = ""
    changed_by: str | None = None
    writer: str | None = None
    origin: str = UNKNOWN


@dataclass(frozen=True, slots=True)
class FactRecord:
    """A key in a scope. Where its last step was written, it has that value now; the other fields are of the fact."""

    scope: Literal["global", "project", "session", "shared"]
    owner: str
    key: str
    steps: tuple[FactStep, ...]
    access_count: int = 0
    created_at: str = ""
    accessed_at: str | None = None
    created_by: str | None = None
    session: str | None = None
    captured: Capture | None = None
    id: str = ""
    origins: tuple[Origin, ...] = ()
    vectors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    kind: Literal["fact"] = "fact"

    @property
    def alive(self) -> bool:
        return bool(self.steps) and self.steps[-1].action == "written"


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """A turn of a conversation."""

    id: str
    message: str
    summary: str
    project: str = ""
    session: str | None = None
    created_at: str = ""
    created_by: str | None = None
    occurred_at: str | None = None
    person: str | None = None
    origin: str = UNKNOWN
    also: tuple[str, ...] = ()
    origins: tuple[Origin, ...] = ()
    vectors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    kind: Literal["turn"] = "turn"


@dataclass(frozen=True, slots=True)
class DigestRecord:
    """The digest that stands for an observation or a turn; None: that digest is no longer the server's."""

    item: Literal["memory", "turn"]
    id: str
    digest: str | None
    kind: Literal["digest"] = "digest"


@dataclass(frozen=True, slots=True)
class UseRecord:
    """One showing of a memory, by its own id, to a session, and its outcome."""

    memory: str
    session: str
    shown_at: str
    judged_at: str | None = None
    used_at: str | None = None
    how: Literal["repeated", "called"] | None = None
    person: str | None = None
    kind: Literal["use"] = "use"


@dataclass(frozen=True, slots=True)
class QuestionRecord:
    """A question that found nothing: known by its project, its person and its text. `session` has asked it last."""

    question: str
    session: str
    project: str = ""
    sessions: int = 1
    asked_at: str = ""
    asked_again_at: str | None = None
    person: str | None = None
    kind: Literal["question"] = "question"


@dataclass(frozen=True, slots=True)
class ConversationRecord:
    """A conversation with its cleanups."""

    name: str
    created_at: str = ""
    cleaned_at: str = ""
    removed: int = 0
    kind: Literal["conversation"] = "conversation"


@dataclass(frozen=True, slots=True)
class ShortTermRecord:
    """A short-term memory. `keywords` None: the server takes them from the text."""

    id: str
    conversation: str
    text: str
    score: float = 0.0
    said_at: str = ""
    created_at: str = ""
    created_by: str | None = None
    session: str | None = None
    origin: str = UNKNOWN
    keywords: tuple[tuple[str, float], ...] | None = None
    captured: Capture | None = None
    also: tuple[str, ...] = ()
    origins: tuple[Origin, ...] = ()
    vectors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    kind: Literal["short_term"] = "short_term"


@dataclass(frozen=True, slots=True)
class WakeRecord:
    """One waking of a long-term memory: the moment, the reason, the client and the session."""

    at: str
    why: str
    client: str | None = None
    session: str | None = None


@dataclass(frozen=True, slots=True)
class RuleRecord:
    """The part of a long-term memory that makes it a rule. Until a person has confirmed it, it only says its words."""

    effect: Effect
    holds: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()
    confirmed_at: str | None = None
    off: bool = False

    @property
    def state(self) -> str:
        """`off`, `unconfirmed`, or the effect that it has."""
        return "off" if self.off else self.effect.value if self.confirmed_at else "unconfirmed"


@dataclass(frozen=True, slots=True)
class LongTermRecord:
    """A long-term memory with its trigger: known by its conversation and its name."""

    conversation: str
    name: str
    prompt: str
    trigger: str
    created_context: str | None = None
    updated_context: str | None = None
    created_at: str = ""
    updated_at: str | None = None
    created_by: str | None = None
    session: str | None = None
    fired_at: str | None = None
    fired_count: int = 0
    error: str | None = None
    failures: int = 0
    quarantined_until: str | None = None
    judged_at: str | None = None
    slow: int = 0
    cooldown: int = 0
    origin: str = UNKNOWN
    wakes: tuple[WakeRecord, ...] = ()
    rule: RuleRecord | None = None
    id: str = ""
    origins: tuple[Origin, ...] = ()
    kind: Literal["long_term"] = "long_term"

    @property
    def changed_at(self) -> str:
        """The moment at which its prompt or its trigger was written last."""
        return max(self.updated_at or "", self.created_at)

    @property
    def is_confirmed(self) -> bool:
        """True for a rule that a person has confirmed."""
        return self.rule is not None and self.rule.confirmed_at is not None


@dataclass(frozen=True, slots=True)
class DeletedRecord:
    """That an item was deleted at a moment: part of a merge, never of an export. `id` is a long-term memory's name."""

    item: Literal["memory", "turn", "short_term", "long_term"]
    id: str
    deleted_at: str
    conversation: str = ""
    kind: Literal["deleted"] = "deleted"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A part of a source that could not be read: where it is, and why.

    `elsewhere`: it is whole, and what it needs is not in the source, as the end of a relation.
    """

    where: str
    why: str
    elsewhere: bool = False
    kind: Literal["refused"] = "refused"


Item = MemoryRecord | TurnRecord | ShortTermRecord
"""What has an own id."""

Exported = (
    ProjectRecord
    | SpaceRecord
    | MemoryRecord
    | EdgeRecord
    | FactRecord
    | TurnRecord
    | DigestRecord
    | UseRecord
    | QuestionRecord
    | ConversationRecord
    | ShortTermRecord
    | LongTermRecord
)
"""The records of an export, in this order: what names others comes after them."""

Record = Exported | DeletedRecord | Refusal
"""Whatever a source yields; in the same order."""
