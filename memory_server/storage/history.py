"""Who changed what, what was deleted, and where things come from."""

import json
from dataclasses import asdict, dataclass
from typing import Any, Final, Protocol

from memory_server.domain.change import Action, Change, ChangeFilter, ChangeId
from memory_server.domain.change import Kind as Changeable
from memory_server.domain.change import Origin as Table
from memory_server.domain.long_term import LongTermChange, LongTermId, LongTermMemory
from memory_server.domain.memory import Memory, MemoryDraft, MemoryId, MemoryType
from memory_server.domain.timeline import Happened
from memory_server.language.text import without_lone_surrogates

SHOWN: Final = 300
"""Characters of a text that a list of changes has."""

_MEMORY_FIELDS = ("content", "type", "project", "tags", "importance", "metadata")
_LONG_TERM_FIELDS = ("prompt", "trigger", "updated_context", "cooldown")


@dataclass(frozen=True, slots=True)
class Changed:
    """One edit or merge, of a memory or of a long-term memory. `before` and `draft` are their fields by name."""

    id: int
    memory_id: MemoryId | None
    long_term_id: LongTermId | None
    action: Action
    before: dict[str, Any]
    draft: dict[str, Any] | None
    changed_at: str
    changed_by: str | None
    session: str | None

    def as_draft(self) -> MemoryDraft:
        """What was merged, as it was to be stored."""
        given = dict(self.draft or {})
        given |= {"type": MemoryType(given["type"]), "tags": tuple(given["tags"])}
        given["occurred_at"] = given.get("occurred_at") or self.changed_at
        return MemoryDraft(**given)

    def as_change(self) -> LongTermChange:
        """How a long-term memory was, as a change of how it is."""
        return LongTermChange(**self.before)


def kept_fields(before: Memory | LongTermMemory) -> str:
    """How something is that is about to change, as JSON: the fields that a change can change."""
    names = _MEMORY_FIELDS if isinstance(before, Memory) else _LONG_TERM_FIELDS
    return _as_json({name: getattr(before, name) for name in names})


def kept_draft(merged: MemoryDraft) -> str:
    """What was merged, as JSON."""
    return _as_json(asdict(merged))


def _as_json(fields: dict[str, Any]) -> str:
    return without_lone_surrogates(json.dumps(fields, ensure_ascii=False))


def changed_of(row: tuple[Any, ...]) -> Changed:
    """A row of `changes`, its columns in the order of the fields of `Changed`; `before` and `draft` are JSON."""
    id, memory_id, long_term_id, action, before, draft, *rest = row
    return Changed(
        id,
        memory_id,
        long_term_id,
        Action(action),
        json.loads(before),
        json.loads(draft) if draft else None,
        *rest,
    )


def change_of(row: tuple[Any, ...]) -> Change:
    """A row of the log: at, by, action, kind, item, text, origin, row, name, place, scope."""
    at, by, action, kind, item, text, origin, number, name, place, scope = row
    return Change(
        at,
        by,
        Action(action),
        Changeable(kind),
        item,
        text,
        None if origin is None else ChangeId(Table(origin), number),
        name,
        place or None,
        scope,
    )


class Log(Protocol):
    """The changes of the rows of all tables, as one list: who stored, edited, merged and deleted what, and when."""

    def select(self, filter: ChangeFilter, limit: int) -> list[Change]:
        """What happened, the latest first. Of one moment, what was stored first comes last."""
        ...

    def find(self, id: ChangeId) -> Change | None:
        """One change that can be undone."""
        ...


class Timeline(Protocol):
    """Counts of each day and project: what was stored, recalled, superseded and forgotten."""

    def counts(self, since: str) -> list[tuple[str, str, Happened, int]]:
        """Day (YYYY-MM-DD, local), project ('' is none), what, how many; from a moment on. Only the last recall of each
        memory is known, so an earlier one is not counted."""
        ...
