"""Changes of memories and long-term memories as rows, and those of all tables."""

import json
from dataclasses import asdict, dataclass
from typing import Any, Final

from memory_server.domain.change import Change, ChangeAction, ChangeId
from memory_server.domain.change import ChangeOrigin as Table
from memory_server.domain.change import Kind as Changeable
from memory_server.domain.long_term import LongTermChange, LongTermId, LongTermMemory
from memory_server.domain.memory import Memory, MemoryDraft, MemoryId, MemoryType
from memory_server.domain.rules import Rule
from memory_server.domain.trust import UNKNOWN
from memory_server.language.text import without_lone_surrogates

SHOWN: Final = 300
"""Characters of a text that a list of changes has."""

_MEMORY_FIELDS = ("content", "type", "project", "tags", "importance", "metadata", "origin")
_LONG_TERM_FIELDS = ("prompt", "trigger", "updated_context", "cooldown", "origin")


@dataclass(frozen=True, slots=True)
class Changed:
    """One edit or merge, of a memory or of a long-term memory. `before` and `draft` are their fields by name."""

    id: int
    memory_id: MemoryId | None
    long_term_id: LongTermId | None
    action: ChangeAction
    before: dict[str, Any]
    draft: dict[str, Any] | None
    changed_at: str
    changed_by: str | None
    session: str | None

    def as_draft(self) -> MemoryDraft:
        """Return the merged draft as it was to be stored."""
        fields = dict(self.draft or {})
        fields |= {"type": MemoryType(fields["type"]), "tags": tuple(fields["tags"])}
        fields["occurred_at"] = fields.get("occurred_at") or self.changed_at
        return MemoryDraft(**fields)

    def as_change(self) -> LongTermChange:
        """Return the change that makes the long-term memory what it was."""
        return LongTermChange(
            **{name: value for name, value in self.before.items() if name in _LONG_TERM_FIELDS}
        )

    @property
    def rule_state(self) -> tuple[bool, str | None] | None:
        """Return of a rule whether it was off, and when a person had confirmed it."""
        state = self.before.get("rule")
        return None if state is None else (bool(state["off"]), state["confirmed_at"])


def kept_fields(before: Memory | LongTermMemory, rule: Rule | None = None) -> str:
    """Return as JSON the fields that a change can change, before it changes them."""
    state = {} if rule is None else {"rule": {"off": rule.off, "confirmed_at": rule.confirmed_at}}
    return _as_json(_fields(before) | state)


def kept(memory: Memory) -> dict[str, Any]:
    """Return the fields of a memory as `before` of a change has them."""
    fields: dict[str, Any] = json.loads(_as_json(_fields(memory)))
    return fields


def _fields(before: Memory | LongTermMemory) -> dict[str, Any]:
    names = _MEMORY_FIELDS if isinstance(before, Memory) else _LONG_TERM_FIELDS
    return {name: getattr(before, name) for name in names}


def kept_draft(merged: MemoryDraft) -> str:
    """Return a merged draft as JSON."""
    return _as_json(asdict(merged))


def _as_json(fields: dict[str, Any]) -> str:
    return without_lone_surrogates(json.dumps(fields, ensure_ascii=False))


def changed_of(row: tuple[Any, ...]) -> Changed:
    """Return a row of `changes`, its columns in the order of `Changed`; `before` and `draft` are JSON."""
    id, memory_id, long_term_id, action, before, draft, *moment = row
    return Changed(
        id,
        memory_id,
        long_term_id,
        ChangeAction(action),
        json.loads(before),
        json.loads(draft) if draft else None,
        *moment,
    )


def change_of(row: tuple[Any, ...]) -> Change:
    """A row of the log: at, by, action, kind, item, text, origin, row, name, place, scope, said_by."""
    at, by, action, kind, item, text, origin, number, name, place, scope, said_by = row
    return Change(
        at,
        by,
        ChangeAction(action),
        Changeable(kind),
        item,
        text,
        None if origin is None else ChangeId(Table(origin), number),
        name,
        place or None,
        scope,
        said_by or UNKNOWN,
    )
