"""The table `changes`: edits and merges with how it was before, for as long as they can be undone."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from memory_server.domain.caller import Caller
from memory_server.domain.change import Action
from memory_server.domain.long_term import LongTermChange, LongTermId, LongTermMemory
from memory_server.domain.memory import Memory, MemoryDraft, MemoryId, MemoryType
from memory_server.language.text import without_lone_surrogates
from memory_server.sqlite.rows import Rows
from memory_server.sqlite.tx import Tx, WriteTx

ROWS = (
    Rows(
        "changes",
        ("action", "before", "draft", "changed_at", "changed_by", "session"),
        moments=("changed_at",),
        json=("before", "draft"),
    ),
)

_COLUMNS = "id, memory_id, long_term_id, action, before, draft, changed_at, changed_by, session"


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


def _changed(row: tuple[Any, ...]) -> Changed:
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


def keep_memory(tx: WriteTx, before: Memory, caller: Caller, merged: MemoryDraft | None = None) -> None:
    """Keep how a memory is that is about to be edited, or into which something is about to be merged."""
    fields = ("content", "type", "project", "tags", "importance", "metadata")
    _insert(
        tx,
        (before.id, None, "edited" if merged is None else "merged"),
        {name: getattr(before, name) for name in fields},
        None if merged is None else asdict(merged),
        caller,
    )


def keep_long_term(tx: WriteTx, before: LongTermMemory, caller: Caller) -> None:
    """Keep how a long-term memory is that is about to be edited."""
    fields = ("prompt", "trigger", "updated_context", "cooldown")
    _insert(tx, (None, before.id, "edited"), {name: getattr(before, name) for name in fields}, None, caller)


def select(tx: Tx, ids: Sequence[int]) -> list[Changed]:
    """Those of these changes that are there, the latest first."""
    rows = tx.rows(
        f"SELECT {_COLUMNS} FROM changes WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id DESC",
        (json.dumps(list(ids)),),
    )
    return [_changed(row) for row in rows]


def since(tx: Tx, first: Changed) -> list[Changed]:
    """This change and all later ones of the same thing, the latest first."""
    rows = tx.rows(
        f"SELECT {_COLUMNS} FROM changes WHERE id >= ? AND (memory_id = ? OR long_term_id = ?) ORDER BY id DESC",
        (first.id, first.memory_id, first.long_term_id),
    )
    return [_changed(row) for row in rows]


def delete(tx: WriteTx, ids: Sequence[int]) -> None:
    """Forget them: nothing undoes them any more."""
    tx.execute(
        "DELETE FROM main.changes WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(ids)),)
    )


def older(tx: Tx, before: str, limit: int) -> list[int]:
    """Those from before a moment, the oldest first."""
    rows = tx.rows("SELECT id FROM changes WHERE changed_at < ? ORDER BY changed_at LIMIT ?", (before, limit))
    return [id for (id,) in rows]


def _insert(
    tx: WriteTx,
    what: tuple[int | None, int | None, str],
    before: dict[str, Any],
    draft: dict[str, Any] | None,
    caller: Caller,
) -> None:
    tx.execute(
        """
        INSERT INTO main.changes (memory_id, long_term_id, action, before, draft, changed_at, changed_by, session)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        """,
        (
            *what,
            _as_json(before),
            None if draft is None else _as_json(draft),
            tx.now,
            caller.author,
            caller.session,
        ),
    )


def _as_json(fields: dict[str, Any]) -> str:
    return without_lone_surrogates(json.dumps(fields, ensure_ascii=False))
