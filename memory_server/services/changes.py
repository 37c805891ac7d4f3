"""Lists what happened to what is stored, and undoes it: deletions, merges and edits of the last 30 days."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from memory_server.domain import trust
from memory_server.domain.caller import Caller
from memory_server.domain.change import Change, ChangeAction, ChangeFilter, ChangeId, ChangeOrigin, Kind
from memory_server.domain.edge import Relation
from memory_server.domain.event import Event
from memory_server.domain.fact import Action as FactAction
from memory_server.domain.fact import FactChange, FactDraft, refuse_sharing
from memory_server.domain.forgetting import Kind as Trashable
from memory_server.domain.long_term import LongTermId
from memory_server.domain.memory import MemoryId, MemoryType
from memory_server.errors import Conflict, Hint, Invalid, Mend, NotFound, Problem
from memory_server.services import deleting, projects
from memory_server.services.graph import refuse_circle
from memory_server.storage.database import Database
from memory_server.storage.history import Changed, kept
from memory_server.storage.tx import Tx, WriteTx


@dataclass(frozen=True, slots=True)
class ChangeLog:
    """The changes, the latest first; `note` says that the project is not known, `degraded` what cannot be read."""

    changes: list[Change]
    note: str | None
    degraded: tuple[Problem, ...]


TakeBack = Callable[[WriteTx, Event, Caller], list[str]]


@dataclass(frozen=True, slots=True)
class UndoneChanges:
    """The changes that were undone, the latest first, and the handles of what stays, because it was changed since."""

    changes: list[Change]
    staying: list[str]


@dataclass(frozen=True, slots=True)
class ChangeService:
    """`wake` is called when there may be something new to embed; `take_back` undoes an event, and returns the handles
    of what stays, because it has been changed since."""

    database: Database
    wake: Callable[[], None]
    take_back: TakeBack

    def select(self, filter: ChangeFilter, limit: int, caller: Caller) -> ChangeLog:
        """Return the changes of memories, facts, turns and long-term memories, in one project or in all."""
        lookup = projects.among(filter.project, caller)
        with self.database.read() as tx:
            where = lookup(tx)
            changes = tx.log.select(replace(filter, project=where.only), limit)
            return ChangeLog(_with_fields(tx, changes), where.note, tuple(tx.skipped))

    def find(self, ids: Sequence[ChangeId]) -> list[Change]:
        """Return these changes, the latest first.

        Raises:
            NotFound: one is not there, or no more.
        """
        with self.database.read() as tx:
            return _latest_first(_get(tx, id) for id in dict.fromkeys(ids))

    def newest(self, filter: ChangeFilter, caller: Caller) -> Change | None:
        """Return the newest change that somebody made and that was not undone, whether it can be or not."""
        changes = self.select(replace(filter, undone=False, standing=True), 1, caller).changes
        return changes[0] if changes else None

    def undo(self, ids: Sequence[ChangeId], caller: Caller, overwrite: bool = False) -> UndoneChanges:
        """Undo changes, all or none.

        A memory, a long-term memory or a fact becomes what it was before; a draft that was merged becomes a memory of
        its own; what was deleted comes back; an edge that was made is taken out, one that was ended holds again; a rule
        is switched and confirmed as it was. `overwrite`: the ids are all changes since a moment, so a fact that was
        stored again after one of these deletions becomes what it was before that.

        Raises:
            NotFound: one is not there, or no more.
            Conflict: a thing has been changed again since, or its name or its id is taken, or it is a rule that only a
                person changes.
        """
        with self.database.write() as tx:
            chosen = {id: _get(tx, id) for id in dict.fromkeys(ids)}
            undone: set[ChangeId] = set()
            staying: list[str] = []

            def order(id: ChangeId) -> tuple[bool, str, int]:
                """Sort deletions first: edits and merges of the deleted come back with it. Then the latest change."""
                return id.origin is ChangeOrigin.TRASH, chosen[id].at, id.row

            for id in sorted(chosen, key=order, reverse=True):
                if id.origin in EVENTS:
                    staying += self.take_back(tx, _event(tx, id), caller)
                elif id not in undone:  # else with a later one of the same thing
                    undone |= _undo(tx, id, chosen, caller, overwrite)
        self.wake()
        return UndoneChanges(_latest_first(chosen.values()), staying)


NAMES = {"content": "text", "type": "type", "project": "project", "tags": "tags", "importance": "importance"}
"""The fields of a memory that a person edits, and their names for people."""


def _with_fields(tx: Tx, changes: Sequence[Change]) -> list[Change]:
    """Say of each edit of a memory that is there which fields it changed."""
    edited = [
        MemoryId(change.item)
        for change in changes
        if change.action is ChangeAction.EDITED and change.kind is Kind.MEMORY
    ]
    if not edited:
        return list(changes)
    states = {memory.id: kept(memory) for memory in tx.memories.select(edited)}
    fields = dict[int, tuple[str, ...]]()
    for step in tx.changes.of_memories(edited):  # the latest first
        if step.memory_id in states:
            after = states[step.memory_id]
            fields[step.id] = tuple(
                word for name, word in NAMES.items() if step.before.get(name) != after.get(name)
            )
            states[step.memory_id] = step.before
    return [
        replace(change, fields=fields.get(change.id.row, ()))
        if change.id and change.id.origin is ChangeOrigin.CHANGES
        else change
        for change in changes
    ]


EVENTS = {ChangeOrigin.IMPORT: ChangeAction.IMPORTED, ChangeOrigin.FORGETTING: ChangeAction.FORGOT}
"""The origins of what was done to many things at once, each with what that was. They share the numbers of events."""


def _event(tx: Tx, id: ChangeId) -> Event:
    event = tx.events.find(id.row)
    if event is None:
        raise _gone(id)
    return event


def _latest_first(changes: Iterable[Change]) -> list[Change]:
    return sorted(changes, key=lambda change: (change.at, change.id and change.id.row), reverse=True)


def _get(tx: Tx, id: ChangeId) -> Change:
    change = tx.log.find(id)
    if change is None or change.action is ChangeAction.EXPIRED:
        event = tx.events.find(id.row) if id.origin in EVENTS else None
        if event is not None and event.undone_at is not None and EVENTS[id.origin] == event.action:
            raise NotFound(
                f"{id} was undone already, at {event.undone_at[:16].replace('T', ' ')} UTC.",
                Mend.LIST_CHANGES,
            )
        raise _gone(id)
    return change


def _undo(
    tx: WriteTx, id: ChangeId, chosen: Mapping[ChangeId, Change], caller: Caller, overwrite: bool
) -> set[ChangeId]:
    """Undo one change, with all chosen ones of the same thing; return the ids of these."""
    match id.origin:
        case ChangeOrigin.TRASH:
            trashed = tx.trash.find(id.row)
            if trashed is None:
                raise _gone(id)
            deleting.bring_back(tx, trashed)
            return {id}
        case ChangeOrigin.CHANGES:
            return _unchange(tx, id, chosen, caller)
        case ChangeOrigin.EDGE | ChangeOrigin.EDGE_END:
            return _unconnect(tx, id, chosen)
        case _:
            return _unwrite(tx, id, chosen, caller, overwrite)


def _unchange(tx: WriteTx, id: ChangeId, chosen: Mapping[ChangeId, Change], caller: Caller) -> set[ChangeId]:
    rows = [change.row for change in chosen if change.origin is ChangeOrigin.CHANGES]
    changes_by_id = {change.id: change for change in tx.changes.select(rows)}
    if id.row not in changes_by_id:  # it lies in the trash, with what it changed
        deleted = tx.trash.find_last(Trashable(chosen[id].kind.value), chosen[id].item)
        _refuse_later(id, {ChangeId(ChangeOrigin.TRASH, deleted.id)} if deleted else set())
        raise _gone(id)
    target = changes_by_id[id.row]
    first = min(
        (
            change
            for change in changes_by_id.values()
            if (change.memory_id, change.long_term_id) == (target.memory_id, target.long_term_id)
        ),
        key=lambda change: change.id,
    )
    steps = tx.changes.since(first)
    ids = {ChangeId(ChangeOrigin.CHANGES, step.id) for step in steps}
    _refuse_later(id, ids - chosen.keys())
    if first.memory_id is not None:
        now = tx.memories.get(first.memory_id)
        restored = tx.memories.replace(now, replace(now, **_before(tx, first, caller)), "rewritten")
        tx.memories.drop_earlier(restored.id, restored.content)
        for step in steps:
            if step.draft is not None:
                _part(tx, first.memory_id, step, caller)
    elif first.long_term_id is not None:
        _restore_long_term(tx, first.long_term_id, first, caller)
    tx.changes.delete([step.id for step in steps])
    return ids


def _restore_long_term(tx: WriteTx, id: LongTermId, before: Changed, caller: Caller) -> None:
    """Make a long-term memory what it was. Of a rule only a person restores how it was switched and confirmed."""
    deleting.refuse_models(tx, [id], caller)
    rule, state = tx.rules.find(id), before.rule_state
    is_other = rule is not None and state is not None and state != (rule.off, rule.confirmed_at)
    if rule is not None and is_other and not trust.is_person(caller.stamp):
        raise Conflict(f"Only a person switches or confirms the rule `{rule.name}`. Nothing was undone.")
    tx.long_term.replace(id, before.as_change())
    if state is not None:
        tx.rules.restore(id, *state)


def _unconnect(tx: WriteTx, id: ChangeId, chosen: Mapping[ChangeId, Change]) -> set[ChangeId]:
    """Take an edge out, as if it had never held, or let one that has ended hold again."""
    edge, end = tx.edges.find(id.row), ChangeId(ChangeOrigin.EDGE_END, id.row)
    if edge is None:
        raise _gone(id)
    if id.origin is ChangeOrigin.EDGE:
        _refuse_later(id, set() if edge.valid_to is None else {end} - chosen.keys())
        tx.edges.remove(id.row)
        return {id, end}
    again = tx.edges.holding(edge)
    _refuse_later(id, set() if again is None else {ChangeId(ChangeOrigin.EDGE, again)})
    if edge.relation is Relation.SUPERSEDES:
        refuse_circle(tx, edge)
    tx.edges.reopen(id.row)
    return {id}


def _before(tx: WriteTx, changed: Changed, caller: Caller) -> dict[str, Any]:
    """Return the fields of a memory as they were."""
    fields = changed.before
    return fields | {
        "type": MemoryType(fields["type"]),
        "tags": tuple(fields["tags"]),
        "project": _settled(tx, fields["project"], caller),
    }


def _part(tx: WriteTx, twin: MemoryId, merged: Changed, caller: Caller) -> None:
    """Make what was merged a memory of its own, signed as it was."""
    draft = merged.as_draft()
    draft = replace(draft, project=_settled(tx, draft.project, caller))
    tx.memories.insert(draft, Caller(merged.changed_by, merged.session))
    tx.memories.drop_earlier(twin, draft.content)


def _settled(tx: WriteTx, project: str | None, caller: Caller) -> str | None:
    """Return the name that a project has now: it may have another one since."""
    return projects.settle(tx, projects.asked(project, caller)) if project else None


def _unwrite(
    tx: WriteTx, id: ChangeId, chosen: Mapping[ChangeId, Change], caller: Caller, overwrite: bool
) -> set[ChangeId]:
    step = tx.fact_history.find(id.row)
    if step is None:
        raise _gone(id)
    refuse_sharing(tx.person, step.home.scope)
    past = tx.fact_history.select(step.home, step.key, None)
    mine = [version for version in past if ChangeId(ChangeOrigin.FACT_HISTORY, version.number) in chosen]
    first = mine[-1].number
    later = {
        ChangeId(ChangeOrigin.FACT_HISTORY, version.number) for version in past if version.number >= first
    }
    again = {
        ChangeId(ChangeOrigin.FACT_HISTORY, version.number)
        for version, before in pairwise(past)
        if version.action is FactAction.WRITTEN is not before.action
    }
    _refuse_later(id, later - chosen.keys() - again)
    if later & again and not overwrite:
        raise Conflict(
            f"`{step.key}` was written again after {id}. Nothing was undone.",
            Hint(Mend.SHOW_FACT_HISTORY, {"key": step.key}),
        )
    before = next(version for version in past if version.number < first)
    _write_again(tx, step, before, caller)
    return later


def _write_again(tx: WriteTx, step: FactChange, before: FactChange, caller: Caller) -> None:
    """Write the value of an earlier step as the newest version."""
    if before.action is not FactAction.WRITTEN:
        raise Invalid(f"`{step.key}` had no value before. To take its value away, delete it.")
    if before.expires_at is not None and before.expires_at <= tx.now:
        raise NotFound(f"`{step.key}` would have expired at {before.expires_at}. Nothing was undone.")
    draft = FactDraft(step.key, before.value, before.tags, origin=before.origin)
    current = tx.facts.find(step.home, step.key)
    if current is None:
        tx.facts.insert(step.home, draft, before.expires_at, caller)
    else:
        tx.facts.replace(current, draft, before.expires_at, caller)


def _gone(id: ChangeId) -> NotFound:
    return NotFound(f"There is no change {id}, or nothing can undo it any more.", Mend.LIST_CHANGES)


def _refuse_later(id: ChangeId, later: set[ChangeId]) -> None:
    if later:
        names = ", ".join(map(str, sorted(later)))
        raise Conflict(
            f"What {id} changed has been changed again since: {names}. Nothing was undone.",
            Mend.UNDO_TOGETHER,
        )
